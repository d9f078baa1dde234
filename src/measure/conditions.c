/* Conditions of a measurement (clocks, temperature, load): those of its rounds summed
 * up, and as the JSON text that the store keeps. */
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "measure/measure_inside.h"
#include "measure/rounds.h"

static const double clock_may_move = 0.02;

ft_conditions ft__conditions_unknown(void)
{
    return (ft_conditions){.clock_low_hz = NAN,
                           .clock_high_hz = NAN,
                           .clock_hz = NAN,
                           .memory_clock_hz = NAN,
                           .temperature_max_k = NAN,
                           .foreign_load = NAN};
}

/* Mean of n + 1 values from that of n; unknown values do not count. */
static double mean_with(double mean, double one, uint32_t n)
{
    if (isnan(mean) || isnan(one))
        return isnan(mean) ? one : mean;
    return mean + (one - mean) / (double)(n + 1);
}

void ft__conditions_add(ft_conditions *sum, const ft_conditions *one, uint32_t n)
{
    sum->clock_low_hz = fmin(sum->clock_low_hz, one->clock_low_hz);
    sum->clock_high_hz = fmax(sum->clock_high_hz, one->clock_high_hz);
    sum->clock_hz = mean_with(sum->clock_hz, one->clock_hz, n);
    sum->memory_clock_hz = mean_with(sum->memory_clock_hz, one->memory_clock_hz, n);
    sum->temperature_max_k = fmax(sum->temperature_max_k, one->temperature_max_k);
    sum->foreign_load = mean_with(sum->foreign_load, one->foreign_load, n);
    sum->throttle |= one->throttle;
    sum->marks |= one->marks;
    sum->n += one->n;
    /* Rounds may each be steady and yet differ. */
    if (sum->clock_high_hz > (1 + clock_may_move) * sum->clock_low_hz)
        sum->marks |= FT_MARK_CLOCK_MOVED;
}

/* ---- as text ---- */

void ft__add_number(ft__buf *b, const char *name, double v)
{
    if (!isnan(v))
        ft__buf_fmt(b, "%s\"%s\": %.9g", b->len > 1 ? ", " : "", name, v);
}

/* Quotes, backslashes and what is below a blank become apostrophes and blanks: these
 * are sentences of ours. */
void ft__add_text(ft__buf *b, const char *name, const char *text)
{
    if (!*text)
        return;
    ft__buf_fmt(b, "%s\"%s\": \"", b->len > 1 ? ", " : "", name);
    for (const char *p = text; *p; p++) {
        char c = *p == '"' || *p == '\\' ? '\'' : (unsigned char)*p < ' ' ? ' ' : *p;

        ft__buf_add(b, &c, 1);
    }
    ft__buf_str(b, "\"");
}

static void add_count(ft__buf *b, const char *name, uint64_t n)
{
    ft__buf_fmt(b, "%s\"%s\": %llu", b->len > 1 ? ", " : "", name,
                (unsigned long long)n);
}

static void add_marks(ft__buf *b, uint32_t marks)
{
    static const char *const name[] = {"clock moved", "throttled", "foreign load",
                                       "hot", "speed moved"};
    const char *comma = "";

    ft__buf_fmt(b, "%s\"marks\": [", b->len > 1 ? ", " : "");
    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
        if (marks & 1u << i) {
            ft__buf_fmt(b, "%s\"%s\"", comma, name[i]);
            comma = ", ";
        }
    ft__buf_str(b, "]");
}

size_t ft__timing_conditions(const ft_timing *t, char *buf, size_t size)
{
    const ft_conditions *c = &t->conditions;
    ft__buf b = {0};
    size_t len;

    ft__buf_str(&b, "{");
    ft__add_number(&b, "clock_hz", c->clock_hz);
    ft__add_number(&b, "clock_low_hz", c->clock_low_hz);
    ft__add_number(&b, "clock_high_hz", c->clock_high_hz);
    ft__add_number(&b, "memory_clock_hz", c->memory_clock_hz);
    ft__add_number(&b, "temperature_max_k", c->temperature_max_k);
    ft__add_number(&b, "foreign_load", c->foreign_load);
    if (c->throttle)
        add_count(&b, "throttle", c->throttle);
    add_count(&b, "rounds", t->rounds);
    add_count(&b, "redone", t->redone);
    add_count(&b, "outliers", t->outliers);
    add_marks(&b, c->marks);
    ft__buf_str(&b, "}");
    len = b.bad ? 0 : b.len;
    snprintf(buf, size, "%s", b.bad ? "" : b.s);
    ft__buf_free(&b);
    return len;
}
