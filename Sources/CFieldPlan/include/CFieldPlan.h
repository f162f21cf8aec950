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

// What this thread was found to be, because the question is asked at every fetch and costs more than
// a small one: 0 for unknown, 1 for the main thread, 2 for another.
extern _Thread_local int trellis_thread_role
    __attribute__((tls_model("initial-exec")));

static inline int trellis_thread_role_get(void) {
    return trellis_thread_role;
}

static inline void trellis_thread_role_set(int role) {
    trellis_thread_role = role;
}

// Retains an object unless its last reference is gone already; NULL then. The runtime's own
// function behind `weak`, without the side table that `weak` adds to every object.
extern void *swift_tryRetain(void *object);

static inline void *trellis_try_retain(void *object) {
    return swift_tryRetain(object);
}

#endif
