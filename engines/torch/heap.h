#ifndef TORCH_HEAP_H
#define TORCH_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that PyTorch's CPU allocator holds, as malloc() rounds them, counted from the
 * first call of ft__heap_watch() on: that when libtorch has just been loaded. One
 * libtorch a process, one count. */

/* Begin to count; false: this build of PyTorch allocates in another way. */
bool ft__heap_watch(void);
void ft__heap_get(uint64_t *now, uint64_t *peak, bool reset);

#endif
