#include "CProcess.h"
#include <malloc.h>

// The empty statements keep the calls in the program.
void bench_workload_begins(void) { __asm__ volatile(""); }
void bench_workload_ends(void) { __asm__ volatile(""); }

void bench_uncounted(void (*body)(void *context), void *context) {
    body(context);
    __asm__ volatile("");
}

void bench_trim_memory(void) { malloc_trim(0); }

unsigned long bench_allocated_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
