#include "ptx_interpret/interpret.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/eval/lanes.h"
#include "ptx_interpret/machine.h"

void ft__ptx_stop(ft__ptx_step *s, int lane, const char *fmt, ...)
{
    const ft__ptx_machine *k = s->k;
    char what[300];
    va_list ap;

    if (k->st)
        return;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    s->k->st =
        ft_fail(k->err, FT_EINVAL, s->i->at, "%s:%u: %s (block %u,%u,%u, thread %d)",
                k->m->name, s->i->line, what, k->ctaid[0], k->ctaid[1], k->ctaid[2],
                (int)s->w->number * FT__PTX_LANES + lane);
}

void ft__ptx_unsupported(ft__ptx_step *s, const char *fmt, ...)
{
    char what[300];
    va_list ap;

    if (s->k->st)
        return;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    s->k->st = ft_fail(s->k->err, FT_EUNSUPPORTED, s->i->at,
                       "%s:%u: %s: %s cannot be run here", s->k->m->name, s->i->line,
                       ft__ptx_opcodes[s->i->opcode].name, what);
}

static void evaluate(ft__ptx_step *s)
{
    uint64_t own[5][FT__PTX_LANES], out[8][FT__PTX_LANES], *d[8];
    const uint64_t *a[5];

    if (s->leaf->n_d > 8) {
        ft__ptx_unsupported(s, "%u results", s->leaf->n_d);
        return;
    }
    for (uint32_t n = 0; n < s->leaf->n_s && n < 5; n++)
        a[n] = ft__ptx_value(s, s->leaf->s[n], own[n]);
    for (uint32_t n = 0; n < s->leaf->n_d; n++)
        d[n] = out[n];
    ft__ptx_eval(d, s->f, s->i, a, FT__PTX_LANES);
    for (uint32_t n = 0; n < s->leaf->n_d; n++)
        ft__ptx_put(s, s->leaf->d[n], out[n], s->on);
}

static void sleep_or_unsupported(ft__ptx_step *s)
{
    switch (s->i->opcode) {
    case FT__PTX_MEMBAR:
    case FT__PTX_FENCE:
    case FT__PTX_NANOSLEEP:
    case FT__PTX_PMEVENT:
    case FT__PTX_BRKPT:
    case FT__PTX_SETMAXNREG:
    case FT__PTX_GRIDDEPCONTROL:
    case FT__PTX_PREFETCH:
    case FT__PTX_PREFETCHU:
    case FT__PTX_DISCARD:
    case FT__PTX_CREATEPOLICY:
    case FT__PTX_APPLYPRIORITY: break;
    default: ft__ptx_unsupported(s, "what it does"); break;
    }
}

static void move_special(ft__ptx_step *s)
{
    uint64_t own[FT__PTX_LANES];

    if (s->leaf->n_d == 1 && s->leaf->n_s == 1)
        ft__ptx_put(s, s->leaf->d[0], ft__ptx_value(s, s->leaf->s[0], own), s->on);
    else
        ft__ptx_unsupported(s, "moves of vectors");
}

static bool has_carry(const ft__ptx_step *s)
{
    return s->i->opcode == FT__PTX_ADDC || s->i->opcode == FT__PTX_SUBC ||
           s->i->opcode == FT__PTX_MADC || ft__ptx_has(s->f, s->i, FT__MOD_CC);
}

