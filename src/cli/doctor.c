/* foretell doctor: what this machine can measure, and what to do where it cannot. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/session.h"
#include "foretell/engine.h"
#include "foretell/measure.h"
#include "foretell/predictor.h"
#include "foretell/store.h"
#include "report/units.h"

enum { LINE_MAX_BYTES = sizeof(((ft_error *)0)->msg) + 128, MOST_DEVICES = 8 };

struct doctor_options {
    const char *record;
    double trace_s;
    const char *power;
};

static const ft__option options[] = {
    FT__TEXT(struct doctor_options, record, "record", "DIR",
             "write down what this machine shows, to be looked at elsewhere"),
    FT__SECONDS(struct doctor_options, trace_s, "trace", "TIME",
                "with --record: how long to write down what power sources say; 10s"),
    FT__TEXT(struct doctor_options, power, "power", "SOURCES",
             "try these sources of power, for what measuring with them needs"),
    {0},
};

struct findings {
    char data_dir[FT__PATH_MAX], plugin_dir[FT__PATH_MAX], store[FT__PATH_MAX];
    char predictor[FT__PATH_MAX], store_state[LINE_MAX_BYTES];
    char predictor_state[LINE_MAX_BYTES];
    bool store_good, predictor_good;
    ft_device *device;
    ft_sensors *sensors;
    ft_meter *meter; /* NULL: no source works */
    char **engine;
    size_t n_engines;
    struct engine_verdict {
        bool usable;
        const char *version;
        ft_engine_device device[MOST_DEVICES]; /* of engines that choose one */
        uint32_t n_devices;
        char why[sizeof(((ft_error *)0)->msg)];
    } * verdict;
};

/* Whether it opens, with the library below it where that is found. */
static bool starts(struct engine_verdict *v, const ft_engine *e, const char *name,
                   ft_error *err)
{
    ft__engine_choice choice;
    ft_engine_config how = {.threads = 1, .options = choice.options};
    ft_engine_context *c;

    if (!ft__engine_choose(&choice, name) || e->open(&c, &how, err))
        return false;
    while (v->n_devices < MOST_DEVICES && e->device &&
           e->device(c, v->n_devices, &v->device[v->n_devices], NULL) == FT_OK)
        v->n_devices++;
    e->close(c);
    return true;
}

static ft_status look_at_engines(struct findings *f, ft_error *err)
{
    ft_error why = {0};

    /* No folder is no engine: a finding, not a failure. */
    if (ft_engine_names(&f->engine, &f->n_engines, f->plugin_dir, &why) == FT_ENOMEM)
        return ft_fail(err, FT_ENOMEM, 0, "engines");
    f->verdict = calloc(f->n_engines + 1, sizeof(*f->verdict));
    if (!f->verdict)
        return ft_fail(err, FT_ENOMEM, 0, "engines");
    for (size_t i = 0; i < f->n_engines; i++) {
        char path[FT__PATH_MAX + 512];
        const ft_engine *e;

        snprintf(path, sizeof(path), "%s/ft_%s.so", f->plugin_dir, f->engine[i]);
        f->verdict[i].usable = ft_engine_load(&e, path, &why) == FT_OK &&
                               starts(&f->verdict[i], e, f->engine[i], &why);
        if (f->verdict[i].usable)
            f->verdict[i].version = e->version();
        else
            snprintf(f->verdict[i].why, sizeof(f->verdict[i].why), "%s", why.msg);
    }
    return FT_OK;
}

static int count_row(void *user, const ft_row *row)
{
    (void)row;
    ++*(uint64_t *)user;
    return 0;
}

