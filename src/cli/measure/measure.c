/* foretell measure: a whole network, really run. */
#include <inttypes.h>
#include <math.h>

#include "cli/measure/commands.h"
#include "cli/session.h"
#include "foretell/query.h"
#include "report/units.h"

struct measure_options {
    ft__model_options model;
    const char *engine;
    uint64_t threads;
    double time_s;
    const char *predictor, *html;
    ft_step_names step;
    ft__clock_steps_options sweep;
    ft__commands_options commands;
};

static const ft__option of_models[] = {
    FT__ENGINE_OPTIONS(struct measure_options, "what runs it; ",
                       "threads it may use; "),
    FT__INPUT(struct measure_options, predictor, "predictor", "P.ftp",
              "show what this one predicts beside; the one train made"),
    FT__GROUP(struct measure_options, sweep, ft__clock_steps_table),
    FT__NETWORK_OPTIONS(struct measure_options),
    {0},
};
static const ft__option of_commands[] = {
    FT__GROUP(struct measure_options, commands, ft__commands_table),
    {0},
};
static const ft__option options[] = {
    FT__SECONDS(struct measure_options, time_s, "time", "TIME",
                "how long to measure; 2s a model, 3s a command unless said otherwise"),
    FT__HTML_OPTION(struct measure_options),
    FT__GROUP(struct measure_options, commands, ft__power_table),
    {.type = FT__OPT_GROUP, .group = of_models},
    {.type = FT__OPT_GROUP, .group = of_commands},
    {0},
};

/* One network's truth, and what was predicted of it where there is a predictor. */
struct network_result {
    const char *model;
    const char *step; /* what was run: "one forward pass" */
    bool training;
    int64_t batch; /* 0: there is none */
    const ft_session *session;
    ft_monitor *monitor;
    ft_meter *meter; /* or NULL */
    ft_network_timing t;
    double least_s; /* of all batches */
    double most_s;
    ft_error no_power; /* why there is no energy */
    ft_answer *said;   /* what was predicted of it; or NULL */
};

/* Items a second; NaN: there is no batch. */
static double rate_of(const struct network_result *r)
{
    return r->batch > 0 ? (double)r->batch / r->t.time.value : NAN;
}

/* Memory as predict counts it. */
static double memory_of(const ft_network_timing *t)
{
    return (double)(t->weight_bytes + t->gradient_bytes + t->state_bytes +
                    t->activation_bytes + t->workspace_bytes + t->context_bytes);
}

static void find_range(struct network_result *r)
{
    r->least_s = INFINITY;
    r->most_s = 0;
    for (size_t i = 0; i < r->t.n_readings; i++) {
        double s = r->t.readings[i].value / (double)r->t.readings[i].iterations;

        r->least_s = fmin(r->least_s, s);
        r->most_s = fmax(r->most_s, s);
    }
}

static void print_disturbances(const ft_network_timing *t)
{
    char text[256];

    if (t->redone)
        printf("rounds           %u, and %u that were disturbed and redone\n",
               t->rounds, t->redone);
    if (t->outliers)
        printf("outliers         %u of %zu batches lie far from the others of their "
               "round\n",
               t->outliers, t->n_readings);
    if (t->conditions.marks && ft_conditions_print(&t->conditions, text, sizeof(text)))
        printf("conditions       %s\n", text);
}

static void print_domain(const char *title, const ft_energy *e)
{
    if (e->reason[0]) {
        printf("%-16s unavailable: %s\n", title, e->reason);
        return;
    }
    printf("%-16s %s +- %s, at %s +- %s\n", title, ft__text_joules(e->energy.value).s,
           ft__text_joules(e->energy.error).s, ft__text_watts(e->power.value).s,
           ft__text_watts(e->power.error).s);
    if (!isnan(e->counter_j) && !isnan(e->integral_j))
        printf("%16s by its counter %s, by its watts %s\n", "",
               ft__text_joules(e->counter_j).s, ft__text_joules(e->integral_j).s);
}

