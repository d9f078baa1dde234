/* Kernels, launches and counts as JSON and CSV: the fields of the C structs. */
#include <stdlib.h>
#include <string.h>

#include "cli/ptx/ptx.h"
#include "foretell/names.h"
#include "report/record.h"

static json_t *dims_json(const uint32_t d[3])
{
    json_t *all = d[0] ? json_array() : json_null();

    for (int i = 0; d[0] && i < 3; i++)
        ft__json_append_take(&all, json_integer(d[i]));
    return all;
}

/* ---- kernels ---- */

static json_t *params_json(const ft_ptx_kernel *k)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < k->n_params; i++)
        ft__json_append_take(&all, ft__json("name:s size:n align:n pointer:b",
                                            k->param[i].name, k->param[i].size,
                                            k->param[i].align, k->param[i].pointer));
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
    return ft__json(
        "name:s line:n parameters:o required:o most:o cluster:o blocks_per_sm:n "
        "shared_bytes:u local_bytes:u registers:o allocated:o instructions:o",
        k->name, k->line, params_json(k), dims_json(k->required), dims_json(k->most),
        dims_json(k->cluster), k->blocks_per_sm, k->shared_bytes, k->local_bytes,
        ft__json("predicates:n 16:n 32:n 64:n", k->registers[0], k->registers[1],
                 k->registers[2], k->registers[3]),
        allocated, classes_json(k->instructions));
}

/* ---- counts ---- */

/* Without a bound: null. */
static json_t *tally_json(const ft_ptx_tally *n)
{
    return ft__json("low:u value:u high:m", n->low, n->value, n->high);
}

static json_t *tallies_json(const ft_ptx_counts *n)
{
    json_t *all = json_object();

    for (int i = 0; i < FT_PTX_CLASSES; i++)
        if (n->warp[i].high)
            json_object_set_new(
                all, ft_name(FT_NAMES_PTX_CLASS, (ft_ptx_class)i),
                ft__json("warp:o thread:o on:o", tally_json(&n->warp[i]),
                         tally_json(&n->thread[i]), tally_json(&n->on[i])));
    return all;
}

static json_t *both_json(const ft_ptx_tally n[2])
{
    return ft__json("loaded:o stored:o", tally_json(&n[FT_PTX_LOADED]),
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
                                ft__json("bytes:o access:o", both_json(n->bytes[s]),
                                         widths_json(n->access[s])));
    return all;
}

static json_t *flops_json(const ft_ptx_counts *n)
{
    return ft__json("fp32:o fp64:o fp16:o tensor:o", tally_json(&n->flops[0]),
                    tally_json(&n->flops[1]), tally_json(&n->flops[2]),
                    tally_json(&n->tensor_flops));
}

json_t *ft__ptx_counts_json(const ft_ptx_counts *n)
{
    json_t *v = ft__json(
        "blocks:u warps:u threads:u exact:b because:o classes:o spaces:o flops:o",
        n->blocks, n->warps, n->threads, n->exact,
        n->exact || !n->because ? json_null() : ft__json_text(n->because),
        tallies_json(n), spaces_json(n), flops_json(n));

    return ft__json_join_take(
        v, ft__json("requests:o sectors:o shared:o wavefronts:o descriptor_bytes:o "
                    "branches:o divergent:o barriers:o",
                    both_json(n->requests), both_json(n->sectors), both_json(n->shared),
                    both_json(n->wavefronts), tally_json(&n->descriptor_bytes),
                    tally_json(&n->branches), tally_json(&n->divergent),
                    tally_json(&n->barriers)));
}

static json_t *blocks_json(const ft__ptx_counted *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->n_blocks; i++) {
        const ft_ptx_block *b = &v->block[i];

        ft__json_append_take(&all,
                             ft__json("line:n last_line:n source:s source_line:n "
                                      "label:s instructions:n warp:o thread:o exact:b",
                                      b->line, b->last_line, b->source, b->source_line,
                                      b->label, b->instructions, tally_json(&b->warp),
                                      tally_json(&b->thread), b->exact));
    }
    return all;
}

static json_t *accesses_json(const ft__ptx_counted *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->n_accesses; i++) {
        const ft_ptx_access *a = &v->access[i];

        ft__json_append_take(
            &all, ft__json("line:n source:s source_line:n space:s stored:b bytes:n "
                           "requests:o took:o",
                           a->line, a->source, a->source_line,
                           ft_name(FT_NAMES_PTX_SPACE, a->space), a->stored, a->bytes,
                           tally_json(&a->requests), tally_json(&a->took)));
    }
    return all;
}

/* ---- launches ---- */

json_t *ft__ptx_launch_json(const ft_ptx_listed *v)
{
    const ft_ptx_launch *l = &v->launch;

    if (!v->module)
        return ft__json("name:s count:u library:s operation:s", v->name, v->count,
                        v->library, v->operation);
    return ft__json("name:s count:u module:s kernel:s grid:o block:o cluster:o "
                    "dynamic_shared:n memory_bytes:u not_given:o missing:s",
                    v->name, v->count, v->path, v->kernel->name, dims_json(l->grid),
                    dims_json(l->block), dims_json(l->cluster), l->dynamic_shared,
                    v->memory_bytes, ft__json_texts(v->open, v->n_open), v->missing);
}

json_t *ft__ptx_counted_json(const ft__ptx_counted *v, bool blocks)
{
    json_t *all =
        ft__json("launch:o counts:o estimate:o", ft__ptx_launch_json(v->launch),
                 ft__ptx_counts_json(&v->counts), ft__ptx_estimate_json(v));
    ft__ptx_remark r[FT__PTX_REMARKS];
    size_t n = ft__ptx_remarks(r, v);
    json_t *remarks = json_array();

    if (!blocks) {
        json_decref(remarks);
        return all;
    }
    for (size_t i = 0; i < n; i++)
        ft__json_append_take(&remarks, ft__json_text(r[i].s));
    return ft__json_join_take(all, ft__json("blocks:o accesses:o remarks:o",
                                            blocks_json(v), accesses_json(v), remarks));
}

static const char class_fields[] = "class:s warp:u warp_low:u warp_high:m thread:u "
                                   "thread_low:u thread_high:m on:u on_low:u on_high:m";

/* ---- CSV ---- */

bool ft__ptx_csv(const ft__ptx_counted *v)
{
    const ft_ptx_counts *n = &v->counts;

    ft__csv_head(stdout, class_fields);
    for (int i = 0; i < FT_PTX_CLASSES; i++)
        if (n->warp[i].high)
            ft__csv_row(stdout, class_fields,
                        ft_name(FT_NAMES_PTX_CLASS, (ft_ptx_class)i), n->warp[i].value,
                        n->warp[i].low, n->warp[i].high, n->thread[i].value,
                        n->thread[i].low, n->thread[i].high, n->on[i].value,
                        n->on[i].low, n->on[i].high);
    return true;
}