static void look_at_store(struct findings *f, const ft__cli *c)
{
    char path[FT__PATH_MAX];
    ft_store *s = NULL;
    ft_error err = {0};
    uint64_t n = 0;
    ft_status st = FT_OK;

    ft__path_store(c, path);
    if (!ft_store_shown(NULL, 0, path) && !ft__path_exists(path)) {
        snprintf(f->store_state, sizeof(f->store_state), "%s",
                 *path ? "not there yet: foretell collect --quick makes it"
                       : "HOME is not set: foretell collect --quick --db FILE");
        return;
    }
    st = ft_store_open(&s, path, FT_STORE_READ, &err);
    if (!st)
        st = ft_store_each(s, NULL, 0, count_row, &n, &err);
    ft_store_close(s);
    f->store_good = !st;
    if (st)
        snprintf(f->store_state, sizeof(f->store_state), "%s", err.msg);
    else
        snprintf(f->store_state, sizeof(f->store_state), "%s",
                 ft__text_counted(n, "measurement").s);
}

static void look_at_predictor(struct findings *f)
{
    ft_predictor *p = NULL;
    ft_predictor_info info;
    ft_error err = {0};

    if (!ft__path_exists(f->predictor)) {
        snprintf(f->predictor_state, sizeof(f->predictor_state), "%s",
                 *f->predictor
                     ? "not there yet: foretell train makes it"
                     : "HOME is not set: foretell train --db FILE --out FILE.ftp");
        return;
    }
    if (ft_predictor_load(&p, f->predictor, &err)) {
        snprintf(f->predictor_state, sizeof(f->predictor_state), "%s", err.msg);
        return;
    }
    ft_predictor_get_info(p, &info);
    f->predictor_good = strcmp(info.device, ft_device_get(f->device)->fingerprint) == 0;
    snprintf(f->predictor_state, sizeof(f->predictor_state), "%s %s on %s, %s%s",
             info.engine, info.engine_version, info.device, info.setting,
             f->predictor_good
                 ? ""
                 : ", which is not this machine: collect and train again");
    ft_predictor_free(p);
}

static ft_status look(struct findings *f, ft__cli *c, ft_error *err)
{
    ft_status st = ft_device_local(&f->device, "", err);

    ft__path_data(c, f->data_dir);
    ft__path_plugins(c, f->plugin_dir);
    ft__path_store_shown(c, f->store);
    ft__path_predictor(f->predictor, FT_DEFAULT_ENGINE, 1);
    if (!st)
        st = ft_sensors_probe(&f->sensors, "", 0.5, err);
    /* Periods come from what it watched; the sensors say why it does not open. */
    if (!st && !*f->sensors->why_none)
        (void)ft_meter_open(&f->meter, NULL, NULL);
    if (!st)
        st = look_at_engines(f, err);
    if (!st) {
        look_at_store(f, c);
        look_at_predictor(f);
    }
    return st;
}

static bool any_engine(const struct findings *f)
{
    for (size_t i = 0; i < f->n_engines; i++)
        if (f->verdict[i].usable && strcmp(f->engine[i], "fake") != 0)
            return true;
    return false;
}

enum { LINE_BYTES = 600 };

/* What watching found out about a sensor; NULL: it was not watched. */
static const ft_domain *domain_of(const ft_meter *m, const char *name)
{
    for (uint32_t i = 0; m && i < ft_meter_n_domains(m); i++)
        if (strcmp(ft_meter_domain(m, i)->name, name) == 0)
            return ft_meter_domain(m, i);
    return NULL;
}

static void add(char text[LINE_BYTES], const char *words, const char *value)
{
    size_t len = strlen(text);

    snprintf(text + len, LINE_BYTES - len, "%s%s", words, value);
}

/* ", counts joules, a new value every 100 ms, average over 25 ms, ..." */
static void describe(char text[LINE_BYTES], const ft_domain *d)
{
    if (d->counts)
        add(text, ", counts joules", "");
    if (isfinite(d->period_s))
        add(text, ", a new value every ", ft__text_seconds(d->period_s).s);
    if (isfinite(d->window_s))
        add(text, ", average over ", ft__text_seconds(d->window_s).s);
    if (d->duty < 1)
        add(text, ", looks only ", ft__text_percent(d->duty).s);
    if (d->duty < 1)
        add(text, " of the time", "");
    if (isfinite(d->least_s))
        add(text, ", loops of ", ft__text_seconds(d->least_s).s);
    if (*d->part_of)
        add(text, ", part of ", d->part_of);
    if (*d->note)
        add(text, ", ", d->note);
}