static void execute(ft__ptx_step *s)
{
    switch (s->i->opcode) {
    case FT__PTX_BRA:
    case FT__PTX_BRX: ft__ptx_do_branch(s); return;
    case FT__PTX_CALL: ft__ptx_do_call(s); return;
    case FT__PTX_RET: ft__ptx_do_return(s); return;
    case FT__PTX_EXIT:
    case FT__PTX_TRAP: ft__ptx_do_exit(s->w, s->on); return;
    case FT__PTX_BAR:
    case FT__PTX_BARRIER: ft__ptx_do_barrier(s); return;
    case FT__PTX_LD:
    case FT__PTX_LDU: ft__ptx_do_load(s); return;
    case FT__PTX_ST: ft__ptx_do_store(s); return;
    case FT__PTX_ATOM:
    case FT__PTX_RED: ft__ptx_do_atomic(s); return;
    case FT__PTX_CP: ft__ptx_do_copy(s); return;
    case FT__PTX_LDMATRIX:
    case FT__PTX_STMATRIX:
    case FT__PTX_MOVMATRIX: ft__ptx_do_matrix(s); return;
    case FT__PTX_MMA: ft__ptx_do_mma(s); return;
    case FT__PTX_WMMA: ft__ptx_do_wmma(s); return;
    case FT__PTX_SHFL:
    case FT__PTX_VOTE:
    case FT__PTX_MATCH:
    case FT__PTX_REDUX:
    case FT__PTX_ELECT:
    case FT__PTX_ACTIVEMASK: ft__ptx_do_warp(s); return;
    default: break;
    }
    if (has_carry(s))
        ft__ptx_do_carry(s);
    else if (s->frame->code->computable[s->i - s->f->insn])
        evaluate(s);
    else if (s->i->opcode == FT__PTX_MOV)
        move_special(s);
    else
        sleep_or_unsupported(s);
}

/* Lanes whose guard holds. */
static uint32_t guarded(const ft__ptx_step *s)
{
    const uint64_t *p;
    uint32_t on = 0;

    if (s->i->guard < 0)
        return s->here;
    p = s->frame->reg + (size_t)s->i->guard * FT__PTX_LANES;
    for (int l = 0; l < FT__PTX_LANES; l++)
        on |= (uint32_t)((p[l] != 0) != s->i->guard_not) << l;
    return on & s->here;
}

static void issue(ft__ptx_machine *k, ft__ptx_warp *w, ft__ptx_entry *e)
{
    ft__ptx_step s = {.k = k, .w = w, .frame = &w->frame[w->n - 1], .here = e->mask};
    const ft__ptx_code *code = s.frame->code;
    const uint32_t at = e->pc++;
    ft__ptx_leaves leaf;

    s.f = code->f;
    s.i = &s.f->insn[at];
    s.on = guarded(&s);
    if (!s.i->implied) {
        code->warp[at]++;
        code->thread[at] += ft__ptx_count_lanes(s.here);
        code->on[at] += ft__ptx_count_lanes(s.on);
    }
    ft__ptx_leaves_of(&leaf, s.f, s.i);
    s.leaf = &leaf;
    ft__ptx_count_flops(&s);
    execute(&s);
    if (++k->steps > k->opt->most_steps && !k->st)
        k->st = ft_fail(k->err, FT_EUNSUPPORTED, s.i->at,
                        "%s:%u: more than %llu instructions of warps", k->m->name,
                        s.i->line, (unsigned long long)k->opt->most_steps);
}

/* Until the warp is done or waits. */
static void run_warp(ft__ptx_machine *k, ft__ptx_warp *w)
{
    while (k->st == FT_OK && w->n > 0 && w->waiting == NULL) {
        ft__ptx_frame *f = &w->frame[w->n - 1];
        ft__ptx_entry *e = f->n > 0 ? &f->entry[f->n - 1] : NULL;

        if (e == NULL)
            ft__ptx_finish_call(k, w);
        else if (e->mask == 0 || e->pc == e->reconvergence ||
                 e->pc >= f->code->f->n_insns)
            f->n--;
        else
            issue(k, w, e);
    }
}

static ft_status begin_block(ft__ptx_machine *k)
{
    const ft__ptx_code *code = &k->code[k->kernel];

    memset(k->shared, 0, k->shared_size);
    memset(k->arrived, 0, sizeof k->arrived);
    for (uint32_t n = 0; n < k->n_warps; n++) {
        ft__ptx_warp *w = &k->warp[n];
        const uint32_t lanes = k->threads - n * FT__PTX_LANES;

        w->number = n;
        w->waiting = NULL;
        w->carry = 0;
        w->alive =
            (uint32_t)ft__ptx_mask(lanes < FT__PTX_LANES ? lanes : FT__PTX_LANES);
        if (ft__ptx_enter(k, w, k->kernel, w->alive, NULL))
            return FT_ENOMEM;
        for (size_t l = 0; l < FT__PTX_LANES; l++)
            memcpy(w->frame[0].param + l * code->param_size, k->params,
                   code->f->param_bytes);
    }
    return FT_OK;
}

