// A library that is loaded before the others (LD_PRELOAD) and stands between a program and the
// system: it writes every call that concerns one folder into a trace, and lets calls fail.
//
//   TRELLIS_DISK_FOLDER  the folder, without symbolic links
//   TRELLIS_DISK_NOTES   a path: each write to it becomes a note in the trace
//   TRELLIS_DISK_TRACE   where the trace goes; several processes may append to one
//   TRELLIS_DISK_FAULT   "KIND CALL EFFECT COUNT": from the CALL-th call of that kind on, COUNT
//                        calls (0: all) have the effect, counted from the note "arm" on. Kinds:
//                        open read write sync truncate name stat lock seek. Effects: the number of
//                        an error; "half" and "one" (a part of the bytes), "zero" (no bytes),
//                        "late" (a failed sync that takes its time), "after" (done, then an error)
//
// Calls are made one after the other, also between processes, so that the trace has one order.
// A call that can change a file and that the trace has no event for is recorded as such: the judge
// fails then. See Tests/DiskProof/DiskTrace.swift, which reads the trace.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum event_kind {
    EVENT_OPEN = 1, EVENT_READ, EVENT_WRITE, EVENT_SYNC, EVENT_TRUNCATE, EVENT_LINK, EVENT_RENAME,
    EVENT_UNLINK, EVENT_SYNC_FOLDER, EVENT_NOTE, EVENT_STAT, EVENT_LOCK, EVENT_SEEK, EVENT_MAP,
    EVENT_UNKNOWN
};

// Beside the kind: the call did not do what it should, or did it and reported a failure.
enum { EVENT_FAULTED = 0x100, EVENT_FAILED_AFTER = 0x200 };

struct event {
    uint32_t kind;
    uint32_t flags;
    // What the call returned, or the reason as a negative number.
    int64_t result;
    uint64_t file;
    uint64_t offset;
    uint32_t process;
    uint32_t call_length, path_length, data_length;
};

enum descriptor_kind { NOT_OURS, A_FILE, THE_FOLDER, THE_NOTES };

struct descriptor {
    enum descriptor_kind kind;
    int flags;
    uint64_t file;
};

enum { DESCRIPTOR_COUNT = 4096 };
static struct descriptor descriptors[DESCRIPTOR_COUNT];

enum { FAULT_KIND_COUNT = 9 };
static const char *const fault_kinds[FAULT_KIND_COUNT] = {
    "open", "read", "write", "sync", "truncate", "name", "stat", "lock", "seek"};
enum { FAULT_OPEN, FAULT_READ, FAULT_WRITE, FAULT_SYNC, FAULT_TRUNCATE, FAULT_NAME, FAULT_STAT,
       FAULT_LOCK, FAULT_SEEK };

static char folder[4096], notes[4096];
static size_t folder_length;
static int trace = -1;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static struct {
    int kind, is_armed;
    long call, count;
    char effect[16];
} fault = {-1, 0, 0, 0, ""};
static long call_counts[FAULT_KIND_COUNT];
// What the next event says of its call's fault; changed by who has the turn.
static uint32_t fault_marks;

#define REAL(name)                                                                    \
    static __typeof__(name) *real;                                                    \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("TRELLIS_DISK_TRACE"), *text = getenv("TRELLIS_DISK_FOLDER");
    if (!path || !text || strlen(text) >= sizeof folder) return;
    strcpy(folder, text);
    folder_length = strlen(folder);
    if ((text = getenv("TRELLIS_DISK_NOTES")) && strlen(text) < sizeof notes) strcpy(notes, text);
    trace = (int)syscall(
        SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    // Far from the numbers that the program gets: it would see them grow otherwise.
    int far = trace < 0 ? -1 : (int)syscall(SYS_fcntl, trace, F_DUPFD_CLOEXEC, 900);
    if (far >= 0) {
        syscall(SYS_close, trace);
        trace = far;
    }
    if ((text = getenv("TRELLIS_DISK_FAULT"))) {
        char kind[16];
        if (sscanf(text, "%15s %ld %15s %ld", kind, &fault.call, fault.effect, &fault.count) == 4) {
            for (int index = 0; index < FAULT_KIND_COUNT; index++) {
                if (strcmp(kind, fault_kinds[index]) == 0) fault.kind = index;
            }
        }
    }
}

