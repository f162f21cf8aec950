// The plan of the object that this thread is building: one slot a field, in declaration order.
// See decisions/ and Sources/ObjectGraph/Model for the Swift side.
#ifndef TRELLIS_FIELD_PLAN_H
#define TRELLIS_FIELD_PLAN_H

#include <stddef.h>
#include <stdint.h>

extern _Thread_local const uint16_t *trellis_field_plan
    __attribute__((tls_model("initial-exec")));

static inline const uint16_t *trellis_field_plan_get(void) {
    return trellis_field_plan;
}

static inline void trellis_field_plan_set(const uint16_t *plan) {
    trellis_field_plan = plan;
}

#endif
