/* What the page of predictions draws: answers, and operations of the first of them. */
#include <math.h>
#include <string.h>

#include "foretell/names.h"
#include "foretell/timeline.h"
#include "report/html.h"
#include "report/record.h"

/* Operations and nodes of all answers that a page shows in detail, and moments of
 * memory of one. */
enum { MOST_ROWS = 24000, MOST_MOMENTS = 500 };

/* Rows have no names, as there may be thousands. */
static json_t *numbers(const double *v, size_t n)
{
    json_t *row = json_array();

    for (size_t i = 0; i < n; i++)
        ft__json_append_take(&row, ft__json_real(v[i]));
    return row;
}

static json_t *three(const ft_estimate *e)
{
    return numbers((const double[]){e->value, e->low, e->high}, 3);
}

/* [spec, count, time, low, high, energy, basis, FLOPs, bytes], of the device each;
 * basis is the number of a name in `bases`. */
static json_t *op_row(const ft_answer_op *op)
{
    const ft_estimate *t = &op->device_time;
    ft_cost c;
    json_t *row = json_array();

    ft_op_cost(op->op, &c);
    ft__json_append_take(&row, ft__json_text(op->spec));
    ft__json_append_take(&row, ft__json_count(op->count));
    ft__json_append_take(&row, ft__json_real(t->value));
    ft__json_append_take(&row, ft__json_real(t->low));
    ft__json_append_take(&row, ft__json_real(t->high));
    ft__json_append_take(
        &row, ft__json_real(
                  t->value > 0 ? op->energy.value * (t->value / op->time.value) : 0));
    ft__json_append_take(&row, json_integer(t->basis));
    ft__json_append_take(&row, ft__json_real(c.flops));
    ft__json_append_take(&row, ft__json_real(c.bytes_read + c.bytes_written));
    return row;
}

/* [name, parent, time, energy, FLOPs, parameters, memory at most] */
static json_t *module_row(const ft_module *m)
{
    json_t *row = json_array();

    ft__json_append_take(&row, ft__json_text(m->name));
    ft__json_append_take(&row,
                         m->parent == FT_NONE ? json_null() : json_integer(m->parent));
    ft__json_append_take(&row, three(&m->time));
    ft__json_append_take(&row, three(&m->energy));
    ft__json_append_take(&row, ft__json_real(m->flops));
    ft__json_append_take(&row, ft__json_real(m->parameters));
    ft__json_append_take(&row, ft__json_real(m->peak_bytes));
    return row;
}

static double alive(const ft_run *r)
{
    double sum = 0;

    for (int p = 0; p < FT_PART_COUNT; p++)
        sum += isnan(r->bytes[p]) ? 0 : r->bytes[p];
    return sum;
}

/* [[begin, [bytes of each part]], ...]; of many nodes that follow each other, the one
 * with most. */
static json_t *memory_rows(const ft_timeline *t)
{
    const uint32_t each = t->n_runs / MOST_MOMENTS + 1;
    json_t *all = json_array();

    for (uint32_t i = 0; i < t->n_runs; i += each) {
        const ft_run *most = &t->run[i];
        json_t *row = json_array();

        for (uint32_t k = i; k < i + each && k < t->n_runs; k++)
            if (alive(&t->run[k]) > alive(most))
                most = &t->run[k];
        ft__json_append_take(&row, ft__json_real(t->run[i].begin_s));
        ft__json_append_take(&row, numbers(most->bytes, FT_PART_COUNT));
        ft__json_append_take(&all, row);
    }
    return all;
}

static void set_detail(json_t **o, const ft_answer *a, const ft_timeline *t)
{
    json_t *ops = json_array(), *nodes = json_array(), *modules = json_array();

    for (uint32_t i = 0; i < a->n_ops; i++)
        ft__json_append_take(&ops, op_row(a->op[i]));
    for (uint32_t i = 0; i < t->n_runs; i++) {
        const ft_node *node = &a->graph->node[i];
        json_t *row = json_array();

        ft__json_append_take(&row, json_integer(node->op));
        ft__json_append_take(&row, json_integer(t->run[i].module));
        ft__json_append_take(&row, ft__json_count(node->repeat));
        ft__json_append_take(&nodes, row);
    }
    for (uint32_t i = 0; i < t->n_modules; i++)
        ft__json_append_take(&modules, module_row(&t->module[i]));
    ft__json_set_take(o, "ops", ops);
    ft__json_set_take(o, "nodes", nodes);
    ft__json_set_take(o, "modules", modules);
    ft__json_set_take(o, "memory_over", memory_rows(t));
}

