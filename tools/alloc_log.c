/* Records what a process allocates: preloaded by tools/torch-memory.
 *
 *   cc -shared -fPIC -O2 -o alloc_log.so alloc_log.c -ldl
 *
 * While recording is on, every allocation and release of the classes below is
 * one entry of a log that the process itself reads through the functions at the
 * end (from Python: ctypes). Blocks are followed from the start of the process,
 * so that a release of an older block is seen as well. glibc only. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
void __libc_free(void *p);

/* Who asked: libc10 (tensors), libtorch_cpu (kernels, with oneDNN and MKL inside
 * it), anybody else. */
enum { TENSOR, KERNEL, OTHER, CLASSES };
/* Blocks of others that are smaller are not followed. */
enum { SMALL = 16384 };
enum { MAX_RANGES = 64, TABLE_BITS = 22, MAX_ENTRIES = 1 << 24 };

struct range {
    uintptr_t begin, end;
    int class;
};

struct block {
    uintptr_t p; /* 0: free, 1: was used */
    uint64_t bytes_class;
};

struct entry {
    uint64_t p;
    int64_t bytes; /* below 0: released */
    uint32_t class;
    uint32_t mark;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range ranges[MAX_RANGES];
static int n_ranges;
static struct block *table;
static struct entry *entries;
static uint64_t n_entries;
static uint32_t mark;
static int recording;
static __thread int inside;

static int find_range(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + h->p_vaddr;

        if (h->p_type != PT_LOAD || !(h->p_flags & PF_X) || n_ranges == MAX_RANGES)
            continue;
        if (strstr(info->dlpi_name, "libc10.so"))
            ranges[n_ranges++] = (struct range){begin, begin + h->p_memsz, TENSOR};
        else if (strstr(info->dlpi_name, "libtorch_cpu.so"))
            ranges[n_ranges++] = (struct range){begin, begin + h->p_memsz, KERNEL};
    }
    return 0;
}

static int class_of(const void *caller)
{
    for (int i = 0; i < n_ranges; i++)
        if ((uintptr_t)caller >= ranges[i].begin && (uintptr_t)caller < ranges[i].end)
            return ranges[i].class;
    return OTHER;
}

static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static uint32_t slot(uintptr_t p)
{
    return (uint32_t)((p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TABLE_BITS));
}

static void log_entry(uintptr_t p, int64_t bytes, int class)
{
    if (recording && n_entries < MAX_ENTRIES)
        entries[n_entries++] = (struct entry){p, bytes, (uint32_t) class, mark};
}

static void add(void *p, size_t bytes, const void *caller)
{
    uint32_t mask = (1u << TABLE_BITS) - 1, i, class;

    if (!p || inside)
        return;
    class = (uint32_t)class_of(caller);
    if (class == OTHER && bytes < SMALL)
        return;
    inside = 1;
    pthread_mutex_lock(&lock);
    if (!table)
        table = map(sizeof(*table) << TABLE_BITS);
    if (!entries)
        entries = map(sizeof(*entries) * MAX_ENTRIES);
    for (i = slot((uintptr_t)p); table && table[i].p > 1; i = (i + 1) & mask)
        ;
    if (table)
        table[i] = (struct block){(uintptr_t)p, (uint64_t)bytes * CLASSES + class};
    log_entry((uintptr_t)p, (int64_t)bytes, (int)class);
    pthread_mutex_unlock(&lock);
    inside = 0;
}

static void drop(void *p)
{
    uint32_t mask = (1u << TABLE_BITS) - 1;

    if (!p || inside || !table)
        return;
    pthread_mutex_lock(&lock);
    for (uint32_t i = slot((uintptr_t)p); table[i].p; i = (i + 1) & mask)
        if (table[i].p == (uintptr_t)p) {
            log_entry((uintptr_t)p, -(int64_t)(table[i].bytes_class / CLASSES),
                      (int)(table[i].bytes_class % CLASSES));
            table[i].p = 1;
            break;
        }
    pthread_mutex_unlock(&lock);
}

void *malloc(size_t n)
{
    void *p = __libc_malloc(n);

    add(p, n, __builtin_return_address(0));
    return p;
}

void *calloc(size_t n, size_t size)
{
    void *p = __libc_calloc(n, size);

    add(p, n * size, __builtin_return_address(0));
    return p;
}

void *realloc(void *old, size_t n)
{
    void *p;

    drop(old);
    p = __libc_realloc(old, n);
    add(p, n, __builtin_return_address(0));
    return p;
}

void *memalign(size_t align, size_t n)
{
    void *p = __libc_memalign(align, n);

    add(p, n, __builtin_return_address(0));
    return p;
}

void *aligned_alloc(size_t align, size_t n)
{
    void *p = __libc_memalign(align, n);

    add(p, n, __builtin_return_address(0));
    return p;
}

int posix_memalign(void **out, size_t align, size_t n)
{
    *out = __libc_memalign(align, n);
    add(*out, n, __builtin_return_address(0));
    return *out ? 0 : ENOMEM;
}

void free(void *p)
{
    drop(p);
    __libc_free(p);
}

/* Libraries were loaded: know their callers from here on. */
void alloc_log_scan(void)
{
    n_ranges = 0;
    dl_iterate_phdr(find_range, NULL);
}

/* All blocks alive become the first entries; then everything is recorded. */
void alloc_log_start(void)
{
    pthread_mutex_lock(&lock);
    n_entries = 0;
    mark = 0;
    recording = 1;
    for (uint32_t i = 0; table && i < 1u << TABLE_BITS; i++)
        if (table[i].p > 1)
            log_entry(table[i].p, (int64_t)(table[i].bytes_class / CLASSES),
                      (int)(table[i].bytes_class % CLASSES));
    pthread_mutex_unlock(&lock);
}

uint64_t alloc_log_stop(void)
{
    recording = 0;
    return n_entries;
}

/* Entries from here on carry this number. */
void alloc_log_mark(uint32_t to)
{
    mark = to;
}

/* Entries so far. */
uint64_t alloc_log_now(void)
{
    return n_entries;
}

const struct entry *alloc_log_entries(void)
{
    return entries;
}
