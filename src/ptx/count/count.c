/* A counter of one module. In: a launch; out: its counts, as sums over the blocks of
 * code that were executed, and the same for each block and access. */
#include "ptx/count/counter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "ptx/count/classes.h"
#include "ptx/count/reach.h"
#include "ptx/count/trace.h"

/* Bytes that a kernel's loops may keep from launch to launch. */
enum { MOST_KEPT = 1 << 26 };

struct ft__ptx_counter {
    const ft_ptx *m;
    ft__count_plan **plan; /* by kernel; NULL: not yet */
    ft__run **run;         /* for blocks of the size that was last; NULL: none */
    ft__recall recall;
    ft__ptx_effort effort;
    char because[200];
};

ft_status ft__ptx_counter_new(ft__ptx_counter **out, const ft_ptx *m, ft_error *err)
{
    ft__ptx_counter *c = calloc(1, sizeof(*c));

    *out = NULL;
    if (c) {
        c->m = m;
        c->plan = calloc((size_t)m->n_kernels + 1, sizeof(ft__count_plan *));
        c->run = calloc((size_t)m->n_kernels + 1, sizeof(ft__run *));
    }
    if (!c || !c->plan || !c->run) {
        if (c) {
            free(c->plan);
            free(c->run);
        }
        free(c);
        return ft_fail(err, FT_ENOMEM, 0, "no memory to count %s", m->name);
    }
    *out = c;
    return FT_OK;
}

void ft__ptx_counter_free(ft__ptx_counter *c)
{
    if (!c)
        return;
    for (uint32_t k = 0; k < c->m->n_kernels; k++) {
        ft__run_free(c->run[k]);
        ft__ptx_plan_free(c->plan[k]);
    }
    ft__recall_free(&c->recall);
    free(c->run);
    free(c->plan);
    free(c);
}

ft__ptx_effort ft__ptx_counter_effort(const ft__ptx_counter *c)
{
    return c->effort;
}

static ft_status check_sizes(const ft_ptx_kernel *k, const ft_ptx_launch *l,
                             ft_error *err)
{
    static const uint32_t most_grid[3] = {INT32_MAX, 65535, 65535};
    static const uint32_t most_block[3] = {1024, 1024, 64};
    uint64_t threads = 1;
    const bool required = k->required[0] != 0;

    for (uint32_t x = 0; x < 3; x++) {
        const uint32_t want = k->required[x] ? k->required[x] : 1;

        if (l->grid[x] < 1 || l->grid[x] > most_grid[x])
            return ft_fail(err, FT_EINVAL, 0,
                           "%s: a grid of %u x %u x %u blocks; each is from 1 to %u, "
                           "%u, %u",
                           k->name, l->grid[0], l->grid[1], l->grid[2], most_grid[0],
                           most_grid[1], most_grid[2]);
        if (l->block[x] < 1 || l->block[x] > most_block[x])
            return ft_fail(err, FT_EINVAL, 0,
                           "%s: a block of %u x %u x %u threads; each is from 1 to %u, "
                           "%u, %u",
                           k->name, l->block[0], l->block[1], l->block[2],
                           most_block[0], most_block[1], most_block[2]);
        if (required && l->block[x] != want)
            return ft_fail(
                err, FT_EINVAL, 0,
                "%s: a block of %u x %u x %u threads; its .reqntid says %u x "
                "%u x %u",
                k->name, l->block[0], l->block[1], l->block[2], k->required[0],
                k->required[1] ? k->required[1] : 1,
                k->required[2] ? k->required[2] : 1);
        if (l->cluster[x] && l->grid[x] % l->cluster[x])
            return ft_fail(err, FT_EINVAL, 0,
                           "%s: a grid of %u x %u x %u blocks is not whole clusters of "
                           "%u x %u x %u",
                           k->name, l->grid[0], l->grid[1], l->grid[2], l->cluster[0],
                           l->cluster[1], l->cluster[2]);
        threads *= l->block[x];
    }
    if (threads > FT__MOST_THREADS)
        return ft_fail(err, FT_EINVAL, 0,
                       "%s: a block of %u x %u x %u threads; there are at most %d",
                       k->name, l->block[0], l->block[1], l->block[2],
                       FT__MOST_THREADS);
    return FT_OK;
}

