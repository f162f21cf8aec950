// Which file a path leads to, asked without the file's times: Swift's modules of the C libraries
// do not show statx.
#ifndef TRELLIS_FILE_IDENTITY_H
#define TRELLIS_FILE_IDENTITY_H

#include <stdint.h>

// Returns 0, or -1 with the reason in errno.
int trellis_file_identity(const char *path, uint64_t *device, uint64_t *inode);

#endif