static void print_energy(const ft_network_timing *t, const char *why_not)
{
    if (!t->n_energy) {
        printf("energy           unavailable: ");
        ft__put_clean(stdout, why_not);
        putchar('\n');
        return;
    }
    /* The sum of one is that one. */
    if (t->n_energy != 2)
        print_domain("energy", &t->energy[0]);
    for (uint32_t i = 1; i < t->n_energy; i++)
        print_domain(t->n_energy == 2 ? "energy" : t->energy[i].domain, &t->energy[i]);
}

static void print_measured(const struct network_result *r)
{
    const ft_measurement *m = &r->t.time;

    printf("%s: measured with %s %s, %s, on this machine\n", r->model,
           ft_session_get(r->session)->engine,
           ft_session_get(r->session)->engine_version,
           ft_session_get(r->session)->setting);
    if (r->training)
        printf("%s\n", r->step);
    printf("\ntime of a %s   %s +- %s (median, MAD)\n", r->training ? "step" : "pass",
           ft__text_seconds(m->value).s, ft__text_seconds(m->mad).s);
    printf("                 mean %s, std %s, %s .. %s\n", ft__text_seconds(m->mean).s,
           ft__text_seconds(m->std).s, ft__text_seconds(r->least_s).s,
           ft__text_seconds(r->most_s).s);
    printf("                 %" PRIu64 " %s in %" PRIu64 " batches\n", m->iterations,
           r->training ? "steps" : "passes", m->n);
    if (r->batch > 1)
        printf("rate             %.4g items/s at batch %" PRId64 "\n", rate_of(r),
               r->batch);
    printf("memory           %s\n", ft__text_bytes(memory_of(&r->t)).s);
    printf("                 weights %s, ",
           ft__text_bytes((double)r->t.weight_bytes).s);
    if (r->training)
        printf("gradients %s, optimizer %s, ",
               ft__text_bytes((double)r->t.gradient_bytes).s,
               ft__text_bytes((double)r->t.state_bytes).s);
    printf("activations %s, workspace %s, process before loading %s\n",
           ft__text_bytes((double)r->t.activation_bytes).s,
           ft__text_bytes((double)r->t.workspace_bytes).s,
           ft__text_bytes((double)r->t.context_bytes).s);
    printf("peak of process  %s\n", ft__text_bytes((double)r->t.peak_process_bytes).s);
    print_energy(&r->t, r->no_power.msg);
    print_disturbances(&r->t);
}

static void compared_row(ft__table *t, const char *name, const ft_estimate *e,
                         double measured, const char *unit)
{
    ft__table_row(t, name, ft__text_in(unit, e->value).s, ft__text_in(unit, e->low).s,
                  ft__text_in(unit, e->high).s, ft__text_in(unit, measured).s,
                  e->value / measured);
}

static bool print_compared(const struct network_result *r)
{
    ft__table *t = ft__table_new("|predicted>|low>|high>|measured>|"
                                 "predicted/measured>.3");

    compared_row(t, "time", &r->said->time, r->t.time.value, "s");
    compared_row(t, "memory (peak of process)", &r->said->memory,
                 (double)r->t.peak_process_bytes, "B");
    putchar('\n');
    return ft__table_print_take(t, stdout);
}

static void print_no_predictor(const ft__cli *c, const struct network_result *r,
                               const struct measure_options *o)
{
    puts("\nno predictor for this engine and these threads yet, so nothing to compare "
         "with; two commands\nmake one:");
    fputs("  foretell collect --quick", stdout);
    if (o->engine)
        ft__put_word(stdout, " --engine ", o->engine);
    if (o->threads > 1)
        printf(" --threads %" PRIu64, o->threads);
    if (o->sweep.clocks)
        ft__put_word(stdout, " --clocks ", o->sweep.clocks);
    if (o->sweep.memory_clock)
        ft__put_word(stdout, " --memory-clock ", o->sweep.memory_clock);
    if (o->sweep.power_cap)
        ft__put_word(stdout, " --power-cap ", o->sweep.power_cap);
    fputs("\n  ", stdout);
    ft__print_train(c, r->session);
    putchar('\n');
}