static ft_status put_arg(uint8_t *param, uint8_t *known, const ft_ptx *m,
                         const ft__ptx_function *f, const ft_ptx_kernel *k,
                         const ft_ptx_arg *arg, ft_error *err)
{
    uint32_t n = arg->index;
    uint64_t at;

    for (uint32_t p = 0; arg->name && p <= k->n_params; p++) {
        n = p;
        if (p == k->n_params || strcmp(k->param[p].name, arg->name) == 0)
            break;
    }
    if (n >= k->n_params) {
        if (arg->name)
            return ft_fail(err, FT_ENOTFOUND, 0, "%s has no parameter '%s'", k->name,
                           arg->name);
        return ft_fail(err, FT_ENOTFOUND, 0, "%s has no parameter %u: it has %u",
                       k->name, arg->index, k->n_params);
    }
    if (arg->size > k->param[n].size)
        return ft_fail(err, FT_EINVAL, 0, "%s: parameter '%s' has %u bytes, not %u",
                       k->name, k->param[n].name, k->param[n].size, arg->size);
    at = m->variable[f->param[n].index].offset;
    if (at > f->param_bytes || arg->size > f->param_bytes - at)
        return ft_fail(err, FT_EINVAL, 0, "%s: parameter '%s' lies outside", k->name,
                       k->param[n].name);
    memcpy(param + at, arg->bytes, arg->size);
    memset(known + at, 1, arg->size);
    return FT_OK;
}

/* Guesses of who is there may have left out who is for sure: no fewer than these. */
static void tallies(ft_ptx_tally *item, const ft__run *r, const ft__totals *t)
{
    for (uint32_t k = 0; k < r->p->n_items; k++) {
        const uint64_t *c = t->count + (size_t)k * FT__SETS;

        item[k] = (ft_ptx_tally){
            c[FT__SURE], c[FT__GUESS] < c[FT__SURE] ? c[FT__SURE] : c[FT__GUESS],
            r->unbounded[k] ? UINT64_MAX : c[FT__MAYBE]};
    }
}

/* false: some do not fit 64 bits. */
static bool sum_up(ft_ptx_counts *out, const ft__run *r, const ft__totals *t,
                   const ft_ptx_tally *item)
{
    bool fit = true;

    for (size_t k = 0; k < r->p->n_dues; k++) {
        const ft__due *due = &r->p->due[k];
        const ft_ptx_tally one = item[due->item];
        ft_ptx_tally *to = (void *)((char *)out + due->at);

        ft__add_times(&to->low, one.low, due->amount);
        ft__add_times(&to->value, one.value, due->amount);
        ft__add_times(&to->high, one.high, due->amount);
        fit &= to->low < UINT64_MAX;
    }
    out->barriers.low = t->barriers[FT__SURE];
    out->barriers.value = t->barriers[FT__GUESS];
    out->barriers.high =
        r->unbounded[r->p->barrier] ? UINT64_MAX : t->barriers[FT__MAYBE];
    return fit && out->barriers.low < UINT64_MAX;
}

static bool exact(const ft_ptx_tally *t, size_t n)
{
    bool all = true;

    for (size_t k = 0; k < n; k++)
        all &= t[k].low == t[k].high && t[k].low < UINT64_MAX;
    return all;
}

/* fit: all counts do, in 64 bits. */
static void conclude(ft_ptx_counts *out, ft__ptx_counter *c, const ft__run *r, bool fit)
{
    out->blocks = (uint64_t)r->grid[0] * r->grid[1] * r->grid[2];
    ft__add_times(&out->warps, out->blocks, r->warps);
    ft__add_times(&out->threads, out->blocks, r->threads);
    fit &= out->threads < UINT64_MAX;
    out->exact = fit && exact(out->warp, FT_PTX_CLASSES) &&
                 exact(out->thread, FT_PTX_CLASSES) && exact(out->on, FT_PTX_CLASSES);
    if (out->exact)
        return;
    out->because = c->because;
    if (!fit) {
        snprintf(c->because, sizeof(c->because), "counts are beyond 2^64 - 1");
        return;
    }
    snprintf(c->because, sizeof(c->because), "line %u: %s", r->why_line,
             r->why ? r->why : "a branch depends on data");
}

static int by_number(const void *number, const void *file)
{
    const uint32_t a = *(const uint32_t *)number,
                   b = ((const ft__ptx_file *)file)->number;

    return (a > b) - (a < b);
}

