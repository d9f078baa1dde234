/* The run of a kernel in blocks of one size: its memory, and beginning a launch. */
#include "ptx/count/run.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/count/reach.h"
#include "ptx/count/trace.h"

/* Steps of one launch, each about a nanosecond; beyond, there are bounds. */
#define MOST_STEPS ((uint64_t)1 << 30)

static bool make_lanes(ft__run *r)
{
    const size_t room = (size_t)r->words * 64;
    uint64_t *row[5 + 16 + 3];

    for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++)
        if (!(row[k] = ft__arena_array(&r->arena, room, sizeof(uint64_t))))
            return false;
    memcpy(r->in, row, sizeof(r->in));
    memcpy(r->out, row + 5, sizeof(r->out));
    memcpy(r->tid, row + 21, sizeof(r->tid));
    for (uint32_t l = 0; l < r->threads; l++) {
        r->tid[0][l] = l % r->block[0];
        r->tid[1][l] = l / r->block[0] % r->block[1];
        r->tid[2][l] = l / r->block[0] / r->block[1];
        r->all.w[l / 64] |= (uint64_t)1 << l % 64;
    }
    return true;
}

static bool make_run(ft__run *r)
{
    const ft__count_plan *p = r->p;

    r->threads = r->block[0] * r->block[1] * r->block[2];
    r->words = (r->threads + 63) / 64;
    r->warps = (r->threads + 31) / 32;
    r->param_bytes = p->part[0].f->param_bytes;
    r->count =
        ft__arena_array(&r->arena, (size_t)p->n_items * FT__SETS, sizeof(*r->count));
    r->unbounded = ft__arena_array(&r->arena, p->n_items, sizeof(*r->unbounded));
    r->pool = ft__arena_array(&r->arena, p->n_parts, sizeof(ft__frame *));
    r->measured =
        ft__arena_array(&r->arena, (size_t)p->n_steps + 1, sizeof(*r->measured));
    r->reach = ft__arena_array(&r->arena, (size_t)p->n_reaches + 1, sizeof(*r->reach));
    r->memo = ft__arena_array(&r->arena, (size_t)p->n_steps + 1, sizeof(*r->memo));
    return r->memo && r->reach && r->count && r->unbounded && r->pool && r->measured &&
           make_lanes(r);
}

void ft__run_free(ft__run *r)
{
    if (!r)
        return;
    ft__trace_free(r);
    ft__affines_free(&r->affines);
    ft__arena_free(&r->arena);
    free(r);
}

static ft_status run_new(ft__run **out, ft__count_plan *p, const uint32_t block[3],
                         ft_error *err)
{
    ft__run *r = calloc(1, sizeof(*r));

    *out = NULL;
    if (r) {
        r->p = p;
        memcpy(r->block, block, sizeof(r->block));
    }
    if (!r || !make_run(r)) {
        ft__run_free(r);
        return ft_fail(err, FT_ENOMEM, 0, "no memory to count %s", p->part[0].f->name);
    }
    *out = r;
    return FT_OK;
}

ft_status ft__run_for(ft__run **r, ft__count_plan *p, const uint32_t block[3],
                      ft_error *err)
{
    if (*r && (memcmp((*r)->block, block, sizeof((*r)->block)) != 0 ||
               (*r)->short_of_memory)) {
        ft__run_free(*r);
        *r = NULL;
    }
    return *r ? FT_OK : run_new(r, p, block, err);
}

void ft__run_launch(ft__run *r, const ft_ptx_launch *l, const uint8_t *param,
                    const uint8_t *known)
{
    for (uint32_t k = 0; k < 3; k++) {
        r->grid[k] = l->grid[k];
        r->cluster[k] = l->cluster[k] ? l->cluster[k] : 1;
    }
    r->dynamic_shared = l->dynamic_shared;
    r->param = param;
    r->param_known = known;
    r->steps = r->executed = 0;
    r->launch++;
    r->most_steps = MOST_STEPS;
    r->stopped = false;
    r->why = NULL;
    memset(r->unbounded, 0, r->p->n_items * sizeof(*r->unbounded));
    ft__trace_launch(r);
}
