/* Counts of all launches of a list, on all cores: each thread reads the list anew, for
 * what analyses keep belongs to a list. Counts do not depend on which launches were
 * counted before. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ptx/ptx.h"

enum { LAUNCHES_A_THREAD = 8 }; /* for fewer, reading the list is not worth it */

struct counting {
    const char *path;
    ft_ptx_launches *first; /* of the thread that is first to ask */
    atomic_flag taken;
    const uint64_t *times;
    size_t n;
    atomic_size_t next;
    atomic_bool failed; /* no others are begun */
    ft__ptx_launch_count *out;
};

static bool is_counted(const ft_ptx_listed *v, uint64_t times)
{
    return times && v->module && !v->missing;
}

static void count(ft__ptx_launch_count *out, ft_ptx_launches *l, size_t i)
{
    ft_error err = {0};

    out->st = ft_ptx_launches_count(&out->counts, l, i, &err);
    if (out->st)
        out->text = strdup(err.msg);
    else if (out->counts.because)
        out->counts.because = out->text = strdup(out->counts.because);
}

static void *work(void *user)
{
    struct counting *c = user;
    ft_ptx_launches *l = c->first, *own = NULL;
    const ft_ptx_listed *v;
    size_t i;

    if (atomic_flag_test_and_set(&c->taken)) {
        if (ft_ptx_launches_open(&own, c->path, NULL, NULL))
            return NULL;
        l = own;
    }
    v = ft_ptx_launches_get(l)->listed;
    while (ft_ptx_launches_get(l)->n == c->n && !atomic_load(&c->failed) &&
           (i = atomic_fetch_add(&c->next, 1)) < c->n)
        if (is_counted(&v[i], c->times[i])) {
            count(&c->out[i], l, i);
            if (c->out[i].st)
                atomic_store(&c->failed, true);
        }
    ft_ptx_launches_free(own);
    return NULL;
}

ft__ptx_launch_count *ft__ptx_count_all(ft_ptx_launches *l, const char *path,
                                        const uint64_t *times)
{
    const ft_ptx_launches_facts *f = ft_ptx_launches_get(l);
    struct counting c = {.path = path,
                         .first = l,
                         .taken = ATOMIC_FLAG_INIT,
                         .times = times,
                         .n = f->n,
                         .out = calloc(f->n + 1, sizeof(*c.out))};
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++)
        n += is_counted(&f->listed[i], times[i]);
    if (c.out)
        ft__on_cores(work, &c, n / LAUNCHES_A_THREAD);
    return c.out;
}

void ft__ptx_counts_free(ft__ptx_launch_count *of, size_t n)
{
    for (size_t i = 0; of && i < n; i++)
        free(of[i].text);
    free(of);
}
