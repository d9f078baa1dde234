/* PyTorch tells no one how much its CPU allocator holds. But libc10.so calls
 * posix_memalign() and free() through a table of its own, where the dynamic linker
 * wrote their addresses: writing those of two functions that count does no harm to
 * anybody else in the process. */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include "heap.h"

#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The functions that count are called by libc10, with no context of ours. */
static struct {
    atomic_llong now, peak;
    bool watched;
} heap;

static int counted_memalign(void **out, size_t alignment, size_t bytes)
{
    int bad = posix_memalign(out, alignment, bytes);
    long long now, peak;

    if (bad)
        return bad;
    now = (long long)malloc_usable_size(*out);
    now += atomic_fetch_add(&heap.now, now);
    peak = atomic_load(&heap.peak);
    while (now > peak && !atomic_compare_exchange_weak(&heap.peak, &peak, now))
        ;
    return 0;
}

static void counted_free(void *p)
{
    atomic_fetch_sub(&heap.now, (long long)malloc_usable_size(p));
    free(p);
}

typedef struct table {
    uintptr_t base;
    const ElfW(Rela) * slot;
    size_t n;
    const ElfW(Sym) * symbol;
    const char *names;
} table;

/* Some loaders leave addresses in the dynamic section relative. */
static uintptr_t address(const table *t, uintptr_t p)
{
    return p < t->base ? p + t->base : p;
}

static void read_dynamic(table *t, const ElfW(Dyn) * d)
{
    for (; d->d_tag != DT_NULL; d++) {
        uintptr_t p = d->d_un.d_ptr;

        switch (d->d_tag) {
        case DT_JMPREL: t->slot = (const ElfW(Rela) *)address(t, p); break;
        case DT_PLTRELSZ: t->n = d->d_un.d_val / sizeof(*t->slot); break;
        case DT_SYMTAB: t->symbol = (const ElfW(Sym) *)address(t, p); break;
        case DT_STRTAB: t->names = (const char *)address(t, p); break;
        default: break;
        }
    }
}

static int find_libc10(struct dl_phdr_info *info, size_t size, void *out)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    table *t = out;

    (void)size;
    if (strcmp(slash ? slash + 1 : info->dlpi_name, "libc10.so") != 0)
        return 0;
    t->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_dynamic(t, (const ElfW(Dyn) *)(t->base + info->dlpi_phdr[i].p_vaddr));
    return t->slot && t->symbol && t->names;
}

static void **slot_of(const table *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++) {
        size_t s = sizeof(void *) == 8 ? (size_t)((uint64_t)t->slot[i].r_info >> 32)
                                       : (size_t)(t->slot[i].r_info >> 8);

        if (strcmp(t->names + t->symbol[s].st_name, name) == 0)
            return (void **)(t->base + t->slot[i].r_offset);
    }
    return NULL;
}

/* The table may be read-only by now; it stays writable, as in libraries that are
 * bound lazily. */
static bool can_write(void **slot)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = (uintptr_t)slot / page * page;

    return mprotect((void *)at, page, PROT_READ | PROT_WRITE) == 0;
}

bool ft__heap_watch(void)
{
    int (*counts)(void **, size_t, size_t) = counted_memalign;
    void (*gives_back)(void *) = counted_free;
    void **take, **give;
    table t = {0};

    if (heap.watched)
        return true;
    if (!dl_iterate_phdr(find_libc10, &t))
        return false;
    take = slot_of(&t, "posix_memalign");
    give = slot_of(&t, "free");
    if (!take || !give || !can_write(take) || !can_write(give))
        return false;
    memcpy(take, &counts, sizeof(counts));
    memcpy(give, &gives_back, sizeof(gives_back));
    heap.watched = true;
    return true;
}

/* A little of what is released was there before. */
static uint64_t at_least_0(long long n)
{
    return n > 0 ? (uint64_t)n : 0;
}

void ft__heap_get(uint64_t *now, uint64_t *peak, bool reset)
{
    long long held = atomic_load(&heap.now);

    *now = at_least_0(held);
    *peak = at_least_0(atomic_load(&heap.peak));
    if (reset)
        atomic_store(&heap.peak, held);
}
