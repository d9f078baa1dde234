/* foretell place: one network over several devices, or several networks on them. */
#include "foretell/place.h"
#include "foretell/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/predict.h"
#include "report/units.h"

enum { MAX_MODELS = 64 };

struct place_options {
    ft__model_options model;
    ft_step_names step;
    ft__operating_options use;
    const char *devices, *by, *link, *latency, *link_energy, *limit;
    const char *predictor, *method, *engine;
    ft__query_options asked;
};

static const ft__option options[] = {
    FT__TEXT(struct place_options, devices, "devices", "D,D,...",
             "names that foretell devices lists; parts of one network go to them in "
             "this order"),
    FT__TEXT(struct place_options, by, "by", "WHAT",
             "the least time (the default), period (from pass to pass, one network "
             "alone) or energy"),
    FT__TEXT(struct place_options, link, "link", "RATE",
             "of one network: what joins each device to the next, such as 16GB/s or "
             "10Gbit/s"),
    FT__TEXT(struct place_options, latency, "latency", "TIME",
             "of one network: what each tensor takes beyond that; 10us"),
    FT__TEXT(struct place_options, link_energy, "link-energy", "J/B",
             "of one network: what sending takes, such as 60pJ/B; 0"),
    FT__TEXT(struct place_options, limit, "limit", "TIME",
             "of several networks: all are to be done by then"),
    FT__INPUT(struct place_options, predictor, "predictor", "P.ftp",
              "a predictor for a family of devices; the best one there is"),
    FT__TEXT(struct place_options, method, "method", "NAME",
             "physics: from data sheets alone, whatever was learned"),
    FT__TEXT(struct place_options, engine, "engine", "NAME",
             "the software that runs it, as datasets name it; the most similar"),
    FT__GROUP(struct place_options, asked, ft__query_table),
    FT__GROUP(struct place_options, use, ft__operating_table),
    FT__NETWORK_OPTIONS(struct place_options),
    {0},
};

struct place_question {
    ft__cli *c;
    const struct place_options *o;
    ft__predict_options asked; /* what predict would be asked */
    ft__predict_question q;
    ft_data *data;
    ft_place_by by;
    double rate, latency_s, j_per_byte, limit_s;
    char name[FT_PLACE_MAX_DEVICES][128];
    const char *device[FT_PLACE_MAX_DEVICES]; /* the same */
    size_t n_devices;
    ft_graph *graph[MAX_MODELS];
    size_t n_models;
};

static int read_link(struct place_question *p)
{
    p->rate = p->limit_s = INFINITY;
    p->latency_s = 1e-5;
    if (p->o->link &&
        !ft__number_from_text(
            &p->rate, p->o->link,
            "B/s=1 kB/s=1e3 MB/s=1e6 GB/s=1e9 TB/s=1e12 Mbit/s=1e6/8 Gbit/s=1e9/8"))
        return ft__usage(p->c, "--link %s: it wants a rate such as 16GB/s or 10Gbit/s",
                         p->o->link);
    if (p->o->latency && !ft__seconds_from_text(&p->latency_s, p->o->latency))
        return ft__usage(p->c, "--latency %s: it wants a time such as 10us",
                         p->o->latency);
    if (p->o->link_energy && !ft__number_from_text(&p->j_per_byte, p->o->link_energy,
                                                   "J/B=1 pJ/B=1e-12 nJ/B=1e-9"))
        return ft__usage(p->c,
                         "--link-energy %s: it wants joules a byte, such as 60pJ/B",
                         p->o->link_energy);
    if (p->o->limit && !ft__seconds_from_text(&p->limit_s, p->o->limit))
        return ft__usage(p->c, "--limit %s: it wants a time such as 20ms", p->o->limit);
    return FT__EXIT_GOOD;
}