// MARK: The order of calls

static void take_turn(void) {
    pthread_mutex_lock(&turn);
    while (trace >= 0 && syscall(SYS_flock, trace, LOCK_EX) != 0 && errno == EINTR) {}
}

static void give_turn(void) {
    int reason = errno;
    if (trace >= 0) syscall(SYS_flock, trace, LOCK_UN);
    pthread_mutex_unlock(&turn);
    errno = reason;
}

// MARK: The trace

// Writes an event; the caller has the turn.
static void record(
    enum event_kind kind, const char *call, uint32_t flags, int64_t result, uint64_t file,
    uint64_t offset, const char *path, const void *data, size_t data_length) {
    if (trace < 0) return;
    int reason = errno;
    struct event event = {
        kind | fault_marks, flags, result < 0 ? -(int64_t)reason : result, file, offset, (uint32_t)getpid(),
        (uint32_t)strlen(call), path ? (uint32_t)strlen(path) : 0, (uint32_t)data_length};
    struct iovec parts[] = {
        {&event, sizeof event}, {(void *)call, event.call_length},
        {(void *)path, event.path_length}, {(void *)data, event.data_length}};
    size_t size = sizeof event + event.call_length + event.path_length + event.data_length;
    // A trace that is not whole proves nothing.
    if (syscall(SYS_writev, trace, parts, 4) != (long)size) abort();
    fault_marks = 0;
    errno = reason;
}

// Which name of the folder a path is; NULL for paths elsewhere.
static const char *own_name(const char *path) {
    if (trace < 0 || !path || strncmp(path, folder, folder_length) != 0) return NULL;
    return path[folder_length] == '/' ? path + folder_length + 1 : NULL;
}

static int is_folder(const char *path) {
    return trace >= 0 && path && strncmp(path, folder, folder_length) == 0
        && (path[folder_length] == 0 || strcmp(path + folder_length, "/") == 0);
}

static struct descriptor *own(int file) {
    if (trace < 0 || file < 0 || file >= DESCRIPTOR_COUNT) return NULL;
    return descriptors[file].kind == NOT_OURS ? NULL : &descriptors[file];
}

static struct descriptor *own_file(int file) {
    struct descriptor *found = own(file);
    return found && found->kind == A_FILE ? found : NULL;
}

static void unknown(const char *call, const char *path) {
    record(EVENT_UNKNOWN, call, 0, 0, 0, 0, path, NULL, 0);
}

// MARK: Faults

// The effect that this call has instead of its own, or NULL; the caller has the turn.
static const char *next_fault(int kind) {
    if (!fault.is_armed) return NULL;
    long call = ++call_counts[kind];
    if (kind != fault.kind || call < fault.call) return NULL;
    if (fault.count != 0 && call >= fault.call + fault.count) return NULL;
    fault_marks = EVENT_FAULTED;
    if (strcmp(fault.effect, "after") == 0) fault_marks |= EVENT_FAILED_AFTER;
    return fault.effect;
}

// The reason with which a call fails that does nothing; 0 for effects that are no failure.
static int failure(const char *effect) {
    if (strcmp(effect, "late") == 0 || strcmp(effect, "after") == 0) return EIO;
    return atoi(effect);
}

// Fails a call that has no bytes: returns whether it is done.
static int fails(const char *effect) {
    if (!effect || strcmp(effect, "after") == 0 || failure(effect) == 0) return 0;
    errno = failure(effect);
    return 1;
}

static int fails_after(const char *effect) {
    if (!effect || strcmp(effect, "after") != 0) return 0;
    errno = EIO;
    return 1;
}

// How many bytes a call takes or gives under an effect that is no failure.
static size_t part(const char *effect, size_t count) {
    if (!effect) return count;
    if (strcmp(effect, "zero") == 0) return 0;
    if (strcmp(effect, "one") == 0) return count < 1 ? count : 1;
    if (strcmp(effect, "half") == 0) return count < 2 ? count : count / 2;
    return count;
}