const char *ft__ptx_source(uint32_t *line, const ft_ptx *m, const ft__ptx_insn *i)
{
    const ft__ptx_loc *loc = i->loc ? &m->loc[i->loc - 1] : NULL;
    const ft__ptx_file *file =
        loc ? bsearch(&loc->file, m->file, m->n_files, sizeof(*file), by_number) : NULL;

    *line = loc ? loc->line : 0;
    return file ? file->name : NULL;
}

/* The last label in front of an instruction; copied at first use. */
static const char *label_at(ft__count_plan *p, const ft__plan_part *part,
                            uint32_t *next, uint32_t insn)
{
    const ft__ptx_function *f = part->f;
    const char *name = NULL;

    for (; *next < f->n_labels && f->label[*next].insn <= insn; (*next)++)
        if (f->label[*next].insn == insn)
            name =
                ft__arena_strndup(&p->arena, f->label[*next].name, f->label[*next].len);
    return name;
}

/* What does not depend on the launch, once for each plan. */
static bool list_blocks(ft__count_plan *p)
{
    size_t n = 0, at = 0;

    for (uint32_t k = 0; k < p->n_parts; k++)
        n += p->part[k].flow.n;
    p->block = ft__arena_array(&p->arena, n + 1, sizeof(*p->block));
    if (!p->block)
        return false;
    for (uint32_t k = 0; k < p->n_parts; k++) {
        const ft__plan_part *part = &p->part[k];
        uint32_t next = 0;

        for (uint32_t b = 0; b < part->flow.n; b++, at++) {
            const ft__flow_block *from = &part->flow.block[b];
            ft_ptx_block *to = &p->block[at];

            to->line = part->f->insn[from->first].line;
            to->last_line = part->f->insn[from->end - 1].line;
            for (uint32_t i = from->first; i < from->end; i++)
                to->instructions += !part->f->insn[i].implied;
            to->label = label_at(p, part, &next, from->first);
            to->source =
                ft__ptx_source(&to->source_line, p->m, &part->f->insn[from->first]);
        }
    }
    p->n_blocks = n;
    return true;
}

static void fill_blocks(ft__count_plan *p, const ft_ptx_tally *item)
{
    size_t at = 0;

    for (uint32_t k = 0; k < p->n_parts; k++)
        for (uint32_t b = 0; b < p->part[k].flow.n; b++, at++) {
            ft_ptx_block *to = &p->block[at];

            to->warp = item[p->part[k].item[b]];
            to->thread = item[p->part[k].item[b] + 1];
            to->exact = exact(&to->warp, 1) && exact(&to->thread, 1);
        }
}

static size_t count_accesses(const ft__count_plan *p)
{
    size_t n = 0;

    for (uint32_t k = 0; k < p->n_parts; k++)
        for (uint32_t s = 0; s < p->part[k].n_steps; s++)
            n += p->part[k].step[s].kind == FT__STEP_ACCESS;
    return n;
}

static void describe_access(ft_ptx_access *out, const ft_ptx *m, const ft__ptx_insn *i,
                            const ft__plan_step *s)
{
    out->line = i->line;
    out->source = ft__ptx_source(&out->source_line, m, i);
    out->space = s->space;
    out->stored = s->store;
    out->bytes = s->bytes;
}

/* What does not depend on the launch, once for each plan. */
static bool list_accesses(ft__count_plan *p)
{
    size_t at = 0;

    p->n_accesses = count_accesses(p);
    p->access = ft__arena_array(&p->arena, p->n_accesses + 1, sizeof(*p->access));
    for (uint32_t k = 0; p->access && k < p->n_parts; k++)
        for (uint32_t s = 0; s < p->part[k].n_steps; s++) {
            const ft__plan_step *step = &p->part[k].step[s];

            if (step->kind == FT__STEP_ACCESS)
                describe_access(&p->access[at++], p->m, &p->part[k].f->insn[step->insn],
                                step);
        }
    return p->access != NULL;
}

/* Of a launch in which the plan's items are so often; false: out of memory. */
static bool fill_accesses(ft__count_plan *p, const ft_ptx_tally *item)
{
    ft_ptx_access *out;

    if (!p->access && !list_accesses(p))
        return false;
    out = p->access;
    for (uint32_t k = 0; k < p->n_parts; k++)
        for (uint32_t s = 0; s < p->part[k].n_steps; s++) {
            const ft__plan_step *step = &p->part[k].step[s];

            if (step->kind != FT__STEP_ACCESS)
                continue;
            out->requests = item[step->item];
            out->took = item[step->item + 1];
            out++;
        }
    return true;
}