static void put_named(const char *name, const char *text)
{
    printf("  %-20s ", name);
    ft__put_line(stdout, "", text);
}

/* Every sensor with what it says now, or why not and what would help; m, which may be
 * NULL, has watched them. */
static void print_sources(const ft_sensors *sensors, const ft_meter *m)
{
    puts("\npower and energy");
    for (size_t i = 0; i < sensors->n; i++) {
        const ft_sensor *s = &sensors->sensor[i];
        const ft_domain *d = domain_of(m, s->name);
        char text[LINE_BYTES];

        if (!s->usable) {
            snprintf(text, sizeof(text), "not usable: %s", s->reason);
            put_named(s->name, text);
            if (*s->remedy)
                put_named("", s->remedy);
            continue;
        }
        snprintf(text, sizeof(text), "usable, %s now", ft__text_watts(s->power_w).s);
        if (d)
            describe(text, d);
        put_named(s->name, text);
    }
    if (!sensors->n)
        puts("  no sensor of any kind was found");
}

static json_t *sources_json(const ft_sensors *sensors, const ft_meter *m)
{
    json_t *all = json_array();

    for (size_t i = 0; i < sensors->n; i++) {
        const ft_sensor *s = &sensors->sensor[i];
        const ft_domain *d = domain_of(m, s->name);

        ft__json_append_take(
            &all, ft__json("name:s usable:b power_w:g reason:s remedy:s part_of:s "
                           "counts:b period_s:g window_s:g duty:g least_s:g note:s",
                           s->name, s->usable, s->power_w, s->reason, s->remedy,
                           s->part_of, s->counts, d ? d->period_s : NAN, s->window_s,
                           s->duty, d ? d->least_s : s->least_s, s->note));
    }
    return all;
}

static void print_machine(const struct findings *f)
{
    const ft_device_facts *d = ft_device_get(f->device);
    char text[200];

    puts("machine");
    put_named("processor", d->title);
    put_named("known as", ft_device_get(f->device)->fingerprint);
    snprintf(text, sizeof(text), "%s, %ld usable", ft__text_plain(d->cores).s,
             sysconf(_SC_NPROCESSORS_ONLN));
    put_named("cores", text);
    snprintf(text, sizeof(text), "%s base, %s boost",
             ft__text_hertz(d->base_clock_hz).s, ft__text_hertz(d->boost_clock_hz).s);
    put_named("clock", text);
    snprintf(text, sizeof(text), "L2 %s a core, L3 %s", ft__text_bytes(d->l2_bytes).s,
             ft__text_bytes(d->l3_bytes).s);
    put_named("caches", text);
    put_named("memory", ft__text_bytes(d->memory_bytes).s);
}

/* "device=0, unless another is named: Mali-G31, 2 compute units at 650 MHz, 1.9 GiB" */
static void print_device(const ft_engine_device *d, uint32_t i)
{
    char text[LINE_MAX_BYTES];

    snprintf(text, sizeof(text),
             "device=%" PRIu32 "%s: %s, %" PRIu32 " compute units at %s, %s", i,
             d->is_used ? ", unless another is named" : "", d->name, d->units,
             ft__text_hertz(d->clock_hz).s, ft__text_bytes(d->memory_bytes).s);
    put_named("", text);
}

static void print_engines(const struct findings *f)
{
    printf("\nengines in %s\n", f->plugin_dir);
    for (size_t i = 0; i < f->n_engines; i++) {
        char text[LINE_MAX_BYTES];

        if (f->verdict[i].usable)
            snprintf(text, sizeof(text), "usable, version %s", f->verdict[i].version);
        else
            snprintf(text, sizeof(text), "not usable: %s", f->verdict[i].why);
        put_named(f->engine[i], text);
        for (uint32_t k = 0; k < f->verdict[i].n_devices; k++)
            print_device(&f->verdict[i].device[k], k);
    }
    if (!f->n_engines)
        puts("  none: build with libdnnl-dev installed, or say --plugin-dir DIR");
}

