#define _GNU_SOURCE
#include "CTrellis.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __APPLE__
#include <limits.h>
#include <mach-o/dyld.h>
#endif

int trellis_file_identity(const char *path, uint64_t *device, uint64_t *inode) {
#ifdef STATX_INO
    struct statx found;
    if (statx(AT_FDCWD, path, 0, STATX_INO, &found) == 0) {
        *device = makedev(found.stx_dev_major, found.stx_dev_minor);
        *inode = found.stx_ino;
        return 0;
    }
    // An older system, or one that forbids the call: it may still answer the old question.
#endif
    struct stat status;
    if (stat(path, &status) != 0) return errno;
    *device = status.st_dev;
    *inode = status.st_ino;
    return 0;
}

int trellis_resolve(const char *path, char **resolved) {
    *resolved = realpath(path, NULL);
    return *resolved ? 0 : errno;
}

int trellis_is_link(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

int trellis_link(const char *path, const char *new_path) {
    return link(path, new_path) == 0 ? 0 : errno;
}

int trellis_unlink(const char *path) {
    return unlink(path) == 0 ? 0 : errno;
}

int trellis_take_access(const char *other_path, const char *path) {
    struct stat other, own;
    if (stat(other_path, &other) != 0) return errno;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    int reason = 0;
    if (fstat(file, &own) != 0) {
        reason = errno;
    } else if ((own.st_uid != other.st_uid || own.st_gid != other.st_gid)
               && fchown(file, other.st_uid, other.st_gid) != 0) {
        reason = errno;
    } else if (fchmod(file, other.st_mode & 07777) != 0) {
        reason = errno;
    } else {
        reason = trellis_sync(file);
    }
    close(file);
    return reason;
}

void trellis_give_access(int file, uint32_t user, uint32_t group, uint32_t permissions) {
    uint32_t mode = permissions & 0777;
    if (fchown(file, user, group) != 0 && fchown(file, (uid_t)-1, group) != 0) {
        // Members of the other group may be strangers to this file's, and the reverse.
        uint32_t shared = mode >> 3 & mode & 07;
        mode = (mode & 0700) | shared << 3 | shared;
    }
    // Where it fails the file has the permissions that it was made with.
    (void)fchmod(file, mode | 0600);
}

int trellis_rename_exclusively(const char *path, const char *new_path) {
#if defined(__APPLE__)
    int result = renamex_np(path, new_path, RENAME_EXCL);
#elif defined(__GLIBC__)
    int result = renameat2(AT_FDCWD, path, AT_FDCWD, new_path, RENAME_NOREPLACE);
#elif defined(__linux__)
    unsigned int replaces_nothing = 1;
    int result = (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, new_path, replaces_nothing);
#else
    (void)path, (void)new_path;
    int result = -1;
    errno = ENOTSUP;
#endif
    if (result == 0) return 0;
    // An older system, or a file system that knows no such flag.
    int is_unknown = errno == ENOSYS || errno == EINVAL || errno == EOPNOTSUPP;
    return is_unknown ? ENOTSUP : errno;
}

int trellis_rename(const char *path, const char *new_path) {
    return rename(path, new_path) == 0 ? 0 : errno;
}

int trellis_sync(int file) {
#ifdef F_FULLFSYNC
    // There `fsync` ends at the drive's cache. Some file systems have no more than that.
    if (fcntl(file, F_FULLFSYNC) == 0) return 0;
    if (errno != ENOTSUP && errno != EINVAL) return errno;
#endif
    while (fsync(file) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

uint64_t trellis_next_data(int file, uint64_t byte_offset) {
#ifdef SEEK_DATA
    if (byte_offset > INT64_MAX) return byte_offset;
    off_t found = lseek(file, (off_t)byte_offset, SEEK_DATA);
    if (found >= 0) return (uint64_t)found;
    struct stat status;
    if (errno == ENXIO && fstat(file, &status) == 0 && status.st_size > 0
        && (uint64_t)status.st_size > byte_offset) {
        return (uint64_t)status.st_size;
    }
#endif
    return byte_offset;
}

uint64_t trellis_next_hole(int file, uint64_t byte_offset) {
#ifdef SEEK_HOLE
    if (byte_offset <= INT64_MAX) {
        off_t found = lseek(file, (off_t)byte_offset, SEEK_HOLE);
        if (found >= 0) return (uint64_t)found;
    }
#endif
    struct stat status;
    if (fstat(file, &status) == 0 && status.st_size > 0
        && (uint64_t)status.st_size > byte_offset) {
        return (uint64_t)status.st_size;
    }
    return byte_offset;
}

void trellis_will_read(int file, uint64_t byte_count) {
    // Hints: where they fail, each read waits for itself.
#if defined(POSIX_FADV_WILLNEED)
    off_t count = byte_count > INT64_MAX ? INT64_MAX : (off_t)byte_count;
    (void)posix_fadvise(file, 0, count, POSIX_FADV_WILLNEED);
#elif defined(F_RDADVISE)
    struct radvisory advice = {0, byte_count > INT32_MAX ? INT32_MAX : (int)byte_count};
    (void)fcntl(file, F_RDADVISE, &advice);
#else
    (void)file;
    (void)byte_count;
#endif
}

int trellis_durable_write_flag(void) {
#ifdef __linux__
    return O_DSYNC;
#else
    // Elsewhere the flag may end at the drive's cache, as `fsync` does.
    return 0;
#endif
}

#ifdef F_OFD_SETLK

int trellis_has_file_locks(void) {
    return 1;
}

static struct flock request(int kind, uint64_t start, uint64_t count) {
    struct flock request = {0};
    request.l_type = kind == TRELLIS_UNLOCK          ? F_UNLCK
                     : kind == TRELLIS_LOCK_SHARED ? F_RDLCK
                                                   : F_WRLCK;
    request.l_whence = SEEK_SET;
    request.l_start = (off_t)start;
    request.l_len = (off_t)count;
    return request;
}

int trellis_lock_bytes(int file, int kind, uint64_t start, uint64_t count) {
    struct flock asked = request(kind, start, count);
    return fcntl(file, F_OFD_SETLK, &asked) == 0 ? 0 : errno;
}

int trellis_find_lock(int file, uint64_t *start, uint64_t *count, int *kind) {
    // The question who is in the way of a lock takes none.
    struct flock asked = request(TRELLIS_LOCK_EXCLUSIVE, *start, *count);
    if (fcntl(file, F_OFD_GETLK, &asked) != 0) return errno;
    *kind = asked.l_type == F_UNLCK   ? TRELLIS_UNLOCK
            : asked.l_type == F_RDLCK ? TRELLIS_LOCK_SHARED
                                      : TRELLIS_LOCK_EXCLUSIVE;
    *start = asked.l_start > 0 ? (uint64_t)asked.l_start : 0;
    *count = asked.l_len > 0 ? (uint64_t)asked.l_len : 0;
    return 0;
}

#else

int trellis_has_file_locks(void) {
    return 0;
}

int trellis_lock_bytes(int file, int kind, uint64_t start, uint64_t count) {
    (void)file, (void)kind, (void)start, (void)count;
    return ENOTSUP;
}

int trellis_find_lock(int file, uint64_t *start, uint64_t *count, int *kind) {
    (void)file, (void)start, (void)count, (void)kind;
    return ENOTSUP;
}

#endif

int trellis_lock_file(int file, int kind) {
    int operation = kind == TRELLIS_UNLOCK        ? LOCK_UN
                    : kind == TRELLIS_LOCK_SHARED ? LOCK_SH
                                                  : LOCK_EX;
    return flock(file, operation | LOCK_NB) == 0 ? 0 : errno;
}

#ifdef __linux__
int trellis_watch(int file, const char *path) {
    int notices = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (notices < 0) return -1;
    uint32_t mask = IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF;
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    if (inotify_add_watch(notices, name, mask) >= 0
        || inotify_add_watch(notices, path, mask) >= 0) {
        return notices;
    }
    close(notices);
    return -1;
}
#endif

void trellis_trim_allocator(void) {
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

uint64_t trellis_now(void) {
    struct timespec time;
    if (clock_gettime(CLOCK_REALTIME, &time) != 0) return 0;
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int trellis_free_bytes(const char *path, uint64_t *bytes) {
    struct statvfs system;
    if (statvfs(path, &system) != 0) return errno;
    *bytes = (uint64_t)system.f_bavail * (uint64_t)system.f_frsize;
    return 0;
}

int trellis_program(char **path, uint64_t *size, uint64_t *nanoseconds) {
#ifdef __APPLE__
    char buffer[PATH_MAX];
    uint32_t capacity = sizeof buffer;
    if (_NSGetExecutablePath(buffer, &capacity) != 0) return ENAMETOOLONG;
    *path = realpath(buffer, NULL);
#else
    *path = realpath("/proc/self/exe", NULL);
#endif
    if (!*path) return errno;
    struct stat status;
    if (stat(*path, &status) != 0) {
        int reason = errno;
        free(*path);
        *path = NULL;
        return reason;
    }
    *size = (uint64_t)status.st_size;
#ifdef __APPLE__
    struct timespec time = status.st_mtimespec;
#else
    struct timespec time = status.st_mtim;
#endif
    *nanoseconds = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    return 0;
}

int32_t trellis_process_id(void) {
    return getpid();
}
