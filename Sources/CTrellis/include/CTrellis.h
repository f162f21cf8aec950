// What Swift has no words for, and the one door to the platform: Swift files import this and
// swift-system, never the platform's own module, whose name and constants differ.
#ifndef TRELLIS_H
#define TRELLIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
// For Swift: memory is copied, compared and allocated by the platform's functions.
#include <stdlib.h>
#include <string.h>

// MARK: The object that this thread is building

// Its plan: one slot a field, in declaration order. See Sources/ObjectGraph/Unsafe/FieldPlan.swift.
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

// MARK: Objects and memory

// Retains an object unless its last reference is gone already; NULL then. The runtime's own
// function behind `weak`, without the side table that `weak` adds to every object.
extern void *swift_tryRetain(void *object);

static inline void *trellis_try_retain(void *object) {
    return swift_tryRetain(object);
}

// A hint, of which nothing can be seen but time: the address is not read, and may be any.
static inline void trellis_prefetch(const void *address) {
    __builtin_prefetch(address);
}

// Returns freed memory to the system where the allocator has a call for it.
void trellis_trim_allocator(void);

// MARK: Files: the calls that swift-system does not have
//
// Each returns 0 or the reason, as errno has it.

// Which file a path leads to, asked without the file's times where the system can be asked so: a
// question for the times makes the next write set them, and a commit would wait for the inode.
int trellis_file_identity(const char *path, uint64_t *device, uint64_t *inode);
// Finds the path of the file that a path leads to, without symbolic links; for the caller to free.
int trellis_resolve(const char *path, char **resolved);
// 1 for a symbolic link, whatever it leads to; else 0.
int trellis_is_link(const char *path);
int trellis_link(const char *path, const char *new_path);
int trellis_unlink(const char *path);
// Gives a file the owner, the group and the permissions of another one, durably.
int trellis_take_access(const char *other_path, const char *path);
// Gives an open file an owner, a group and permissions, as far as the system allows: less access
// where the group cannot be had. Its owner can always read and write it.
void trellis_give_access(int file, uint32_t user, uint32_t group, uint32_t permissions);
// Gives a file a name that nothing has, in one step. EEXIST where something has it; ENOTSUP where
// the system, or the file system, cannot do so.
int trellis_rename_exclusively(const char *path, const char *new_path);
// Replaces a file of the new name.
int trellis_rename(const char *path, const char *new_path);
// Makes a file or a folder durable, past the drive's cache.
int trellis_sync(int file);
// Tells the system that a file will be read up to an offset.
void trellis_will_read(int file, uint64_t byte_count);
// The first byte from an offset on that is in no hole of the file; its size where there is none, and
// the offset itself where the system cannot tell. Moves the descriptor's own position.
uint64_t trellis_next_data(int file, uint64_t byte_offset);
// The first byte from an offset on that is in a hole of the file; its size where there is none or
// the system cannot tell. Moves the descriptor's own position.
uint64_t trellis_next_hole(int file, uint64_t byte_offset);

// A flag of `open` with which a write is durable when it returns; 0 where no flag says that.
int trellis_durable_write_flag(void);

// Whether there are locks of bytes that belong to the open file, and not to the process.
int trellis_has_file_locks(void);

enum { TRELLIS_UNLOCK, TRELLIS_LOCK_SHARED, TRELLIS_LOCK_EXCLUSIVE };

// Sets such a lock. EAGAIN or EACCES: another open file is in the way. A count of 0 has no end.
int trellis_lock_bytes(int file, int kind, uint64_t start, uint64_t count);
// Finds bytes of a range that another open file has locked: a count of 0 has no end. `kind` becomes
// TRELLIS_UNLOCK where there are none.
int trellis_find_lock(int file, uint64_t *start, uint64_t *count, int *kind);
// Locks the whole open file or unlocks it, for systems without the locks above.
int trellis_lock_file(int file, int kind);

#ifdef __linux__
// A descriptor that becomes readable when the file at a path changes, its names included. Asks by
// the open file first, because the path may lead to another file by now. -1 where there is none.
int trellis_watch(int file, const char *path);
#endif

// Nanoseconds since 1970.
uint64_t trellis_now(void);
int32_t trellis_process_id(void);
// The bytes that this user may still write to the file system that a path lies on.
int trellis_free_bytes(const char *path, uint64_t *bytes);
// The executable of this process: its path, for the caller to free, its size, and when it was
// written. NULL for the path where the call fails.
int trellis_program(char **path, uint64_t *size, uint64_t *nanoseconds);

// MARK: Output

// Flushes the standard output; false if any of it could not be written, now or before.
bool trellis_output_is_written(void);

#endif