static bool print_text(const ft__cli *c, const struct network_result *r,
                       const struct measure_options *o)
{
    print_measured(r);
    if (r->said)
        return print_compared(r);
    print_no_predictor(c, r, o);
    return true;
}

static json_t *readings_json(const struct network_result *r)
{
    json_t *all = json_array();

    for (size_t i = 0; i < r->t.n_readings; i++) {
        const ft_reading *x = &r->t.readings[i];

        ft__json_append_take(
            &all, ft__json("value:g iterations:u start_s:g round:n marks:n", x->value,
                           x->iterations, x->start_s, x->round, x->marks));
    }
    return all;
}

static json_t *time_json(const struct network_result *r)
{
    const ft_measurement *m = &r->t.time;

    return ft__json(
        "value:g unit:s error:g mad:g mean:g std:g min:g max:g n:u iterations:u",
        m->value, "s", m->error, m->mad, m->mean, m->std, r->least_s, r->most_s, m->n,
        m->iterations);
}

static json_t *memory_json(const struct network_result *r)
{
    return ft__json("total:g weights:u gradients:u optimizer:u activations:u "
                    "workspace:u context:u process_peak:u unit:s",
                    memory_of(&r->t), r->t.weight_bytes, r->t.gradient_bytes,
                    r->t.state_bytes, r->t.activation_bytes, r->t.workspace_bytes,
                    r->t.context_bytes, r->t.peak_process_bytes, "B");
}

static json_t *predicted_json(const struct network_result *r)
{
    if (!r->said)
        return json_null();
    return ft__json("time:e(s) memory:e(B) time_ratio:g memory_ratio:g", &r->said->time,
                    &r->said->memory, r->said->time.value / r->t.time.value,
                    r->said->memory.value / (double)r->t.peak_process_bytes);
}

static json_t *power_readings_json(const ft_energy *e)
{
    json_t *all = json_array();

    for (size_t i = 0; i < e->n_readings; i++)
        ft__json_append_take(&all,
                             ft__json("at_s:g watts:g joules:g", e->readings[i].start_s,
                                      e->readings[i].value, e->counted[i].value));
    return all;
}

static json_t *domain_json(const ft_energy *e)
{
    return ft__json(
        "domain:s energy_j:g energy_error_j:g power_w:g power_error_w:g counter_j:g "
        "integral_j:g iterations:u seconds:g unavailable:z readings:o",
        e->domain, e->energy.value, e->energy.error, e->power.value, e->power.error,
        e->counter_j, e->integral_j, e->iterations, e->seconds, e->reason,
        power_readings_json(e));
}

static json_t *energy_json(const ft_network_timing *t, const char *why_not)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < t->n_energy; i++)
        ft__json_append_take(&all, domain_json(&t->energy[i]));
    return ft__json("domains:o unavailable:o", all,
                    t->n_energy ? json_null() : ft__json_text(why_not));
}

static json_t *loop_json(const struct network_result *r)
{
    const ft_network_timing *t = &r->t;

    return ft__json(
        "energy:o launch_s:g calibration_s:g rounds:n redone:n outliers:n conditions:o",
        energy_json(t, r->no_power.msg), t->launch.value, t->calibration_s, t->rounds,
        t->redone, t->outliers, ft__conditions_json(&t->conditions));
}

static json_t *result_json(const struct network_result *r)
{
    const ft_session *s = r->session;

    return ft__json_join_take(
        ft__json("model:s mode:s device:s engine:s engine_version:s setting:s "
                 "time:o items_per_s:g memory:o predicted:o readings:o",
                 r->model, r->training ? "training" : "inference",
                 ft_session_get(s)->device, ft_session_get(s)->engine,
                 ft_session_get(s)->engine_version, ft_session_get(s)->setting,
                 time_json(r), rate_of(r), memory_json(r), predicted_json(r),
                 readings_json(r)),
        loop_json(r));
}

