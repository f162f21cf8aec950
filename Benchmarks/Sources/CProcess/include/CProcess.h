#ifndef CPROCESS_H
#define CPROCESS_H

/// What callgrind is told to look for: counts are set to zero when a workload begins and written
/// down when it ends.
void bench_workload_begins(void);
void bench_workload_ends(void);

/// Runs what is no part of a workload: callgrind does not count it.
void bench_uncounted(void (*body)(void *context), void *context);

/// Gives free memory back to the system.
void bench_trim_memory(void);

/// What the program has allocated and not freed, in bytes.
unsigned long bench_allocated_bytes(void);

#endif