static ft_status stuck(ft__ptx_machine *k)
{
    const ft__ptx_insn *i = NULL;

    for (uint32_t n = 0; n < k->n_warps; n++)
        if (k->warp[n].waiting != NULL)
            i = k->warp[n].waiting;
    return ft_fail(
        k->err, FT_EINVAL, 0,
        "%s:%u: block %u,%u,%u waits for ever: not all warps come to this barrier",
        k->m->name, i != NULL ? i->line : 0, k->ctaid[0], k->ctaid[1], k->ctaid[2]);
}

static ft_status run_block(ft__ptx_machine *k)
{
    k->st = begin_block(k);
    while (k->st == FT_OK) {
        bool left = false, released = false;

        for (uint32_t n = 0; n < k->n_warps; n++) {
            run_warp(k, &k->warp[n]);
            left |= k->warp[n].n > 0;
        }
        if (!left || k->st)
            break;
        for (uint32_t id = 0; id < 16; id++)
            released |= ft__ptx_release(k, id);
        if (!released)
            k->st = stuck(k);
    }
    for (uint32_t n = 0; n < k->n_warps; n++)
        while (k->warp[n].n > 0)
            ft__ptx_leave(&k->warp[n]);
    return k->st;
}

static ft_status run_grid(ft__ptx_machine *k)
{
    const uint32_t *grid = k->l->grid;
    ft_status st = FT_OK;

    for (k->ctaid[2] = 0; k->ctaid[2] < grid[2] && !st; k->ctaid[2]++)
        for (k->ctaid[1] = 0; k->ctaid[1] < grid[1] && !st; k->ctaid[1]++)
            for (k->ctaid[0] = 0; k->ctaid[0] < grid[0] && !st; k->ctaid[0]++)
                st = run_block(k);
    return st;
}

static ft_status prepare_code(ft__ptx_machine *k, uint32_t which)
{
    const ft__ptx_function *f = &k->m->function[which];
    ft__ptx_code *c = &k->code[which];
    const size_t n = (size_t)f->n_insns + 1;

    c->f = f;
    c->reconvergence = calloc(n, sizeof *c->reconvergence);
    c->computable = calloc(n, sizeof *c->computable);
    c->warp = calloc(n, sizeof *c->warp);
    c->thread = calloc(n, sizeof *c->thread);
    c->on = calloc(n, sizeof *c->on);
    if (c->reconvergence == NULL || c->computable == NULL || c->warp == NULL ||
        c->thread == NULL || c->on == NULL)
        return FT_ENOMEM;
    for (uint32_t i = 0; i < f->n_insns; i++)
        c->computable[i] = ft__ptx_computable(f, &f->insn[i]);
    return ft__ptx_reconvergence(c->reconvergence, f);
}

/* Sizes of spaces, and where each function's part of .shared begins. */
static void lay_out(ft__ptx_machine *k)
{
    uint64_t at = (k->m->shared_bytes + 127) / 128 * 128;

    for (uint32_t n = 0; n < k->m->n_functions; n++) {
        if (k->m->function[n].entry && n != k->kernel)
            continue;
        k->code[n].shared_base = at;
        at = (at + k->m->function[n].shared_bytes + 127) / 128 * 128;
    }
    k->dynamic_base = at;
    k->shared_size = at + k->l->dynamic_shared;
    for (uint32_t n = 0; n < k->m->n_variables; n++) {
        const ft__ptx_variable *v = &k->m->variable[n];
        uint64_t *size = v->space == FT_PTX_GLOBAL  ? &k->global_size
                         : v->space == FT_PTX_CONST ? &k->constant_size
                         : v->space == FT_PTX_PARAM && v->function >= 0
                             ? &k->code[v->function].param_size
                             : NULL;

        if (size != NULL && v->offset + v->size > *size)
            *size = v->offset + v->size;
    }
}

