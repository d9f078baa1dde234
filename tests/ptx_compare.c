#include "ptx_compare.h"

#include <stdio.h>
#include <string.h>

typedef struct field {
    const char *name;
    size_t at, n;
} field;

#define FIELD(f)                                                                       \
    {                                                                                  \
#f, offsetof(ft_ptx_counts, f),                                                \
            sizeof(((ft_ptx_counts *)NULL)->f) / sizeof(ft_ptx_tally)                  \
    }

static const field fields[] = {
    FIELD(warp),       FIELD(thread),       FIELD(on),        FIELD(bytes),
    FIELD(access),     FIELD(requests),     FIELD(sectors),   FIELD(shared),
    FIELD(wavefronts), FIELD(branches),     FIELD(divergent), FIELD(barriers),
    FIELD(flops),      FIELD(tensor_flops),
};

enum { FIELDS = sizeof fields / sizeof *fields };

static const ft_ptx_tally *tallies(const ft_ptx_counts *c, const field *f)
{
    return (const ft_ptx_tally *)(const void *)((const char *)c + f->at);
}

static int agrees(const ft_ptx_tally *counted, uint64_t ran)
{
    return counted->low <= ran && ran <= counted->high &&
           counted->low <= counted->value && counted->value <= counted->high;
}

static void say(char *what, size_t size, const char *name, size_t k,
                const ft_ptx_tally *t, uint64_t ran)
{
    snprintf(what, size, "%s[%zu] is %llu (%llu .. %llu), ran %llu", name, k,
             (unsigned long long)t->value, (unsigned long long)t->low,
             (unsigned long long)t->high, (unsigned long long)ran);
}

/* Generic accesses whose space was not seen stand for any that may be generic: then
 * only the sums can be told, and what hangs on the space cannot. */
static int is_seen(const ft_ptx_counts *c)
{
    return c->bytes[FT_PTX_GENERIC][0].high == 0 &&
           c->bytes[FT_PTX_GENERIC][1].high == 0;
}

static int hangs_on_space(const field *f)
{
    return strcmp(f->name, "bytes") == 0 || strcmp(f->name, "access") == 0 ||
           strcmp(f->name, "requests") == 0 || strcmp(f->name, "sectors") == 0 ||
           strcmp(f->name, "shared") == 0 || strcmp(f->name, "wavefronts") == 0;
}

static int compare_sums(const ft_ptx_counts *counted, const ft_ptx_counts *ran,
                        char *what, size_t size)
{
    int wrong = 0;

    for (int way = 0; way < 2; way++) {
        ft_ptx_tally sum = {0, 0, 0};
        uint64_t all = 0;

        for (int s = 0; s < FT_PTX_SPACES; s++) {
            sum.low += counted->bytes[s][way].low;
            sum.value += counted->bytes[s][way].value;
            sum.high += counted->bytes[s][way].high;
            all += ran->bytes[s][way].value;
        }
        if (!agrees(&sum, all) && wrong++ == 0)
            say(what, size, "sum of bytes", (size_t)way, &sum, all);
    }
    return wrong;
}

int ptx_compare(const ft_ptx_counts *counted, const ft_ptx_counts *ran, char *what,
                size_t size)
{
    int wrong = 0;

    if (counted->blocks != ran->blocks || counted->warps != ran->warps ||
        counted->threads != ran->threads) {
        snprintf(what, size, "blocks, warps or threads");
        return 1;
    }
    for (int f = 0; f < FIELDS; f++) {
        const ft_ptx_tally *a = tallies(counted, &fields[f]),
                           *b = tallies(ran, &fields[f]);

        for (size_t k = 0;
             k < fields[f].n && (is_seen(counted) || !hangs_on_space(&fields[f])); k++)
            if (!agrees(&a[k], b[k].value) && wrong++ == 0)
                say(what, size, fields[f].name, k, &a[k], b[k].value);
    }
    return wrong != 0         ? wrong
           : is_seen(counted) ? 0
                              : compare_sums(counted, ran, what, size);
}
