#define _GNU_SOURCE
#include "CFileIdentity.h"

#include <fcntl.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/sysmacros.h>
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
    if (stat(path, &status) != 0) return -1;
    *device = status.st_dev;
    *inode = status.st_ino;
    return 0;
}