/* What no GPU has, or would fill the memory of this machine. */
static ft_status check_sizes(const ft__ptx_machine *k)
{
    enum { SHARED = 1 << 20, LOCAL = 1 << 19, REGISTERS = 1 << 16, PARAM = 1 << 16 };
    const uint64_t most = (uint64_t)1 << 28;
    bool fits =
        k->shared_size <= SHARED && k->global_size <= most && k->constant_size <= most;

    for (uint32_t n = 0; n < k->m->n_functions; n++) {
        const ft__ptx_function *f = &k->m->function[n];

        fits = fits && ft__ptx_local_bytes(k, f) <= LOCAL && f->n_regs <= REGISTERS &&
               k->code[n].param_size <= PARAM;
    }
    return fits ? FT_OK
                : ft_fail(k->err, FT_EUNSUPPORTED, 0,
                          "%s: more registers or memory than can be run here",
                          k->m->name);
}

static void initialise(ft__ptx_machine *k)
{
    for (uint32_t n = 0; n < k->m->n_variables; n++) {
        const ft__ptx_variable *v = &k->m->variable[n];
        uint8_t *to = v->space == FT_PTX_GLOBAL  ? k->global
                      : v->space == FT_PTX_CONST ? k->constant
                                                 : NULL;

        if (to != NULL && v->initial != NULL)
            memcpy(to + v->offset, v->initial, v->initial_size);
    }
}

static ft_status set_argument(ft__ptx_machine *k, const ft_ptx_arg *a)
{
    const ft__ptx_function *f = &k->m->function[k->kernel];

    for (uint32_t n = 0; n < f->n_params; n++) {
        const ft__ptx_variable *v = &k->m->variable[f->param[n].index];
        const bool it = a->name == NULL ? n == a->index
                                        : strlen(a->name) == v->len &&
                                              memcmp(a->name, v->name, v->len) == 0;

        if (!it)
            continue;
        if (a->size > v->size)
            return ft_fail(k->err, FT_EINVAL, 0,
                           "parameter %u of %s has %llu bytes, %u are given", n,
                           f->name, (unsigned long long)v->size, a->size);
        memcpy(k->params + v->offset, a->bytes, a->size);
        return FT_OK;
    }
    return ft_fail(k->err, FT_ENOTFOUND, 0, "%s has no parameter %s", f->name,
                   a->name != NULL ? a->name : "of that number");
}

static ft_status prepare(ft__ptx_machine *k)
{
    ft_status st = FT_OK;

    k->code = calloc(k->m->n_functions, sizeof *k->code);
    if (k->code == NULL)
        return FT_ENOMEM;
    for (uint32_t n = 0; n < k->m->n_functions && !st; n++)
        st = prepare_code(k, n);
    if (st)
        return st;
    lay_out(k);
    st = check_sizes(k);
    if (st)
        return st;
    k->n_warps = (k->threads + FT__PTX_LANES - 1) / FT__PTX_LANES;
    k->warp = calloc(k->n_warps, sizeof *k->warp);
    k->shared = calloc(k->shared_size + 1, 1);
    k->global = calloc(k->global_size + 1, 1);
    k->constant = calloc(k->constant_size + 1, 1);
    k->params = calloc(k->m->function[k->kernel].param_bytes + 1, 1);
    if (k->warp == NULL || k->shared == NULL || k->global == NULL ||
        k->constant == NULL || k->params == NULL)
        return FT_ENOMEM;
    initialise(k);
    for (uint32_t n = 0; n < k->l->n_args && !st; n++)
        st = set_argument(k, &k->l->arg[n]);
    return st;
}

static void tear_down(ft__ptx_machine *k)
{
    for (uint32_t n = 0; k->code != NULL && n < k->m->n_functions; n++) {
        free(k->code[n].reconvergence);
        free(k->code[n].computable);
        free(k->code[n].warp);
        free(k->code[n].thread);
        free(k->code[n].on);
    }
    for (uint32_t n = 0; k->warp != NULL && n < k->n_warps; n++)
        free(k->warp[n].frame);
    free(k->code);
    free(k->warp);
    free(k->shared);
    free(k->global);
    free(k->constant);
    free(k->params);
}