const ft__recalled *ft__recall_find(const ft__recall *w, const void *key, size_t size)
{
    const uint64_t hash = ft__hash_bytes(FT__HASH_BEGIN, key, size);
    const ft__recalled *at = w->bucket[hash % FT__RECALL_BUCKETS];

    while (at && (at->hash != hash || at->key_size != size ||
                  memcmp(at->key, key, size) != 0))
        at = at->next;
    return at;
}

void ft__recall_free(ft__recall *w)
{
    for (size_t k = 0; k < FT__RECALL_BUCKETS; k++)
        while (w->bucket[k]) {
            ft__recalled *first = w->bucket[k];

            w->bucket[k] = first->next;
            free(first);
        }
    w->bytes = 0;
}

void ft__recall_keep(ft__recall *w, const void *key, size_t size,
                     const ft_ptx_counts *counts, const ft_ptx_tally *item,
                     uint32_t n_items)
{
    const size_t why = counts->because ? strlen(counts->because) + 1 : 0;
    const size_t items = (size_t)n_items * sizeof(*item);
    const size_t bytes = sizeof(ft__recalled) + items + size + why;
    ft__recalled *r, **bucket;

    if (bytes > FT__RECALL_BYTES)
        return;
    if (w->bytes + bytes > FT__RECALL_BYTES)
        ft__recall_free(w);
    r = malloc(bytes); /* itself, items, key, why */
    if (!r)
        return;
    r->hash = ft__hash_bytes(FT__HASH_BEGIN, key, size);
    r->item = (ft_ptx_tally *)(void *)(r + 1);
    memcpy(r->item, item, items);
    r->key = r->item + n_items;
    r->key_size = size;
    memcpy(r->key, key, size);
    r->why = (char *)r->key + size;
    if (why)
        memcpy(r->why, counts->because, why);
    r->counts = *counts;
    r->counts.because = why ? r->why : NULL;
    bucket = &w->bucket[r->hash % FT__RECALL_BUCKETS];
    r->next = *bucket;
    *bucket = r;
    w->bytes += bytes;
}

/* All that counts of a launch depend on, in bytes that are equal where that is. */
struct count_question {
    uint64_t size; /* of all of it */
    uint64_t param_bytes;
    uint32_t kernel, dynamic_shared, grid[3], block[3], cluster[3], zero;
    uint8_t param[]; /* bytes, then which are known */
};

static ft_status plan_for(ft__ptx_counter *c, uint32_t kernel, ft_error *err)
{
    ft_status st = FT_OK;

    if (!c->plan[kernel])
        st = ft__ptx_plan_make(&c->plan[kernel], c->m, c->m->kernel_function[kernel],
                               err);
    if (st == FT_OK && !c->plan[kernel]->block && !list_blocks(c->plan[kernel]))
        st = ft_fail(err, FT_ENOMEM, 0, "no memory to count %s",
                     c->m->kernel[kernel].name);
    return st;
}

static ft_status no_memory(const ft__count_plan *p, ft_error *err)
{
    return ft_fail(err, FT_ENOMEM, 0, "no memory to count %s", p->part[0].f->name);
}

/* Blocks and accesses of the launch. */
static ft_status tell(ft__ptx_parts *out, ft__count_plan *p, const ft_ptx_tally *item,
                      ft_error *err)
{
    fill_blocks(p, item);
    if (!fill_accesses(p, item))
        return no_memory(p, err);
    *out = (ft__ptx_parts){p->block, p->n_blocks, p->access, p->n_accesses};
    return FT_OK;
}

static void bound_traces(const ft__ptx_counter *c)
{
    size_t bytes = 0;

    for (uint32_t k = 0; k < c->m->n_kernels; k++)
        bytes += c->run[k] ? c->run[k]->traces.bytes : 0;
    for (uint32_t k = 0; bytes > FT__MOST_TRACED && k < c->m->n_kernels; k++)
        if (c->run[k])
            ft__trace_forget(&c->run[k]->traces);
}