// MARK: Opening

static int open_recorded(const char *call, const char *path, int flags, mode_t mode) {
    const char *name = own_name(path);
    int is_notes = trace >= 0 && notes[0] && path && strcmp(path, notes) == 0;
    if (!name && !is_notes && !is_folder(path)) {
        return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    }
    take_turn();
    struct stat before;
    int existed = name && syscall(SYS_newfstatat, AT_FDCWD, path, &before, 0) == 0;
    const char *effect = is_notes ? NULL : next_fault(FAULT_OPEN);
    int file = fails(effect) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    int reason = errno;
    struct stat status = {0};
    if (file >= 0 && file < DESCRIPTOR_COUNT) {
        syscall(SYS_newfstatat, file, "", &status, AT_EMPTY_PATH);
        descriptors[file].kind =
            is_notes ? THE_NOTES : S_ISDIR(status.st_mode) ? THE_FOLDER : A_FILE;
        descriptors[file].flags = flags;
        descriptors[file].file = status.st_ino;
    }
    errno = reason;
    // The offset says whether this made the file.
    uint64_t is_new = file >= 0 && name && !existed;
    if (!is_notes) {
        record(EVENT_OPEN, call, (uint32_t)flags, file, status.st_ino, is_new, name, NULL, 0);
        if (file >= 0 && existed && (flags & O_TRUNC)) unknown("O_TRUNC", name);
    }
    give_turn();
    return file;
}