static ft_status check(const ft__ptx_machine *k)
{
    const ft_ptx_launch *l = k->l;
    uint64_t threads = 1;

    for (int d = 0; d < 3; d++) {
        if (l->block[d] == 0 || l->grid[d] == 0 || l->block[d] > 1024)
            return ft_fail(k->err, FT_EINVAL, 0,
                           "a block of %u x %u x %u threads is none that runs",
                           l->block[0], l->block[1], l->block[2]);
        threads *= l->block[d];
    }
    if (threads > 1024)
        return ft_fail(k->err, FT_EINVAL, 0,
                       "a block has at most 1024 threads, not %llu",
                       (unsigned long long)threads);
    return FT_OK;
}

static void copy_counts(uint64_t *to, const uint64_t *from, uint32_t n)
{
    if (to != NULL)
        memcpy(to, from, n * sizeof *to);
}

static void settle(ft_ptx_tally *t, size_t n)
{
    for (size_t k = 0; k < n; k++)
        t[k].low = t[k].high = t[k].value;
}

static void finish_counts(ft_ptx_counts *c)
{
    settle(c->warp, FT_PTX_CLASSES);
    settle(c->thread, FT_PTX_CLASSES);
    settle(c->on, FT_PTX_CLASSES);
    for (int s = 0; s < FT_PTX_SPACES; s++)
        for (int way = 0; way < 2; way++) {
            settle(&c->bytes[s][way], 1);
            settle(c->access[s][way], FT_PTX_WIDTHS);
        }
    settle(c->requests, 2);
    settle(c->sectors, 2);
    settle(c->shared, 2);
    settle(c->wavefronts, 2);
    settle(&c->branches, 1);
    settle(&c->divergent, 1);
    settle(&c->barriers, 1);
    settle(c->flops, 3);
    settle(&c->tensor_flops, 1);
    c->exact = 1;
}

static void fill_counts(ft_ptx_counts *c, const ft__ptx_machine *k)
{
    for (uint32_t n = 0; n < k->m->n_functions; n++) {
        const ft__ptx_code *code = &k->code[n];

        for (uint32_t i = 0; i < code->f->n_insns; i++) {
            const unsigned class = code->f->insn[i].class;

            c->warp[class].value += code->warp[i];
            c->thread[class].value += code->thread[i];
            c->on[class].value += code->on[i];
        }
    }
    c->blocks = (uint64_t)k->l->grid[0] * k->l->grid[1] * k->l->grid[2];
    c->warps = c->blocks * k->n_warps;
    c->threads = c->blocks * k->threads;
    finish_counts(c);
    copy_counts(k->opt->warp, k->code[k->kernel].warp, k->code[k->kernel].f->n_insns);
    copy_counts(k->opt->thread, k->code[k->kernel].thread,
                k->code[k->kernel].f->n_insns);
    copy_counts(k->opt->on, k->code[k->kernel].on, k->code[k->kernel].f->n_insns);
}

ft_status ft__ptx_run(ft_ptx_counts *out, const ft_ptx *m, const ft_ptx_launch *l,
                      const ft__ptx_run_options *opt, ft_error *err)
{
    ft__ptx_run_options o = *opt;
    ft__ptx_machine k = {.m = m, .l = l, .opt = &o, .count = out, .err = err};
    ft_status st = check(&k);
    uint32_t kernel;

    memset(out, 0, sizeof *out);
    if (o.most_steps == 0)
        o.most_steps = (uint64_t)1 << 32;
    if (st || (st = ft__ptx_kernel_find(&kernel, m, l->kernel, err)))
        return st;
    k.kernel = m->kernel_function[kernel];
    k.threads = l->block[0] * l->block[1] * l->block[2];
    st = prepare(&k);
    if (!st)
        st = run_grid(&k);
    if (!st)
        fill_counts(out, &k);
    tear_down(&k);
    return st == FT_ENOMEM ? ft_fail(err, st, 0, "%s: out of memory", m->name) : st;
}