static int check(const struct place_question *p)
{
    bool several = p->c->args.n > 1;
    const char *of_one = p->o->link          ? "link"
                         : p->o->latency     ? "latency"
                         : p->o->link_energy ? "link-energy"
                                             : NULL;

    if (!p->o->devices)
        return ft__usage(
            p->c, "--devices is missing: two or more that foretell devices lists");
    if (several && of_one)
        return ft__usage(p->c, "--%s is for one network that is cut; several run whole",
                         of_one);
    if (several && p->by == FT_PLACE_BY_PERIOD)
        return ft__usage(p->c, "--by period is for one network");
    if (!several && !p->o->link)
        return ft__usage(p->c, "one network is cut over the devices: --link says what "
                               "joins them, such as --link 16GB/s");
    if (!several && p->o->limit)
        return ft__usage(p->c, "--limit is for several networks");
    return FT__EXIT_GOOD;
}

static int read_options(struct place_question *p)
{
    int of = FT_PLACE_BY_TIME, code = read_link(p);

    if (!code && p->o->by)
        code = ft__name_parse(p->c, &of, "by", p->o->by, FT_NAMES_PLACE_BY);
    p->by = (ft_place_by)of;
    if (!code)
        code = check(p);
    p->asked = (ft__predict_options){.model = p->o->model,
                                     .predictor = p->o->predictor,
                                     .method = p->o->method,
                                     .engine = p->o->engine,
                                     .asked = p->o->asked,
                                     .step = p->o->step,
                                     .use = p->o->use};
    p->q = (ft__predict_question){.c = p->c, .o = &p->asked};
    if (!code)
        code = ft__predict_read(&p->q);
    if (!code && p->o->method && strcmp(p->o->method, "physics") != 0)
        code = ft__usage(p->c, "--method is physics, or left out");
    if (!code)
        code = ft__launch_time_read(p->c, &p->q.query, NULL, p->o->asked.launch_time);
    return code ? code : ft__data_open(p->c, &p->data);
}

static int read_models(struct place_question *p)
{
    int code = FT__EXIT_GOOD;

    for (; p->n_models < p->c->args.n && !code; p->n_models++)
        code = ft__model_read(p->c, &p->graph[p->n_models], p->c->args.v[p->n_models],
                              &p->o->model);
    return code;
}

static int find_devices(struct place_question *p)
{
    const char *list = p->o->devices;
    char name[128];
    int code = FT__EXIT_GOOD;

    while (!code && ft__word_next(name, sizeof(name), &list)) {
        const size_t i = p->n_devices;

        if (!*name || i == FT_PLACE_MAX_DEVICES)
            return ft__usage(
                p->c, "--devices wants 1 to %d names joined by commas, not \"%s\"",
                FT_PLACE_MAX_DEVICES, p->o->devices);
        if (strcmp(name, "local") == 0)
            return ft__usage(p->c, "local: networks are placed by families of devices "
                                   "and data sheets, and it has neither");
        memcpy(p->name[i], name, sizeof(name));
        p->device[i] = p->name[i];
        p->n_devices++;
        code = ft__device_resolve(p->c, p->name[i], sizeof(p->name[i]), true);
    }
    return code;
}

static json_t *stage_json(const ft_split_answer *a, size_t d)
{
    const ft_stage *x = &a->best.stage[d];
    const ft_graph *g = a->graph;
    bool any = x->first < x->end;

    return ft__json("device:s nodes:n from:s to:s time_s:g energy_j:g memory_bytes:g "
                    "sent_tensors:n sent_bytes:g sent_s:g",
                    a->device[d], x->end - x->first,
                    any ? g->node[x->first].name : NULL,
                    any ? g->node[x->end - 1].name : NULL, x->time_s, x->energy_j,
                    x->memory_bytes, x->n_sent, x->sent_bytes, x->sent_s);
}

