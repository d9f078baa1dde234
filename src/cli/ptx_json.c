/* Kernels, launches and counts as JSON and CSV: the fields of the C structs. */
#include <stdlib.h>
#include <string.h>

#include "cli/ptx.h"
#include "foretell/names.h"
#include "report/json.h"

static json_t *dims_json(const uint32_t d[3])
{
    return d[0] ? json_pack("[i, i, i]", (int)d[0], (int)d[1], (int)d[2]) : json_null();
}

/* ---- kernels ---- */

static json_t *params_json(const ft_ptx_kernel *k)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < k->n_params; i++)
        ft__json_append_take(&all, json_pack("{s:o, s:i, s:i, s:b}", "name",
                                             ft__json_text(k->param[i].name), "size",
                                             (int)k->param[i].size, "align",
                                             (int)k->param[i].align, "pointer",
                                             k->param[i].pointer));
    return all;
}

static json_t *classes_json(const uint64_t *n)
{
    json_t *all = json_object();

    for (int i = 0; i < FT_PTX_CLASSES; i++)
        json_object_set_new(all, ft_name(FT_NAMES_PTX_CLASS, (ft_ptx_class)i),
                            ft__json_count(n[i]));
    return all;
}

json_t *ft__ptx_kernel_json(const ft_ptx_kernel *k, json_t *allocated)
{
    return json_pack(
        "{s:o, s:i, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:{s:i, s:i, s:i, s:i}, s:o, "
        "s:o}",
        "name", ft__json_text(k->name), "line", (int)k->line, "parameters",
        params_json(k), "required", dims_json(k->required), "most", dims_json(k->most),
        "cluster", dims_json(k->cluster), "blocks_per_sm", (int)k->blocks_per_sm,
        "shared_bytes", ft__json_count(k->shared_bytes), "local_bytes",
        ft__json_count(k->local_bytes), "registers", "predicates", (int)k->registers[0],
        "16", (int)k->registers[1], "32", (int)k->registers[2], "64",
        (int)k->registers[3], "allocated", allocated, "instructions",
        classes_json(k->instructions));
}

/* ---- counts ---- */

/* Without a bound: null. */
static json_t *tally_json(const ft_ptx_tally *n)
{
    return json_pack("{s:o, s:o, s:o}", "low", ft__json_count(n->low), "value",
                     ft__json_count(n->value), "high",
                     n->high == UINT64_MAX ? json_null() : ft__json_count(n->high));
}

static json_t *tallies_json(const ft_ptx_counts *n)
{
    json_t *all = json_object();

    for (int i = 0; i < FT_PTX_CLASSES; i++)
        if (n->warp[i].high)
            json_object_set_new(
                all, ft_name(FT_NAMES_PTX_CLASS, (ft_ptx_class)i),
                json_pack("{s:o, s:o, s:o}", "warp", tally_json(&n->warp[i]), "thread",
                          tally_json(&n->thread[i]), "on", tally_json(&n->on[i])));
    return all;
}

static json_t *both_json(const ft_ptx_tally n[2])
{
    return json_pack("{s:o, s:o}", "loaded", tally_json(&n[FT_PTX_LOADED]), "stored",
                     tally_json(&n[FT_PTX_STORED]));
}

/* "4": {"loaded", "stored"}: accesses by their width in bytes. */
static json_t *widths_json(const ft_ptx_tally n[2][FT_PTX_WIDTHS])
{
    json_t *all = json_object();

    for (int w = 0; w < FT_PTX_WIDTHS; w++) {
        ft_ptx_tally both[2] = {n[0][w], n[1][w]};
        char width[8];

        snprintf(width, sizeof(width), "%d", 1 << w);
        if (both[0].high || both[1].high)
            json_object_set_new(all, width, both_json(both));
    }
    return all;
}

static json_t *spaces_json(const ft_ptx_counts *n)
{
    json_t *all = json_object();

    for (int s = 0; s < FT_PTX_SPACES; s++)
        if (n->bytes[s][0].high || n->bytes[s][1].high)
            json_object_set_new(all, ft_name(FT_NAMES_PTX_SPACE, (ft_ptx_space)s),
                                json_pack("{s:o, s:o}", "bytes", both_json(n->bytes[s]),
                                          "access", widths_json(n->access[s])));
    return all;
}

static json_t *flops_json(const ft_ptx_counts *n)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "fp32", tally_json(&n->flops[0]), "fp64",
                     tally_json(&n->flops[1]), "fp16", tally_json(&n->flops[2]),
                     "tensor", tally_json(&n->tensor_flops));
}

