/* foretell doctor: sources of power and energy, and a try of one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "report/units.h"

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

void ft__sources_line(const char *name, const char *text)
{
    printf("  %-20s ", name);
    ft__put_line(stdout, "", text);
}

void ft__sources_print(const ft_sensors *sensors, const ft_meter *m)
{
    puts("\npower and energy");
    for (size_t i = 0; i < sensors->n; i++) {
        const ft_sensor *s = &sensors->sensor[i];
        const ft_domain *d = domain_of(m, s->name);
        char text[LINE_BYTES];

        if (!s->usable) {
            snprintf(text, sizeof(text), "not usable: %s", s->reason);
            ft__sources_line(s->name, text);
            if (*s->remedy)
                ft__sources_line("", s->remedy);
            continue;
        }
        snprintf(text, sizeof(text), "usable, %s now", ft__text_watts(s->power_w).s);
        if (d)
            describe(text, d);
        ft__sources_line(s->name, text);
    }
    if (!sensors->n)
        puts("  no sensor of any kind was found");
}

json_t *ft__sources_json(const ft_sensors *sensors, const ft_meter *m)
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

/* ---- a try ---- */

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
    ft__sources_line(d->name, text);
    if (*w->note)
        ft__sources_line("", w->note);
}

static json_t *power_json(const ft_domain *d, const ft_power *w)
{
    return ft__json(
        "name:s power_w:g power_error_w:g energy_j:g energy_error_j:g counter_j:g "
        "integral_j:g period_s:g readings:u fresh:u reason:s note:s",
        d->name, w->watts, w->watts_error, w->joules, w->joules_error, w->counter_j,
        w->integral_j, w->period_s, w->n_readings, w->n_fresh, w->reason, w->note);
}

/* Long enough for every domain, within reason. */
static double seconds_for(const ft_meter *m)
{
    double seconds = 2;

    for (uint32_t i = 0; i < ft_meter_n_domains(m); i++)
        seconds = fmax(seconds, ft_meter_domain(m, i)->least_s);
    return fmin(seconds, 10);
}

int ft__sources_try(ft__cli *c, const char *sources)
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
