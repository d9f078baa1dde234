/* What a GPU makes of a launch: time, power, occupancy, and what sets the time. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ptx/ptx.h"
#include "report/units.h"

int ft__ptx_device(ft__cli *c, ft_device **out, const ft__ptx_options *o)
{
    char name[128], data_dir[FT__PATH_MAX];
    int code;

    *out = NULL;
    if (!o->device)
        return FT__EXIT_GOOD;
    if (snprintf(name, sizeof(name), "%s", o->device) >= (int)sizeof(name))
        return ft__usage(c, "--device %.60s...: too long", o->device);
    code = ft__device_resolve(c, name, sizeof(name));
    ft__path_data(c, data_dir);
    if (!code && ft_device_load(out, data_dir, name, &c->err))
        code = ft__cli_check(c, c->err.status);
    return code;
}

/* Of ptxas, for all kernels together. */
static const double LIMIT_S = 30;

int ft__ptx_ptxas(ft__cli *c, ft__ptxas **out, const ft_device *d,
                  const ft_ptx_listed *v, size_t n, const ft__ptx_options *o)
{
    *out = NULL;
    if (!d || o->registers || o->no_ptxas)
        return FT__EXIT_GOOD;
    *out = ft__ptxas_new(c, v, n, ft_device_get(d)->compute_capability,
                         o->ptxas_s > 0 ? o->ptxas_s : LIMIT_S);
    return *out ? FT__EXIT_GOOD : ft__cli_done(c, false);
}

/* As they are given, with the launch or for all, or as ptxas says; 0: neither. */
static uint64_t find_registers(ft__ptx_counted *v, ft__ptxas *p,
                               const ft__ptx_options *o)
{
    v->registers_from = "given";
    if (o->registers || v->launch->registers)
        return o->registers ? o->registers : v->launch->registers;
    v->ptxas = p ? ft__ptxas_ask(p, v->launch) : NULL;
    v->no_ptxas = p && !ft__ptxas_found(p);
    v->registers_from = v->ptxas ? "ptxas" : "estimated";
    return v->ptxas ? v->ptxas->registers : 0;
}

ft_status ft__ptx_estimate(ft__ptx_counted *v, ft_data *data, const ft_device *d,
                           ft__ptxas *p, const ft__ptx_options *o, ft_error *err)
{
    ft_kernel_query q = FT_KERNEL_QUERY_INIT;

    if (!d)
        return FT_OK;
    v->device = ft_device_get(d);
    q.device = v->device;
    q.launch = v->launch;
    q.counts = &v->counts;
    q.registers = find_registers(v, p, o);
    if (v->ptxas)
        q.shared_bytes = v->launch->launch.dynamic_shared + v->ptxas->shared_bytes;
    q.predictor = o->predictor;
    q.method = o->method;
    return ft_kernel_ask(&v->estimate, data, &q, err);
}

const char *ft__ptx_by(const ft_kernel_estimate *e)
{
    return *e->predictor ? ft__ptx_base(e->predictor) : "data sheet";
}

static const struct {
    const char *name;
    size_t at;
} terms[] = {
#define TERM(name)                                                                     \
    {                                                                                  \
#name, offsetof(ft_kernel_terms, name##_s)                                     \
    }
    TERM(issue),  TERM(compute), TERM(shared), TERM(cache),
    TERM(memory), TERM(latency), TERM(launch),
#undef TERM
};

static double term(const ft_kernel_terms *t, size_t i)
{
    double s;

    memcpy(&s, (const char *)t + terms[i].at, sizeof(s));
    return s;
}

static void print_occupancy(const ft__ptx_counted *v)
{
    const ft_kernel_estimate *e = &v->estimate;
    const ft_kernel_terms *t = &e->terms;

    printf("occupancy   %s of the warps an SM can hold, %.0f block%s on each; %.2f "
           "waves; %" PRIu64 " registers a thread (%s%s%s%s)\n",
           ft__text_percent(t->occupancy).s, t->resident, t->resident > 1 ? "s" : "",
           t->waves, e->registers, v->registers_from, v->ptxas ? " for " : "",
           v->ptxas ? v->ptxas->arch : "",
           v->no_ptxas ? ", for no ptxas is on PATH" : "");
}

/* sm_80 runs on 8.0 and later ones, sm_90a on 9.0 alone, sm_100f on 10.x from 10.0 on.
 */
static bool runs(const ft__ptx_counted *v)
{
    const char *target = ft_ptx_get(v->launch->module)->target,
               *digits = strchr(target, '_');
    const long has = lround(v->device->compute_capability * 10);
    char *suffix;
    long needs;

    if (!digits)
        return true;
    needs = strtol(digits + 1, &suffix, 10);
    if (*suffix == 'a')
        return has == needs;
    return has >= needs && (*suffix != 'f' || has / 10 == needs / 10);
}

static void print_target(const ft__ptx_counted *v)
{
    if (!runs(v))
        printf("this PTX is for %s and does not run there, on compute capability %.1f: "
               "predicted as if it did\n",
               ft_ptx_get(v->launch->module)->target, v->device->compute_capability);
}

void ft__ptx_estimate_print(const ft__ptx_counted *v)
{
    const ft_kernel_estimate *e = &v->estimate;
    const char *before = "";

    if (!v->device)
        return;
    printf("\non %s, by %s%s: %s (%s to %s), %s, bound by %s\n", v->device->title,
           *e->predictor ? "" : "its ", ft__ptx_by(e),
           ft__text_seconds(e->time.value).s, ft__text_seconds(e->time.low).s,
           ft__text_seconds(e->time.high).s, ft__text_watts(e->power.value).s,
           e->bound);
    if (e->call_s > 0)
        printf("the host needs %s for each call (%s)\n", ft__text_seconds(e->call_s).s,
               v->launch->call);
    print_target(v);
    print_occupancy(v);
    printf("each alone  ");
    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
        if (term(&e->terms, i) > 0) {
            printf("%s%s %s", before, terms[i].name,
                   ft__text_seconds(term(&e->terms, i)).s);
            before = ", ";
        }
    printf("; %.2f instructions a cycle and SM\n", e->ipc);
}

json_t *ft__ptx_ptxas_json(const ft__ptxas_entry *e)
{
    return e ? ft__json("arch:s registers:n stack_bytes:u spill_stores:u spill_loads:u "
                        "shared_bytes:u",
                        e->arch, e->registers, e->stack_bytes, e->spill_stores,
                        e->spill_loads, e->shared_bytes)
             : json_null();
}

json_t *ft__ptx_estimate_json(const ft__ptx_counted *v)
{
    const ft_kernel_estimate *e = &v->estimate;
    json_t *parts = json_object();

    if (!v->device) {
        json_decref(parts);
        return json_null();
    }
    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
        json_object_set_new(parts, terms[i].name, ft__json_real(term(&e->terms, i)));
    return ft__json("device:s by:s runs_there:b time:e(s) power:e(W) energy:e(J) "
                    "physics_s:g call_s:g ipc:g bound:s registers:u registers_from:s "
                    "ptxas:o occupancy:g resident:g waves:g terms:o",
                    v->device->name, ft__ptx_by(e), runs(v), &e->time, &e->power,
                    &e->energy, e->physics_s, e->call_s, e->ipc, e->bound, e->registers,
                    v->registers_from, ft__ptx_ptxas_json(v->ptxas), e->terms.occupancy,
                    e->terms.resident, e->terms.waves, parts);
}