json_t *ft__ptx_counts_json(const ft_ptx_counts *n)
{
    json_t *v = json_pack(
        "{s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "blocks", ft__json_count(n->blocks),
        "warps", ft__json_count(n->warps), "threads", ft__json_count(n->threads),
        "exact", n->exact, "because",
        n->exact || !n->because ? json_null() : ft__json_text(n->because), "classes",
        tallies_json(n), "spaces", spaces_json(n), "flops", flops_json(n));

    return ft__json_join_take(
        v, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "requests",
                     both_json(n->requests), "sectors", both_json(n->sectors), "shared",
                     both_json(n->shared), "wavefronts", both_json(n->wavefronts),
                     "descriptor_bytes", tally_json(&n->descriptor_bytes), "branches",
                     tally_json(&n->branches), "divergent", tally_json(&n->divergent),
                     "barriers", tally_json(&n->barriers)));
}

static json_t *blocks_json(const ft__ptx_counted *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->n_blocks; i++) {
        const ft_ptx_block *b = &v->block[i];

        ft__json_append_take(
            &all,
            json_pack("{s:i, s:i, s:o, s:i, s:o, s:i, s:o, s:o, s:b}", "line",
                      (int)b->line, "last_line", (int)b->last_line, "source",
                      b->source ? ft__json_text(b->source) : json_null(), "source_line",
                      (int)b->source_line, "label",
                      b->label ? ft__json_text(b->label) : json_null(), "instructions",
                      (int)b->instructions, "warp", tally_json(&b->warp), "thread",
                      tally_json(&b->thread), "exact", b->exact));
    }
    return all;
}

static json_t *accesses_json(const ft__ptx_counted *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->n_accesses; i++) {
        const ft_ptx_access *a = &v->access[i];

        ft__json_append_take(
            &all,
            json_pack("{s:i, s:o, s:i, s:s, s:b, s:i, s:o, s:o}", "line", (int)a->line,
                      "source", a->source ? ft__json_text(a->source) : json_null(),
                      "source_line", (int)a->source_line, "space",
                      ft_name(FT_NAMES_PTX_SPACE, a->space), "stored", a->stored,
                      "bytes", (int)a->bytes, "requests", tally_json(&a->requests),
                      "took", tally_json(&a->took)));
    }
    return all;
}

/* ---- launches ---- */

static json_t *text_or_null(const char *s)
{
    return s ? ft__json_text(s) : json_null();
}

static json_t *open_json(const ft_ptx_listed *v)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < v->n_open; i++)
        ft__json_append_take(&all, ft__json_text(v->open[i]));
    return all;
}

json_t *ft__ptx_launch_json(const ft_ptx_listed *v)
{
    const ft_ptx_launch *l = &v->launch;

    if (!v->module)
        return json_pack("{s:o, s:o, s:o, s:o}", "name", text_or_null(v->name), "count",
                         ft__json_count(v->count), "library", ft__json_text(v->library),
                         "operation", text_or_null(v->operation));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o}", "name",
                     text_or_null(v->name), "count", ft__json_count(v->count), "module",
                     ft__json_text(v->path), "kernel", ft__json_text(v->kernel->name),
                     "grid", dims_json(l->grid), "block", dims_json(l->block),
                     "cluster", dims_json(l->cluster), "dynamic_shared",
                     (int)l->dynamic_shared, "memory_bytes",
                     ft__json_count(v->memory_bytes), "not_given", open_json(v),
                     "missing", text_or_null(v->missing));
}

json_t *ft__ptx_counted_json(const ft__ptx_counted *v, bool blocks)
{
    json_t *all = json_pack("{s:o, s:o, s:o}", "launch", ft__ptx_launch_json(v->launch),
                            "counts", ft__ptx_counts_json(&v->counts), "estimate",
                            ft__ptx_estimate_json(v));
    ft__ptx_remark r[FT__PTX_REMARKS];
    size_t n = ft__ptx_remarks(r, v);
    json_t *remarks = json_array();

    if (!blocks) {
        json_decref(remarks);
        return all;
    }
    for (size_t i = 0; i < n; i++)
        ft__json_append_take(&remarks, ft__json_text(r[i].s));
    return ft__json_join_take(all, json_pack("{s:o, s:o, s:o}", "blocks",
                                             blocks_json(v), "accesses",
                                             accesses_json(v), "remarks", remarks));
}

/* ---- CSV ---- */

bool ft__ptx_csv(const ft__ptx_counted *v)
{
    const ft_ptx_counts *n = &v->counts;

    puts("class,warp,warp_low,warp_high,thread,thread_low,thread_high,on,on_low,on_"
         "high");
    for (int i = 0; i < FT_PTX_CLASSES; i++)
        if (n->warp[i].high)
            ft__csv_row(stdout, "suumuumuum",
                        ft_name(FT_NAMES_PTX_CLASS, (ft_ptx_class)i), n->warp[i].value,
                        n->warp[i].low, n->warp[i].high, n->thread[i].value,
                        n->thread[i].low, n->thread[i].high, n->on[i].value,
                        n->on[i].low, n->on[i].high);
    return true;
}
