#include "CTrellis.h"

#include <stdio.h>

bool trellis_output_is_written(void) {
    return fflush(stdout) == 0 && ferror(stdout) == 0;
}