static bool print_split_json(const struct place_question *p, const ft_split_answer *a)
{
    const ft_split *s = &a->best, *alone = a->alone;
    json_t *stages = json_array(), *whole = json_array();

    for (size_t d = 0; d < p->n_devices; d++) {
        ft__json_append_take(&stages, stage_json(a, d));
        ft__json_append_take(&whole, ft__json("device:s time_s:g energy_j:g fits:b",
                                              a->device[d], alone[d].time_s,
                                              alone[d].energy_j, alone[d].fits));
    }
    return ft__cli_json_take(
        p->c, ft__json("model:s by:s time_s:g period_s:g energy_j:g parts:o alone:o",
                       a->graph->name, ft_name(FT_NAMES_PLACE_BY, p->by), s->time_s,
                       s->period_s, s->energy_j, stages, whole));
}

static bool print_parts(const ft_split_answer *a)
{
    ft__table *t = ft__table_new(
        "device<|nodes>n|from<|to<|time>s|energy>J|memory>B|sends>B|in>s");

    for (size_t d = 0; d < a->n_devices; d++) {
        const ft_stage *x = &a->best.stage[d];
        bool any = x->first < x->end;

        ft__table_row(t, a->device[d], x->end - x->first,
                      any ? a->graph->node[x->first].name : "-",
                      any ? a->graph->node[x->end - 1].name : "-",
                      any ? x->time_s : NAN, any ? x->energy_j : NAN,
                      any ? x->memory_bytes : NAN, x->n_sent ? x->sent_bytes : NAN,
                      x->n_sent ? x->sent_s : NAN);
    }
    return ft__table_print_take(t, stdout);
}

static ft__formatted energy_text(double j)
{
    return isnan(j) ? (ft__formatted){"energy not known"} : ft__text_joules(j);
}

static bool print_split(const struct place_question *p, const ft_split_answer *a)
{
    const ft_split *s = &a->best, *alone = a->alone;
    const ft_graph *g = a->graph;
    static const char *const of[] = {"time of one pass", "time from pass to pass",
                                     "energy of one pass"};
    bool printed;

    printf("%s: the least %s, of all ways to cut its %u nodes\n\n", g->name, of[p->by],
           g->n_nodes);
    printed = print_parts(a);
    printf("\none pass takes %s and %s; passes that follow each other take %s each\n",
           ft__text_seconds(s->time_s).s, energy_text(s->energy_j).s,
           ft__text_seconds(s->period_s).s);
    for (size_t d = 0; d < p->n_devices; d++)
        printf("alone on %s: %s, %s%s\n", a->device[d],
               ft__text_seconds(alone[d].time_s).s, energy_text(alone[d].energy_j).s,
               alone[d].fits ? "" : "; it does not fit there");
    return printed;
}

static int split(struct place_question *p)
{
    const ft_place_options how = {.device = p->device,
                                  .n_devices = p->n_devices,
                                  .by = p->by,
                                  .link_bytes_per_s = p->rate,
                                  .link_latency_s = p->latency_s,
                                  .link_j_per_byte = p->j_per_byte};
    ft_query query = p->q.query;
    ft_split_answer *a;
    ft_status st;
    int code;

    query.graph = p->graph[0];
    query.setting = p->q.setting;
    st = ft_place_split(&a, p->data, &query, &how, &p->c->err);
    if (st)
        return ft__cli_check_asked(p->c, st);
    ft__warn_damaged(p->c, a->warning, a->n_warnings);
    if (*a->why)
        code = ft__cli_exit(p->c, FT__EXIT_NO, "%s", a->why);
    else
        code =
            ft__cli_done(p->c, p->c->json ? print_split_json(p, a) : print_split(p, a));
    ft_split_free(a);
    return code;
}

struct place_estimates {
    double time_s[MAX_MODELS * FT_PLACE_MAX_DEVICES];
    double energy_j[MAX_MODELS * FT_PLACE_MAX_DEVICES];
    double memory_bytes[MAX_MODELS * FT_PLACE_MAX_DEVICES];
    double limit_bytes[FT_PLACE_MAX_DEVICES];
    /* Why there is no prediction, or NULL. */
    char *why_not[MAX_MODELS * FT_PLACE_MAX_DEVICES];
};