static void print_text(const struct findings *f)
{
    print_machine(f);
    print_engines(f);
    print_sources(f->sensors, f->meter);
    printf("\nfiles\n");
    put_named("data", ft__path_exists(f->data_dir) ? f->data_dir
                                                   : "not found: say --data-dir DIR");
    put_named("measurements", f->store);
    put_named("", f->store_state);
    put_named("predictor", f->predictor);
    put_named("", f->predictor_state);
}

static json_t *devices_json(const struct engine_verdict *v)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < v->n_devices; i++) {
        const ft_engine_device *d = &v->device[i];

        ft__json_append_take(
            &all, ft__json("name:s used:b processor:b units:u clock_hz:g "
                           "memory_bytes:g",
                           d->name, d->is_used, d->is_host, (uint64_t)d->units,
                           d->clock_hz, d->memory_bytes));
    }
    return all;
}

static json_t *engines_json(const struct findings *f)
{
    json_t *all = json_array();

    for (size_t i = 0; i < f->n_engines; i++) {
        const struct engine_verdict *v = &f->verdict[i];

        ft__json_append_take(
            &all, ft__json("name:s usable:b version:s reason:s devices:o", f->engine[i],
                           v->usable, v->usable ? v->version : NULL, v->why,
                           devices_json(v)));
    }
    return all;
}

static json_t *file_json(const char *path, bool good, const char *state)
{
    return ft__json("path:s usable:b state:s", path, good, state);
}

static bool print_json(const struct findings *f)
{
    const ft_device_facts *d = ft_device_get(f->device);

    return ft__json_print_take(
        ft__json(
            "machine:o engines:o sensors:o data_dir:s store:o predictor:o",
            ft__json(
                "title:s fingerprint:s cores:g l2_bytes:g l3_bytes:g memory_bytes:g",
                d->title, ft_device_get(f->device)->fingerprint, d->cores, d->l2_bytes,
                d->l3_bytes, d->memory_bytes),
            engines_json(f), sources_json(f->sensors, f->meter), f->data_dir,
            file_json(f->store, f->store_good, f->store_state),
            file_json(f->predictor, f->predictor_good, f->predictor_state)),
        stdout);
}

static void wait_for(void *seconds)
{
    double s = *(double *)seconds;
    struct timespec t = {(time_t)s, (long)((s - floor(s)) * 1e9)};

    while (nanosleep(&t, &t))
        ;
}

static void print_power(const ft_domain *d, const ft_power *w, double seconds)
{
    char text[LINE_BYTES];
    ft_domain seen = *d;

    seen.period_s = isfinite(seen.period_s) ? seen.period_s : w->period_s;
    if (isnan(w->joules)) {
        snprintf(text, sizeof(text), "unavailable: %s", w->reason);
    } else {
        snprintf(text, sizeof(text), "%s +- %s, %s in %s, %llu new values",
                 ft__text_watts(w->watts).s, ft__text_watts(w->watts_error).s,
                 ft__text_joules(w->joules).s, ft__text_seconds(seconds).s,
                 (unsigned long long)w->n_fresh);
        describe(text, &seen);
    }
    put_named(d->name, text);
    if (*w->note)
        put_named("", w->note);
}

static json_t *power_json(const ft_domain *d, const ft_power *w)
{
    return ft__json(
        "name:s power_w:g power_error_w:g energy_j:g energy_error_j:g counter_j:g "
        "integral_j:g period_s:g readings:u fresh:u reason:s note:s",
        d->name, w->watts, w->watts_error, w->joules, w->joules_error, w->counter_j,
        w->integral_j, w->period_s, w->n_readings, w->n_fresh, w->reason, w->note);
}

static double seconds_for(const ft_meter *m)
{
    double seconds = 2;

    for (uint32_t i = 0; i < ft_meter_n_domains(m); i++)
        seconds = fmax(seconds, ft_meter_domain(m, i)->least_s);
    return fmin(seconds, 10);
}

