// Swift has no way of its own to ask memory for what will be read soon.
#ifndef TRELLIS_PREFETCH_H
#define TRELLIS_PREFETCH_H

// A hint, of which nothing can be seen but time: the address is not read, and may be any.
static inline void trellis_prefetch(const void *address) {
    __builtin_prefetch(address);
}

#endif