static json_t *texts(const ft_remark *const *remark, size_t n)
{
    json_t *all = json_array();

    for (size_t i = 0; i < n; i++)
        ft__json_append_take(&all, ft__json_text(remark[i]->text));
    return all;
}

static json_t *parts(const ft_answer *a)
{
    json_t *o = json_object();

    for (uint32_t p = 0; p < FT_PART_COUNT; p++)
        ft__json_set_take(&o, ft_name(FT_NAMES_PART, p),
                          ft__json_real(a->part_bytes[p]));
    return o;
}

/* [[name, peak], ...] of the types that the network computes in. */
static json_t *roofs(const ft_answer *a, const ft_device_facts *f)
{
    const struct {
        const char *type, *name;
        double peak;
    } roof[] = {{"fp64", "fp64", f ? f->peak_fp64 : NAN},
                {"fp32", "fp32", f ? f->peak_fp32 : NAN},
                {"fp32", "tf32", f ? f->peak_tf32 : NAN},
                {"fp16", "fp16", f ? f->peak_fp16 : NAN},
                {"bf16", "bf16", f ? f->peak_bf16 : NAN},
                {"fp8", "fp8", f ? f->peak_fp8 : NAN},
                {"fp4", "fp4", f ? f->peak_fp4 : NAN},
                {"int8", "int8", f ? f->peak_int8 : NAN}};
    const char *dtype = a->dtype + (strncmp(a->dtype, "amp-", 4) == 0 ? 4 : 0);
    json_t *all = json_array();

    for (size_t i = 0; i < sizeof(roof) / sizeof(*roof); i++)
        if (roof[i].peak > 0 &&
            strncmp(dtype, roof[i].type, strlen(roof[i].type)) == 0) {
            json_t *row = json_array();

            ft__json_append_take(&row, ft__json_text(roof[i].name));
            ft__json_append_take(&row, ft__json_real(roof[i].peak));
            ft__json_append_take(&all, row);
        }
    return all;
}

static json_t *answer(const ft_answer *a, const ft_device_facts *f, bool in_detail)
{
    char label[700];
    ft_timeline *t = NULL;
    json_t *o;

    snprintf(label, sizeof(label), "%s%s%s", a->device, *a->setting ? ", " : "",
             a->setting);
    o = ft__json("label:s model:s device:s known_as:s engine:s setting:s mode:s step:s "
                 "dtype:s batch:i run_mode:s predictor:s lower_bound:b",
                 label, a->graph->name, a->device, a->title, a->engine, a->setting,
                 a->mode, a->step, a->dtype, a->batch, a->run_mode,
                 *a->predictor ? strrchr(a->predictor, '/')
                                     ? strrchr(a->predictor, '/') + 1
                                     : a->predictor
                               : "",
                 a->lower_bound);
    o = ft__json_join_take(
        o, ft__json("time:e(s) energy:e(J) power:e(W) memory:e(B) parts:o context:g "
                    "limit:g memory_planned:b flops:g host_s:g busy_s:g bandwidth:g "
                    "roofs:o n_ops:n n_measured:n n_learned:n n_scaled:n n_roofline:n "
                    "assumptions:o warnings:o bounded:o verify:s unverified:s",
                    &a->time, &a->energy, &a->power, &a->memory, parts(a),
                    a->context_bytes, a->limit_bytes, a->memory_planned, a->flops,
                    a->host_s, a->busy_s, f ? f->bandwidth_bytes_per_s : (double)NAN,
                    roofs(a, f), a->n_ops, a->n_measured, a->n_learned, a->n_scaled,
                    a->n_roofline, texts(a->assumption, a->n_assumptions),
                    texts(a->warning, a->n_warnings),
                    ft__json_texts(a->graph->bounded, a->graph->n_bounded), a->verify,
                    a->unverified));
    if (in_detail && ft_timeline_make(&t, a->graph, a, NULL)) {
        json_decref(o);
        return NULL;
    }
    if (t)
        set_detail(&o, a, t);
    ft_timeline_free(t);
    return o;
}

json_t *ft__prediction_page(const ft_answer *const *a,
                            const ft_device_facts *const *facts, size_t n)
{
    const char *bases[FT_BASIS_COUNT];
    json_t *all = json_array();
    uint64_t rows = 0;

    for (size_t i = 0; i < n; i++) {
        rows += (uint64_t)a[i]->n_ops + a[i]->graph->n_nodes;
        ft__json_append_take(&all, answer(a[i], facts[i], i == 0 || rows <= MOST_ROWS));
    }
    for (uint32_t i = 0; i < FT_BASIS_COUNT; i++)
        bases[i] = ft_name(FT_NAMES_BASIS, i);
    return ft__json("answers:o bases:o", all, ft__json_texts(bases, FT_BASIS_COUNT));
}