static ft_status estimate(struct place_estimates *e, struct place_question *p, size_t i,
                          size_t d, ft_error *err)
{
    const size_t at = i * p->n_devices + d;
    ft_query query = p->q.query;
    ft_answer *x;
    ft_status st;

    e->time_s[at] = e->energy_j[at] = e->memory_bytes[at] = NAN;
    query.graph = p->graph[i];
    query.device = p->device[d];
    query.setting = p->q.setting;
    query.totals = 1;
    st = ft_query_ask(&x, p->data, &query, err);
    if (st)
        return st;
    e->time_s[at] = x->time.value;
    e->energy_j[at] = x->energy.value;
    e->memory_bytes[at] = x->memory.value;
    e->limit_bytes[d] = x->limit_bytes;
    ft__warn_damaged(p->c, x->warning, x->n_warnings);
    ft_answer_free(x);
    return FT_OK;
}

/* A network stays away from devices without a prediction for it; it needs one that has
 * one. */
static int estimate_on_all(struct place_estimates *e, struct place_question *p,
                           size_t i)
{
    bool any = false;
    ft_status st = FT_OK;

    for (size_t d = 0; d < p->n_devices; d++) {
        st = estimate(e, p, i, d, &p->c->err);
        if (st &&
            (st != FT_ENOTFOUND || !ft__device_is_there(p->c, p->device[d], NULL)))
            return ft__cli_check_asked(p->c, st);
        any = any || !st;
        if (st && !(e->why_not[i * p->n_devices + d] = strdup(p->c->err.msg)))
            return ft__cli_done(p->c, false);
    }
    return any ? FT__EXIT_GOOD : ft__cli_check_asked(p->c, st);
}

static int estimate_all(struct place_question *p, struct place_estimates *e)
{
    int code = FT__EXIT_GOOD;

    for (size_t i = 0; i < p->n_models && !code; i++)
        code = estimate_on_all(e, p, i);
    return code;
}

static void print_left_out(FILE *fp, const struct place_question *p,
                           const struct place_estimates *e)
{
    for (size_t i = 0; i < p->n_models; i++)
        for (size_t d = 0; d < p->n_devices; d++)
            if (e->why_not[i * p->n_devices + d])
                fprintf(fp, "left out for %s: %s\n", p->graph[i]->name,
                        e->why_not[i * p->n_devices + d]);
}

static json_t *left_out_json(const struct place_question *p,
                             const struct place_estimates *e)
{
    json_t *all = json_array();

    for (size_t i = 0; i < p->n_models; i++)
        for (size_t d = 0; d < p->n_devices; d++)
            if (e->why_not[i * p->n_devices + d])
                ft__json_append_take(&all, ft__json("network:s device:s why:s",
                                                    p->graph[i]->name, p->name[d],
                                                    e->why_not[i * p->n_devices + d]));
    return all;
}

static bool print_assignment(const struct place_question *p,
                             const struct place_estimates *e, const ft_assignment *a)
{
    ft__table *t = ft__table_new("network<|device<|time>s|energy>J|memory>B");
    bool printed;

    printf("%s on %s: the least %s\n\n", ft__text_counted(p->n_models, "network").s,
           ft__text_counted(p->n_devices, "device").s,
           p->by == FT_PLACE_BY_ENERGY ? "energy" : "time until all are done");
    for (size_t i = 0; i < p->n_models; i++) {
        size_t at = i * p->n_devices + a->device[i];

        ft__table_row(t, p->graph[i]->name, p->name[a->device[i]], e->time_s[at],
                      e->energy_j[at], e->memory_bytes[at]);
    }
    printed = ft__table_print_take(t, stdout);
    printf("\nall are done after %s%s%s; ", ft__text_seconds(a->time_s).s,
           isnan(a->energy_j) ? ", " : " and have taken ", energy_text(a->energy_j).s);
    if (a->exact)
        puts("no other way is better");
    else
        printf("the search was cut short: no way is below %s\n",
               p->by == FT_PLACE_BY_ENERGY ? ft__text_joules(a->bound).s
                                           : ft__text_seconds(a->bound).s);
    print_left_out(stdout, p, e);
    return printed;
}