static mode_t mode_of(int flags, va_list list) {
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_recorded("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_recorded("open64", path, flags, mode);
}

int openat(int folder_file, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    if (path[0] == '/') return open_recorded("openat", path, flags, mode);
    if (own(folder_file)) {
        take_turn();
        unknown("openat", path);
        give_turn();
    }
    return (int)syscall(SYS_openat, folder_file, path, flags, mode);
}

int openat64(int folder_file, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return openat(folder_file, path, flags, mode);
}

int creat(const char *path, mode_t mode) {
    return open_recorded("creat", path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int close(int file) {
    if (own(file)) {
        take_turn();
        descriptors[file].kind = NOT_OURS;
        int result = (int)syscall(SYS_close, file);
        give_turn();
        return result;
    }
    return (int)syscall(SYS_close, file);
}

// MARK: Reading

static ssize_t read_recorded(
    const char *call, int file, void *buffer, size_t count, int64_t offset) {
    struct descriptor *found = own_file(file);
    if (!found) {
        return offset < 0 ? syscall(SYS_read, file, buffer, count)
                          : syscall(SYS_pread64, file, buffer, count, offset);
    }
    take_turn();
    const char *effect = next_fault(FAULT_READ);
    ssize_t result = -1;
    if (!fails(effect)) {
        size_t wanted = part(effect, count);
        result = offset < 0 ? syscall(SYS_read, file, buffer, wanted)
                            : syscall(SYS_pread64, file, buffer, wanted, offset);
    }
    record(EVENT_READ, call, (uint32_t)found->flags, result, found->file, (uint64_t)offset, NULL,
           NULL, 0);
    give_turn();
    return result;
}

ssize_t read(int file, void *buffer, size_t count) {
    return read_recorded("read", file, buffer, count, -1);
}
ssize_t pread(int file, void *buffer, size_t count, off_t offset) {
    return read_recorded("pread", file, buffer, count, offset);
}
ssize_t pread64(int file, void *buffer, size_t count, off64_t offset) {
    return read_recorded("pread64", file, buffer, count, offset);
}

// MARK: Writing

// Lets notes arm the fault. The caller has the turn.
static ssize_t take_note(const void *bytes, size_t count) {
    if (count >= 3 && memcmp(bytes, "arm", 3) == 0) fault.is_armed = fault.kind >= 0;
    record(EVENT_NOTE, "note", 0, (int64_t)count, 0, 0, NULL, bytes, count);
    return (ssize_t)count;
}

static ssize_t write_recorded(
    const char *call, int file, const void *bytes, size_t count, int64_t offset) {
    struct descriptor *found = own(file);
    if (!found) {
        return offset < 0 ? syscall(SYS_write, file, bytes, count)
                          : syscall(SYS_pwrite64, file, bytes, count, offset);
    }
    take_turn();
    ssize_t result = -1;
    if (found->kind == THE_NOTES) {
        result = take_note(bytes, count);
    } else if (offset < 0 || (found->flags & O_APPEND)) {
        // Where it writes is not known here.
        unknown(call, NULL);
        result = syscall(SYS_write, file, bytes, count);
    } else {
        const char *effect = next_fault(FAULT_WRITE);
        if (!fails(effect)) {
            size_t taken = part(effect, count);
            result = taken == 0 ? 0 : syscall(SYS_pwrite64, file, bytes, taken, offset);
        }
        record(EVENT_WRITE, call, (uint32_t)found->flags, result, found->file, (uint64_t)offset,
               NULL, bytes, result > 0 ? (size_t)result : 0);
        if (fails_after(effect)) result = -1;
    }
    give_turn();
    return result;
}

ssize_t write(int file, const void *bytes, size_t count) {
    return write_recorded("write", file, bytes, count, -1);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return write_recorded("pwrite", file, bytes, count, offset);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    return write_recorded("pwrite64", file, bytes, count, offset);
}

// MARK: Durability and size

static int sync_recorded(const char *call, long number, int file) {
    struct descriptor *found = own(file);
    if (!found || found->kind == THE_NOTES) return (int)syscall(number, file);
    take_turn();
    const char *effect = next_fault(FAULT_SYNC);
    int is_late = effect && strcmp(effect, "late") == 0;
    int result = fails(effect) ? -1 : (int)syscall(number, file);
    record(found->kind == THE_FOLDER ? EVENT_SYNC_FOLDER : EVENT_SYNC, call,
           (uint32_t)found->flags, result, found->file, 0, NULL, NULL, 0);
    if (fails_after(effect)) result = -1;
    give_turn();
    // The thread that asked hears of the failure later than others can go on.
    if (is_late) {
        usleep(20000);
        errno = EIO;
    }
    return result;
}

int fsync(int file) { return sync_recorded("fsync", SYS_fsync, file); }
int fdatasync(int file) { return sync_recorded("fdatasync", SYS_fdatasync, file); }

static int truncate_recorded(const char *call, int file, int64_t size) {
    struct descriptor *found = own_file(file);
    if (!found) return (int)syscall(SYS_ftruncate, file, size);
    take_turn();
    const char *effect = next_fault(FAULT_TRUNCATE);
    int result = fails(effect) ? -1 : (int)syscall(SYS_ftruncate, file, size);
    record(EVENT_TRUNCATE, call, (uint32_t)found->flags, result, found->file, (uint64_t)size, NULL,
           NULL, 0);
    if (fails_after(effect)) result = -1;
    give_turn();
    return result;
}

int ftruncate(int file, off_t size) { return truncate_recorded("ftruncate", file, size); }
int ftruncate64(int file, off64_t size) { return truncate_recorded("ftruncate64", file, size); }

// MARK: Names

// Both names of a call are data: the new one follows the old one's zero.
static void record_names(
    enum event_kind kind, const char *call, int result, const char *path, const char *new_path) {
    const char *name = own_name(path), *new_name = own_name(new_path);
    record(kind, call, 0, result, 0, 0, name ? name : "", new_name ? new_name : "",
           new_name ? strlen(new_name) : 0);
}

int link(const char *path, const char *new_path) {
    REAL(link);
    if (!own_name(path) && !own_name(new_path)) return real(path, new_path);
    take_turn();
    const char *effect = next_fault(FAULT_NAME);
    int result = fails(effect) ? -1 : real(path, new_path);
    record_names(EVENT_LINK, "link", result, path, new_path);
    if (fails_after(effect)) result = -1;
    give_turn();
    return result;
}

int rename(const char *path, const char *new_path) {
    REAL(rename);
    if (!own_name(path) && !own_name(new_path)) return real(path, new_path);
    take_turn();
    const char *effect = next_fault(FAULT_NAME);
    int result = fails(effect) ? -1 : real(path, new_path);
    record_names(EVENT_RENAME, "rename", result, path, new_path);
    if (fails_after(effect)) result = -1;
    give_turn();
    return result;
}

int renameat2(int from, const char *path, int to, const char *new_path, unsigned int flags) {
    REAL(renameat2);
    if (!own_name(path) && !own_name(new_path)) return real(from, path, to, new_path, flags);
    take_turn();
    // Two files that change their names.
    if (flags & ~(unsigned int)RENAME_NOREPLACE) unknown("renameat2", new_path);
    const char *effect = next_fault(FAULT_NAME);
    int result = fails(effect) ? -1 : real(from, path, to, new_path, flags);
    record_names(EVENT_RENAME, "renameat2", result, path, new_path);
    if (fails_after(effect)) result = -1;
    give_turn();
    return result;
}

int unlink(const char *path) {
    REAL(unlink);
    if (!own_name(path)) return real(path);
    take_turn();
    const char *effect = next_fault(FAULT_NAME);
    int result = fails(effect) ? -1 : real(path);
    record_names(EVENT_UNLINK, "unlink", result, path, NULL);
    if (fails_after(effect)) result = -1;
    give_turn();
    return result;
}

// MARK: Questions

#define QUESTION(kind, event, call, found, body)                                        \
    take_turn();                                                                        \
    const char *effect = next_fault(kind);                                              \
    int result = fails(effect) ? -1 : (body);                                           \
    record(event, call, 0, result, found, 0, NULL, NULL, 0);                            \
    give_turn();                                                                        \
    return result

int fstat(int file, struct stat *status) {
    REAL(fstat);
    struct descriptor *found = own_file(file);
    if (!found) return real(file, status);
    QUESTION(FAULT_STAT, EVENT_STAT, "fstat", found->file, real(file, status));
}

int stat(const char *restrict path, struct stat *restrict status) {
    REAL(stat);
    if (!own_name(path)) return real(path, status);
    QUESTION(FAULT_STAT, EVENT_STAT, "stat", 0, real(path, status));
}

int statx(
    int folder_file, const char *restrict path, int flags, unsigned int mask,
    struct statx *restrict status) {
    REAL(statx);
    if (!own_name(path)) return real(folder_file, path, flags, mask, status);
    QUESTION(FAULT_STAT, EVENT_STAT, "statx", 0, real(folder_file, path, flags, mask, status));
}

off_t lseek(int file, off_t offset, int whence) {
    struct descriptor *found = own_file(file);
    if (!found) return syscall(SYS_lseek, file, offset, whence);
    take_turn();
    const char *effect = next_fault(FAULT_SEEK);
    off_t result = fails(effect) ? -1 : syscall(SYS_lseek, file, offset, whence);
    record(EVENT_SEEK, "lseek", (uint32_t)whence, result, found->file, (uint64_t)offset, NULL, NULL,
           0);
    give_turn();
    return result;
}

static int fcntl_recorded(int file, int command, void *argument) {
    struct descriptor *found = own(file);
    if (!found) return (int)syscall(SYS_fcntl, file, command, argument);
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
        take_turn();
        unknown("F_DUPFD", NULL);
        give_turn();
    }
    if (command != F_OFD_SETLK && command != F_OFD_GETLK) {
        return (int)syscall(SYS_fcntl, file, command, argument);
    }
    QUESTION(FAULT_LOCK, EVENT_LOCK, "fcntl", found->file,
             (int)syscall(SYS_fcntl, file, command, argument));
}

int fcntl(int file, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return fcntl_recorded(file, command, argument);
}

int fcntl64(int file, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return fcntl_recorded(file, command, argument);
}

// MARK: Calls that the judge does not know
//
// They are made, and the judge, who learns of them, fails.

#define UNKNOWN_FILE_CALL(type, name, parameters, arguments, file)                      \
    type name parameters {                                                              \
        REAL(name);                                                                     \
        if (own_file(file)) {                                                           \
            take_turn();                                                                \
            unknown(#name, NULL);                                                       \
            give_turn();                                                                \
        }                                                                               \
        return real arguments;                                                          \
    }

UNKNOWN_FILE_CALL(int, dup, (int file), (file), file)
UNKNOWN_FILE_CALL(int, dup2, (int file, int other), (file, other), file)
UNKNOWN_FILE_CALL(int, dup3, (int file, int other, int flags), (file, other, flags), file)
UNKNOWN_FILE_CALL(
    ssize_t, writev, (int file, const struct iovec *parts, int count), (file, parts, count), file)
UNKNOWN_FILE_CALL(
    ssize_t, pwritev, (int file, const struct iovec *parts, int count, off_t offset),
    (file, parts, count, offset), file)
UNKNOWN_FILE_CALL(
    ssize_t, pwritev2,
    (int file, const struct iovec *parts, int count, off_t offset, int flags),
    (file, parts, count, offset, flags), file)
UNKNOWN_FILE_CALL(
    ssize_t, preadv, (int file, const struct iovec *parts, int count, off_t offset),
    (file, parts, count, offset), file)
UNKNOWN_FILE_CALL(
    int, sync_file_range, (int file, off_t offset, off_t count, unsigned int flags),
    (file, offset, count, flags), file)
UNKNOWN_FILE_CALL(
    int, fallocate, (int file, int mode, off_t offset, off_t count), (file, mode, offset, count),
    file)
UNKNOWN_FILE_CALL(
    int, posix_fallocate, (int file, off_t offset, off_t count), (file, offset, count), file)
UNKNOWN_FILE_CALL(
    ssize_t, copy_file_range,
    (int from, off_t *from_offset, int file, off_t *offset, size_t count, unsigned int flags),
    (from, from_offset, file, offset, count, flags), file)
UNKNOWN_FILE_CALL(
    ssize_t, sendfile, (int file, int from, off_t *offset, size_t count),
    (file, from, offset, count), file)

#define UNKNOWN_PATH_CALL(type, name, parameters, arguments, path)                      \
    type name parameters {                                                              \
        REAL(name);                                                                     \
        if (own_name(path)) {                                                           \
            take_turn();                                                                \
            unknown(#name, own_name(path));                                             \
            give_turn();                                                                \
        }                                                                               \
        return real arguments;                                                          \
    }

UNKNOWN_PATH_CALL(int, truncate, (const char *path, off_t size), (path, size), path)
UNKNOWN_PATH_CALL(int, symlink, (const char *target, const char *path), (target, path), path)
UNKNOWN_PATH_CALL(
    int, renameat, (int from, const char *path, int to, const char *new_path),
    (from, path, to, new_path), new_path)
UNKNOWN_PATH_CALL(
    int, linkat, (int from, const char *path, int to, const char *new_path, int flags),
    (from, path, to, new_path, flags), new_path)
UNKNOWN_PATH_CALL(
    int, unlinkat, (int from, const char *path, int flags), (from, path, flags), path)
UNKNOWN_PATH_CALL(int, remove, (const char *path), (path), path)

static void *map_recorded(
    const char *call, void *address, size_t count, int protection, int flags, int file,
    off_t offset) {
    struct descriptor *found = (flags & MAP_ANONYMOUS) ? NULL : own_file(file);
    if (found) {
        take_turn();
        record(EVENT_MAP, call, (uint32_t)protection, 0, found->file, (uint64_t)offset, NULL, NULL,
               0);
        if ((flags & MAP_SHARED) && (protection & PROT_WRITE)) unknown(call, NULL);
        give_turn();
    }
    return (void *)syscall(SYS_mmap, address, count, protection, flags, file, offset);
}

void *mmap(void *address, size_t count, int protection, int flags, int file, off_t offset) {
    return map_recorded("mmap", address, count, protection, flags, file, offset);
}
void *mmap64(void *address, size_t count, int protection, int flags, int file, off_t offset) {
    return map_recorded("mmap64", address, count, protection, flags, file, offset);
}
