#include "CTrellis.h"

_Thread_local const uint16_t *trellis_field_plan = NULL;

_Thread_local int trellis_thread_role = 0;