static bool print_assignment_json(const struct place_question *p,
                                  const struct place_estimates *e,
                                  const ft_assignment *a)
{
    json_t *all = json_array();

    for (size_t i = 0; i < p->n_models; i++) {
        size_t at = i * p->n_devices + a->device[i];

        ft__json_append_take(
            &all, ft__json("network:s device:s time_s:g energy_j:g memory_bytes:g",
                           p->graph[i]->name, p->name[a->device[i]], e->time_s[at],
                           e->energy_j[at], e->memory_bytes[at]));
    }
    return ft__cli_json_take(
        p->c, ft__json("by:s time_s:g energy_j:g exact:b bound:g networks:o left_out:o",
                       ft_name(FT_NAMES_PLACE_BY, p->by), a->time_s, a->energy_j,
                       a->exact, a->bound, all, left_out_json(p, e)));
}

static int assign(struct place_question *p)
{
    struct place_estimates *e = calloc(1, sizeof(*e));
    ft_assign_case c = {
        .networks = p->n_models, .devices = p->n_devices, .limit_s = p->limit_s};
    ft_assignment a = {0};
    ft_status st;
    int code;

    for (size_t d = 0; e && d < p->n_devices; d++)
        e->limit_bytes[d] = NAN;
    code = e ? estimate_all(p, e) : ft__cli_done(p->c, false);
    if (!code) {
        c.time_s = e->time_s;
        c.energy_j = e->energy_j;
        c.memory_bytes = e->memory_bytes;
        c.limit_bytes = e->limit_bytes;
        st = ft_place_assign(&a, &c, p->by, &p->c->err);
        if (st == FT_ENOTFOUND && !p->c->reply)
            print_left_out(stderr, p, e);
        code = st == FT_ENOTFOUND ? ft__cli_exit(p->c, FT__EXIT_NO, "%s", p->c->err.msg)
               : st               ? ft__cli_check_asked(p->c, st)
                                  : FT__EXIT_GOOD;
    }
    if (!code)
        code = ft__cli_done(p->c, p->c->json ? print_assignment_json(p, e, &a)
                                             : print_assignment(p, e, &a));
    ft_assignment_free(&a);
    for (size_t k = 0; e && k < p->n_models * p->n_devices; k++)
        free(e->why_not[k]);
    free(e);
    return code;
}

static int run(ft__cli *c, const void *user)
{
    struct place_question *p = calloc(1, sizeof(*p));
    int code;

    if (!p)
        return ft__cli_done(c, false);
    p->c = c;
    p->o = user;
    code = read_options(p);
    if (!code)
        code = read_models(p);
    if (!code)
        code = find_devices(p);
    if (!code)
        code = p->n_models > 1 ? assign(p) : split(p);
    for (size_t i = 0; i < p->n_models; i++)
        ft__model_close(c, p->graph[i]);
    ft__predict_end(&p->q);
    ft__data_close(c, p->data);
    free(p);
    return code;
}

const ft__command ft__place_command = {
    .name = "place",
    .arguments = "MODEL...",
    .summary = "split a network over devices, or assign several networks to them",
    .more =
        "One model is split into consecutive parts, one for each of --devices in\n"
        "their order, joined by --link; tensors that later parts read are sent. The\n"
        "split is the best of all. Several models are assigned whole: each device "
        "runs\n"
        "its own in sequence and holds them all in memory. Branch and bound; the\n"
        "answer says whether it is proven optimal. Exit code 1: nothing fits.",
    .examples = "  foretell place vgg16.onnx --devices jetson-tx2,a30 --link 1Gbit/s "
                "--latency 1ms\n"
                "  foretell place resnet50.onnx vit.onnx vgg16.onnx --devices l4,a30 "
                "--by energy \\\n"
                "                 --limit 20ms\n",
    .least_args = 1,
    .most_args = MAX_MODELS,
    .options_size = sizeof(struct place_options),
    .options = options,
    .run = run,
};