/* Measures for a few seconds with these sources and prints what they read. */
static int try_sources(ft__cli *c, const char *sources)
{
    ft_meter_options how = {.sources = sources};
    json_t *all = json_array();
    bool good = true;
    double from, to, seconds;
    ft_trace t = {0};
    ft_meter *m;
    ft_status st = ft_meter_open(&m, &how, &c->err);

    if (!st) {
        seconds = seconds_for(m);
        st = ft_meter_watch(m, wait_for, &seconds, &t, &from, &to, &c->err);
    }
    for (uint32_t i = 0; !st && i < t.n_domains; i++) {
        ft_power w;

        ft_power_of(&w, &t, i, from, to);
        good = good && isfinite(w.joules);
        if (c->json)
            ft__json_append_take(&all, power_json(&t.domain[i], &w));
        else
            print_power(&t.domain[i], &w, to - from);
    }
    ft_trace_free(&t);
    ft_meter_close(m);
    if (st) {
        json_decref(all);
        return ft__cli_check(c, st);
    }
    if (c->json)
        return ft__cli_done(c, ft__json_print_take(all, stdout));
    json_decref(all);
    return good ? ft__cli_done(c, true) : FT__EXIT_NO;
}

static const double default_trace_s = 10;

static int record_machine(ft__cli *c, const char *dir, const char *root, double trace_s)
{
    ft_record_options how = {.root = root,
                             .trace_s = trace_s > 0 ? trace_s : default_trace_s};
    ft_record r;
    ft_status st = ft_machine_record(&r, dir, &how, &c->err);

    if (st)
        return ft__cli_check(c, st);
    if (c->json)
        return ft__cli_done(
            c, ft__json_print_take(ft__json("folder:s files:u unreadable:u gpus:u "
                                            "nvml_why:s readings:u trace_why:s",
                                            dir, r.files, r.unreadable, r.gpus,
                                            r.no_nvml, r.readings, r.no_trace),
                                   stdout));
    printf("%s: %s", dir, ft__text_counted(r.files, "file").s);
    if (r.unreadable)
        printf(", %" PRIu64 " that may not be read (files.txt)", r.unreadable);
    if (r.gpus)
        printf(", NVML of %s", ft__text_counted(r.gpus, "GPU").s);
    if (r.readings)
        printf(", %s of power", ft__text_counted(r.readings, "reading").s);
    putchar('\n');
    if (*r.no_nvml)
        printf("no nvml.txt: %s\n", r.no_nvml);
    if (*r.no_trace)
        printf("no trace.csv: %s\n", r.no_trace);
    return ft__cli_done(c, true);
}

static int run(ft__cli *c, const void *user)
{
    const struct doctor_options *o = user;
    struct findings *f;
    bool printed = true, able = false;
    ft_status st;
    int code;

    if (o->record ? o->power != NULL : o->trace_s > 0)
        return ft__usage(c, o->record ? "--record and --power exclude each other"
                                      : "--trace is for --record DIR");
    if (o->record)
        return record_machine(c, o->record, "", o->trace_s);
    if (o->power)
        return try_sources(c, o->power);
    f = calloc(1, sizeof(*f));
    if (!f)
        return ft__cli_done(c, false);
    st = look(f, c, &c->err);
    if (!st) {
        able = any_engine(f);
        if (c->json)
            printed = print_json(f);
        else
            print_text(f);
    }
    ft_meter_close(f->meter);
    ft_sensors_free(f->sensors);
    ft_device_free(f->device);
    free(f->engine);
    free(f->verdict);
    free(f);
    if (st)
        return ft__cli_check(c, st);
    code = ft__cli_done(c, printed);
    return code ? code : able ? FT__EXIT_GOOD : FT__EXIT_NO;
}

const ft__command ft__doctor_command = {
    .name = "doctor",
    .arguments = "",
    .summary = "list what this machine can measure, and how to enable the rest",
    .more = "Exit code 1: no engine that really measures is usable; with --power: a "
            "source that says nothing of the energy.",
    .examples = "  foretell doctor\n"
                "  foretell doctor --json\n"
                "  foretell doctor --power 'command:wall-meter --watts'\n"
                "  foretell doctor --record my-laptop\n",
    .options_size = sizeof(struct doctor_options),
    .options = options,
    .run = run,
};
