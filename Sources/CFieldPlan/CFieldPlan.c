#include "CFieldPlan.h"

_Thread_local const uint16_t *trellis_field_plan = NULL;