static const char reading_fields[] = "value_s:g iterations:u start_s:g";

static bool print_csv(const struct network_result *r)
{
    ft__csv_head(stdout, reading_fields);
    for (size_t i = 0; i < r->t.n_readings; i++)
        ft__csv_row(stdout, reading_fields, r->t.readings[i].value,
                    r->t.readings[i].iterations, r->t.readings[i].start_s);
    return true;
}

static int predict(ft__cli *c, struct network_result *r, const ft_graph *g,
                   const struct measure_options *o, const char *path)
{
    ft_query q = FT_QUERY_INIT;
    ft_data *data;
    int code = ft__data_open(c, &data);

    q.graph = g;
    q.mode = o->step.mode;
    q.optimizer = o->step.optimizer;
    q.loss = o->step.loss;
    q.loss_on = o->step.loss_on;
    q.engine = ft_session_get(r->session)->engine;
    q.predictor = path;
    q.totals = 1;
    if (!code)
        code = ft__cli_check(c, ft_query_ask(&r->said, data, &q, &c->err));
    ft_data_close(data);
    return code;
}

/* g: as it is in the file. */
static ft_status run_network(struct network_result *r, ft_session *s, const ft_graph *g,
                             const char *path, const ft_step *step,
                             const struct measure_options *o, ft_error *err)
{
    ft_measure_options how = {.min_time_s = o->time_s > 0 ? o->time_s : 2,
                              .monitor = r->monitor,
                              .meter = r->meter,
                              .power_time_s = o->commands.power_time_s,
                              .power_error = ft__power_error_of(&o->commands)};
    ft_graph *made;
    ft_status st = ft_step_make(&made, g, step, err);

    if (st)
        return st;
    r->training = (made ? made : g)->mode == FT_MODE_TRAINING;
    r->batch = g->batch;
    r->step = ft_step_name(step, made ? made : g);
    if (!r->training && ft_session_runs_whole(s, path) && o->model.dtype)
        st = ft_fail(err, FT_EINVAL, 0,
                     "%s runs the file as it is: instead of --dtype, export it in %s",
                     ft_session_get(s)->engine, o->model.dtype);
    else if (!r->training && ft_session_runs_whole(s, path))
        st = ft_measure_model(&r->t, s, path, g, &how, err);
    else
        st = ft_measure_network(&r->t, s, made ? made : g, &how, err);
    ft_graph_free(made);
    return st;
}

static int measure(ft__cli *c, struct network_result *r, ft_session *s,
                   const ft_graph *g, const ft_step *step,
                   const struct measure_options *o)
{
    char predictor[FT__PATH_MAX];
    bool printed;
    int code = FT__EXIT_GOOD;
    ft_status st = run_network(r, s, g, c->args.v[0], step, o, &c->err);

    if (st)
        return ft__cli_check_asked(c, st);
    ft__path_predictor(predictor, ft_session_get(s)->engine, o->threads);
    /* Not before: what a predictor takes is not part of the process measured. */
    if (o->predictor || ft__path_exists(predictor))
        code = predict(c, r, g, o, o->predictor ? o->predictor : predictor);
    find_range(r);
    printed = code      ? true
              : c->json ? ft__json_print_take(result_json(r), stdout)
              : c->csv  ? print_csv(r)
                        : print_text(c, r, o);
    if (!code)
        code = ft__cli_done(c, printed);
    if (!code && o->html)
        code = ft__record_save_take(c, o->html, result_json(r));
    ft_network_timing_free(&r->t);
    return code;
}