static ft_status count(ft_ptx_counts *out, ft_ptx_tally *item, ft__ptx_counter *c,
                       uint32_t kernel, const ft_ptx_launch *l, const uint8_t *param,
                       const uint8_t *known, ft_error *err)
{
    ft__count_plan *p = c->plan[kernel];
    ft__totals t = {.count = calloc((size_t)p->n_items * FT__SETS, sizeof(*t.count)),
                    .reach = calloc((size_t)p->n_reaches + 1, sizeof(*t.reach))};
    ft_status st = t.count && t.reach
                       ? ft__classes_count(&t, &c->run[kernel], p, l, param, known, err)
                       : no_memory(p, err);
    const ft__run *r = c->run[kernel];

    if (t.count && t.reach && r) {
        c->effort.blocks += r->executed - r->traces.repeated;
        c->effort.repeated += r->traces.repeated;
        c->effort.steps += r->steps - r->traces.steps;
    }
    if (st == FT_OK) {
        tallies(item, r, &t);
        ft__reach_sum(out->distinct, p, t.reach, item);
        conclude(out, c, r, sum_up(out, r, &t, item));
    }
    bound_traces(c);
    if (r && r->held > MOST_KEPT) {
        ft__run_free(c->run[kernel]);
        c->run[kernel] = NULL;
    }
    free(t.count);
    free(t.reach);
    return st;
}

/* Counts what is asked, or knows it from before. */
static ft_status count_once(ft_ptx_counts *out, ft__ptx_parts *parts,
                            ft__ptx_counter *c, const struct count_question *q,
                            const ft_ptx_launch *l, ft_error *err)
{
    ft__count_plan *p = c->plan[q->kernel];
    const ft__recalled *known = ft__recall_find(&c->recall, q, q->size);
    ft_ptx_tally *item;
    ft_status st;

    if (known) {
        *out = known->counts;
        if (out->because) {
            snprintf(c->because, sizeof(c->because), "%s", known->why);
            out->because = c->because;
        }
        return tell(parts, p, known->item, err);
    }
    item = malloc(((size_t)p->n_items + 1) * sizeof(*item));
    if (!item)
        return no_memory(p, err);
    st = count(out, item, c, q->kernel, l, q->param, q->param + q->param_bytes, err);
    if (st == FT_OK)
        st = tell(parts, p, item, err);
    if (st == FT_OK)
        ft__recall_keep(&c->recall, q, q->size, out, item, p->n_items);
    free(item);
    return st;
}

/* NULL: out of memory. */
static struct count_question *question_new(const ft_ptx_launch *l, uint32_t kernel,
                                           const ft__ptx_function *f)
{
    const size_t size = sizeof(struct count_question) + 2 * (size_t)f->param_bytes;
    struct count_question *q = calloc(1, size);

    if (!q)
        return NULL;
    q->size = size;
    q->param_bytes = f->param_bytes;
    q->kernel = kernel;
    q->dynamic_shared = l->dynamic_shared;
    memcpy(q->grid, l->grid, sizeof(q->grid));
    memcpy(q->block, l->block, sizeof(q->block));
    memcpy(q->cluster, l->cluster, sizeof(q->cluster));
    return q;
}

/* Parameters that nothing counted comes from make no difference. */
static void drop_unread(struct count_question *q, const ft__count_plan *p)
{
    for (uint64_t k = 0; k < q->param_bytes; k++)
        if (!p->reads[k])
            q->param[k] = q->param[q->param_bytes + k] = 0;
}

ft_status ft__ptx_count(ft_ptx_counts *out, ft__ptx_parts *parts, ft__ptx_counter *c,
                        const ft_ptx_launch *l, ft_error *err)
{
    ft__ptx_parts unasked;
    const ft__ptx_function *f;
    uint32_t kernel = 0;
    struct count_question *q;
    ft_status st;

    memset(out, 0, sizeof(*out));
    parts = parts ? parts : &unasked;
    *parts = (ft__ptx_parts){0};
    st = ft__ptx_kernel_find(&kernel, c->m, l->kernel, err);
    if (st != FT_OK)
        return st;
    st = check_sizes(&c->m->kernel[kernel], l, err);
    if (st != FT_OK)
        return st;
    f = &c->m->function[c->m->kernel_function[kernel]];
    q = question_new(l, kernel, f);
    if (!q)
        return ft_fail(err, FT_ENOMEM, 0, "no memory to count %s", f->name);
    for (uint32_t k = 0; st == FT_OK && k < l->n_args; k++)
        st = put_arg(q->param, q->param + f->param_bytes, c->m, f,
                     &c->m->kernel[kernel], &l->arg[k], err);
    if (st == FT_OK)
        st = plan_for(c, kernel, err);
    if (st == FT_OK) {
        drop_unread(q, c->plan[kernel]);
        st = count_once(out, parts, c, q, l, err);
    }
    free(q);
    return st;
}
