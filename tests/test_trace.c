/* Traces of power: written, read back, refused, and played as a source of a meter. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "device/power/meter.h"
#include "device/power/trace.h"
#include "foretell/power.h"
#include "meter_rig.h"

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void check_equal(const ft_trace *a, const ft_trace *b)
{
    CHECK_EQ(a->n_domains, b->n_domains);
    for (uint32_t i = 0; i < a->n_domains && i < b->n_domains; i++) {
        const ft_domain *x = &a->domain[i], *y = &b->domain[i];

        CHECK(SAME(x->name, y->name) && SAME(x->part_of, y->part_of));
        CHECK(EQ(x->counts, y->counts) && EQ(x->tells_power, y->tells_power) &&
              EQ(x->all_fresh, y->all_fresh));
        CHECK(same(x->period_s, y->period_s) && same(x->window_s, y->window_s) &&
              same(x->duty, y->duty) && same(x->least_s, y->least_s));
        CHECK_EQ(a->n[i], b->n[i]);
        for (size_t j = 0; j < a->n[i] && j < b->n[i]; j++) {
            const ft_power_reading *p = &a->reading[i][j], *q = &b->reading[i][j];

            CHECK(same(p->at_s, q->at_s) && same(p->watts, q->watts) &&
                  same(p->joules, q->joules));
        }
    }
}

/* One second of two domains: one counts 50 W, one tells 20 W with a gap. */
static void make_trace(ft_trace *t, ft_domain d[2], ft_power_reading *r[2], size_t n[2])
{
    static ft_power_reading rows[2][100];

    for (int i = 0; i < 100; i++) {
        rows[0][i] = (ft_power_reading){7 + 0.01 * i, NAN, 0.5 * i};
        rows[1][i] = (ft_power_reading){7 + 0.01 * i + 1e-4,
                                        i / 10 == 5 ? NAN : 20 + 0.01 * (i % 7), NAN};
    }
    d[0] = (ft_domain){.name = "a",
                       .part_of = "",
                       .counts = 1,
                       .period_s = 0.01,
                       .window_s = NAN,
                       .duty = 1,
                       .least_s = NAN,
                       .note = ""};
    d[1] = (ft_domain){.name = "a/b",
                       .part_of = "a",
                       .tells_power = 1,
                       .period_s = NAN,
                       .window_s = 0.025,
                       .duty = 0.25,
                       .least_s = 5,
                       .note = ""};
    for (int i = 0; i < 2; i++) {
        r[i] = rows[i];
        n[i] = 100;
    }
    *t = (ft_trace){.n_domains = 2, .domain = d, .n = n, .reading = r};
}

TEST(a_trace_is_read_as_it_was_written)
{
    struct path path = in_scratch("trace.csv");
    ft_power_reading *r[2];
    ft_domain d[2];
    ft_trace t, back;
    size_t n[2];

    make_trace(&t, d, r, n);
    CHECK_EQ(ft__trace_write(&t, path.s, NULL), FT_OK);
    CHECK_EQ(ft__trace_read(&back, path.s, NULL), FT_OK);
    check_equal(&t, &back);
    ft_trace_free(&back);
}

TEST(a_bad_trace_is_refused_with_its_line)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"at_s,domain,watts,joules\n1,a,2,3\n0.5,a,2,3\n", ":3: its time"},
        {"at_s,domain,watts,joules\n1,a,2\n", ":2: a row is"},
        {"at_s,domain,watts,joules\n1,a,x,\n", ":2: a number is none"},
        {"at_s,domain,watts,joules\n1,,1,\n", ":2: a domain without a name"},
        {"", "no readings"},
        {"# foretell trace 1\n", "no readings"},
    };
    struct path path = in_scratch("bad.csv");

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_error err = {0};
        ft_trace t;

        write_text(path.s, cases[i].text);
        CHECK(EQ(ft__trace_read(&t, path.s, &err), FT_EFORMAT) && EQ(t.n_domains, 0));
        CHECK(HAS(err.msg, cases[i].says));
    }
}

TEST(a_plain_table_is_a_recording_too)
{
    struct path path = in_scratch("plain.csv");
    char text[4000] = "at_s,domain,watts,joules\n";
    ft_trace t;
    ft_power w;

    for (int i = 0; i < 60; i++)
        snprintf(text + strlen(text), 64, "%.2f,meter,%d,\n", 0.1 * i, 90 + i % 5);
    write_text(path.s, text);
    CHECK_EQ(ft__trace_read(&t, path.s, NULL), FT_OK);
    CHECK(t.domain[0].tells_power && !t.domain[0].counts &&
          isnan(t.domain[0].period_s));
    ft_power_of(&w, &t, 0, 0.5, 5.5);
    CHECK_NEAR(w.watts, 92, 0.3);
    CHECK_NEAR(w.joules, 460, 3);
    CHECK(isnan(w.counter_j) && CMP(w.n_fresh, >=, 45) && CMP(w.n_fresh, <=, 52));
    ft_trace_free(&t);
}

TEST(a_recording_is_played_at_its_speed)
{
    struct path path = in_scratch("trace.csv");
    char sources[700];
    ft_power_reading *r[2];
    ft_domain d[2];
    ft_meter *m;
    ft_trace t;
    size_t n[2];
    ft_power w;

    make_trace(&t, d, r, n);
    CHECK_EQ(ft__trace_write(&t, path.s, NULL), FT_OK);
    snprintf(sources, sizeof(sources), "replay:%s", path.s);
    hold_time(0, NULL, NULL);
    m = open_meter(sources, NULL);
    if (!m)
        return;
    CHECK_EQ(ft_meter_n_domains(m), 2);
    for (int again = 0; again < 2; again++) {
        w = power_for(m, 500, "a", NULL);
        CHECK_NEAR(w.joules, 25, 2.5);
        CHECK(CMP(fabs(w.joules - 25), <=, 4 * w.joules_error + 0.5));
    }
    w = power_for(m, 1200, "a", &t);
    CHECK(isnan(w.joules) && SAME(t.why[0], "the recording has ended"));
    ft_trace_free(&t);
    ft_meter_close(m);
}

int main(void)
{
    make_scratch();
    check_all();
    remove_scratch();
    CHECK_DONE();
}