static int measure_at(ft__cli *c, const ft_graph *g, const ft_step *step,
                      const struct measure_options *o, ft__clock_steps *w, size_t i)
{
    struct network_result r = {.model = g->name};
    ft_session *s;
    int code = ft__session_open(c, &s, o->engine, o->threads, w, i);

    if (code)
        return code;
    r.session = s;
    /* Short of memory nothing watches the device. */
    (void)ft_monitor_open(&r.monitor, w->device, &w->machine.how, NULL);
    if (o->commands.no_power)
        ft_fail(&r.no_power, FT_EUNSUPPORTED, 0, "--no-power was given");
    else
        code = ft__power_open(c, &r.meter, o->commands.power, &r.no_power);
    ft__clock_steps_part(c, w, i);
    if (!code)
        code = measure(c, &r, s, g, step, o);
    ft_answer_free(r.said);
    ft_monitor_close(r.monitor);
    ft_meter_close(r.meter);
    ft_session_close(s);
    return code;
}

static int measure_model(ft__cli *c, const struct measure_options *o)
{
    ft_graph *g = NULL;
    ft__clock_steps w;
    ft_step step;
    int code = ft__step_parse(c, &step, &o->step);

    if (!code)
        code = ft__clock_steps_parse(c, &w, &o->sweep, o->engine);
    if (!code && w.n > 1 && (c->csv || o->html))
        code = ft__usage(c, "--%s is for one clock; --json is for several",
                         c->csv ? "csv" : "html");
    if (!code)
        code = ft__model_read(c, &g, c->args.v[0], &o->model);
    for (size_t i = 0; !code && i < w.n; i++)
        code = measure_at(c, g, &step, o, &w, i);
    if (!code)
        ft__clock_steps_part(c, &w, w.n);
    ft_graph_free(g);
    return code;
}

static int check(ft__cli *c, const struct measure_options *o, bool commands)
{
    const ft__option *alien = ft__option_given(commands ? of_models : of_commands, o);
    double error = ft__power_error_of(&o->commands);

    if (commands && (o->sweep.clocks || o->sweep.memory_clock || o->sweep.power_cap))
        return ft__usage(c, "for commands: foretell clocks set ... -- foretell "
                            "measure -- COMMAND");
    if (alien)
        return ft__usage(c, "--%s is for %s", alien->name,
                         commands ? "models, not for commands"
                                  : "commands, not for a model");
    if (o->commands.power_error && !(error > 0 && error < 1))
        return ft__usage(c, "--power-error %s: a share like 2%% or 0.02",
                         o->commands.power_error);
    if (o->commands.no_power && o->commands.power)
        return ft__usage(c, "--power and --no-power exclude each other");
    return 0;
}

static int run(ft__cli *c, const void *user)
{
    const struct measure_options *o = user;
    bool commands = c->n_rest || o->commands.shells.n;
    int code;

    if (!commands && c->args.n == 0)
        return ft__usage(c, "MODEL or -- COMMAND is missing");
    code = check(c, o, commands);
    if (code)
        return code;
    return commands ? ft__measure_commands(c, &o->commands, o->time_s, o->html)
                    : measure_model(c, o);
}

const ft__command ft__measure_command = {
    .name = "measure",
    .arguments = "MODEL | -- COMMAND ... [-- COMMAND ...]",
    .summary =
        "run a whole model, or any command, on this machine: time, memory, energy",
    .more = "Of a model weights are random, and inputs too; beside it stands what the "
            "predictor says.\nCommands are run directly, in turns; --shell takes what "
            "needs a shell.",
    .examples =
        "  foretell measure resnet50.onnx\n"
        "  foretell measure bert.onnx --dim seq=128 --threads 4 --time 10s\n"
        "  foretell measure resnet18.pt2 --engine torch --mode training --optimizer "
        "adam\n"
        "  foretell measure resnet50.onnx --engine onnxruntime\n"
        "  foretell measure resnet50.onnx --json > run.json\n"
        "  foretell measure -- gzip -k -f big.txt -- zstd -q -f big.txt\n"
        "  foretell measure --list n=1,2,4 -- make -B -j{n}\n"
        "  foretell measure --warmup 3 --prepare 'sync' --shell 'sort f | uniq'\n",
    .most_args = 1,
    .more_args = "a program stands behind --: foretell measure -- PROGRAM ...",
    .has_csv = true,
    .takes_commands = true,
    .options_size = sizeof(struct measure_options),
    .options = options,
    .run = run,
};
