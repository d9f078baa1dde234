/* Energy of any command: by recordings, and by programs that are asked, in time of the
 * test's own. */
#include <math.h>
#include <stdbool.h>

#include "asked_program.h"
#include "command_rig.h"

/* A recording of 20 s: a machine at 50 W, of which a part draws 30 W. */
static const char *recording(void)
{
    const char *path = in_folder("trace");
    FILE *fp = fopen(path, "w");

    CHECK(fp != NULL);
    if (!fp)
        exit(1);
    fputs(
        "# foretell trace 1\n"
        "# domain,part_of,counts,tells_power,all_fresh,period_s,window_s,duty,least_s\n"
        "# wall,,0,1,1,0.01,0.01,1,\n# wall/cpu,wall,0,1,1,0.01,0.01,1,\n"
        "at_s,domain,watts,joules\n",
        fp);
    for (int i = 0; i < 20000; i++)
        fprintf(fp, "%g,wall,50,\n%g,wall/cpu,30,\n", 0.01 * i, 0.01 * i);
    fclose(fp);
    return path;
}

static ft_meter *meter_of(const char *sources, const ft__clock *clock)
{
    ft_meter_options o = {.sources = sources};
    ft_meter *m = NULL;
    ft_error err = {0};

    if (ft__meter_open(&m, &o, clock, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    return m;
}

static bool near(double value, double truth, double share)
{
    return fabs(value - truth) <= share * truth;
}

TEST(energy_is_power_times_time_in_every_domain)
{
    static const double watts[] = {50, 30};
    static const char *const longer[] = {"takes", "0.3", NULL};
    static const char *const shorter[] = {"takes", "0.2", NULL};
    char sources[128];
    ft_command c[2] = {{.argv = longer}, {.argv = shorter}};
    ft_command_options o = {.min_runs = 3, .max_runs = 3};
    ft_command_result *r;
    struct world w;

    make_world(&w);
    snprintf(sources, sizeof(sources), "replay:%s", recording());
    w.meter = o.meter = meter_of(sources, &w.clock);
    r = measured_by(&w.runner, c, 2, &o);
    for (int i = 0; i < 2; i++) {
        CHECK(EQ(r[i].n_domains, 2) && EQ(*r[i].no_energy, '\0'));
        CHECK(SAME(r[i].energy[0].domain, "wall") && !*r[i].energy[0].part_of);
        CHECK(SAME(r[i].energy[1].part_of, "wall"));
        for (int k = 0; k < 2; k++) {
            const ft_command_energy *e = &r[i].energy[k];

            CHECK(EQ(e->runs, 3) && EQ(*e->reason, '\0'));
            CHECK(near(e->energy.value, watts[k] * r[i].time.mean, 0.01));
            CHECK(near(e->power.value, watts[k], 0.01));
            CHECK(near(e->idle_w, watts[k], 0.01));
            for (size_t j = 0; e->joules && j < 3; j++)
                CHECK(near(e->joules[j], watts[k] * r[i].run[j].wall_s, 0.01));
            CHECK(e->joules != NULL);
        }
    }
    ft_command_results_free(r, 2);
    ft_meter_close(o.meter);
}

TEST(commands_too_short_for_the_sensor_are_looped)
{
    static const char *const brief[] = {"takes", "0.005", NULL};
    char sources[128];
    ft_command c = {.argv = brief};
    ft_command_options o = {.min_runs = 5, .max_runs = 5, .power_time_s = 0.5};
    ft_command_result *r;
    struct world w;

    make_world(&w);
    snprintf(sources, sizeof(sources), "replay:%s", recording());
    w.meter = o.meter = meter_of(sources, &w.clock);
    r = measured_by(&w.runner, &c, 1, &o);
    CHECK(CMP(r->energy[0].runs, >, 5) && near(r->energy[0].power.value, 50, 0.01));
    /* Joules of the run itself, not of what lies between two runs. */
    CHECK(CMP(r->energy[0].energy.value, >, 50 * r->min_s * 0.9));
    CHECK(near(r->energy[1].energy.value, r->energy[0].energy.value * 3 / 5, 0.01));
    ft_command_results_free(r, 1);
    /* What has to be prepared cannot be run back to back. */
    o.prepare = "true";
    r = measured_by(&w.runner, &c, 1, &o);
    CHECK(isnan(r->energy[0].energy.value) && HAS(r->energy[0].reason, "prepare"));
    ft_command_results_free(r, 1);
    ft_meter_close(o.meter);
}

/* The recording brings a value every 0.01 s. */
TEST(loops_are_as_long_as_the_wanted_error_needs)
{
    static const struct {
        double time_s, error, takes_s;
    } wanted[] = {{0, 0, 1}, {0, 0.1, 0.2}, {0, 0.001, 5}, {0.3, 0.1, 0.3}};
    static const char *const brief[] = {"takes", "0.009", NULL};
    char sources[128];
    ft_command c = {.argv = brief};
    ft_command_options o = {.min_runs = 1, .max_runs = 1, .no_idle = 1};
    struct world w;

    make_world(&w);
    snprintf(sources, sizeof(sources), "replay:%s", recording());
    w.meter = o.meter = meter_of(sources, &w.clock);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        ft_command_result *r;
        double before_s = w.time.now_s;

        o.power_time_s = wanted[i].time_s;
        o.power_error = wanted[i].error;
        r = measured_by(&w.runner, &c, 1, &o);
        CHECK(near((double)r->energy->runs * 0.01, wanted[i].takes_s, 0.06));
        CHECK(CMP(w.time.now_s - before_s, <, wanted[i].takes_s + 0.3));
        CHECK(near(r->energy->energy.value, 50 * 0.009, 0.01));
        CHECK(isnan(r->energy->idle_w));
        ft_command_results_free(r, 1);
    }
    ft_meter_close(o.meter);
}

/* A program is the meter, which tells 80 W while the file `busy` is there, else 20 W.
 */
static ft_meter *meter_of_busy(struct world *w, struct asked *program, char busy[64])
{
    char print[160];

    make_world(w);
    snprintf(busy, 64, "%s", in_folder("busy"));
    snprintf(print, sizeof(print), "[ -e %s ] && echo 80 || echo 20", busy);
    w->time.step_s = 0.01;
    w->time.tick = ask_for_line;
    w->time.user = program;
    w->meter = meter_of(be_asked(program, folder, print, 100000), &w->clock);
    return w->meter;
}

/* Twelve of a hundred parts of the loop pass between runs, at a quarter of the power.
 */
TEST(what_is_drawn_between_runs_is_in_the_error)
{
    char busy[64];
    const char *const brief[] = {"takes", "0.0075", busy, NULL};
    ft_command c = {.argv = brief};
    ft_command_options o = {.min_runs = 1, .max_runs = 1, .power_time_s = 2};
    ft_command_result *r;
    struct asked program;
    struct world w;

    o.meter = meter_of_busy(&w, &program, busy);
    r = measured_by(&w.runner, &c, 1, &o);
    CHECK(near(r->energy->idle_w, 20, 0.01));
    CHECK(CMP(fabs(r->energy->energy.value - 80 * 0.0075), <,
              2 * r->energy->energy.error));
    CHECK(CMP(r->energy->energy.error, <, 0.1 * r->energy->energy.value));
    ft_command_results_free(r, 1);
    ft_meter_close(o.meter);
    ask_no_more(&program);
}

TEST(energy_is_that_of_the_command_whose_turn_it_is)
{
    char busy[64];
    const char *const heavy[] = {"takes", "0.5", busy, NULL};
    static const char *const light[] = {"takes", "0.5", NULL};
    ft_command c[2] = {{.argv = heavy}, {.argv = light}};
    ft_command_options o = {.min_runs = 3, .max_runs = 3, .power_time_s = 1};
    ft_command_result *r;
    struct asked program;
    struct world w;

    o.meter = meter_of_busy(&w, &program, busy);
    r = measured_by(&w.runner, c, 2, &o);
    CHECK(near(r[0].energy->energy.value, 80 * r[0].time.mean, 0.05));
    CHECK(near(r[1].energy->energy.value, 20 * r[1].time.mean, 0.05));
    CHECK(near(r[0].energy->idle_w, 20, 0.01));
    ft_command_results_free(r, 2);
    ft_meter_close(o.meter);
    ask_no_more(&program);
}

/* The same in real time, whatever the figures: with a thread that reads. */
TEST(energy_is_told_in_real_time_as_well)
{
    ft_command c = shell("exec sleep 0.1");
    ft_command_options o = {.min_runs = 2, .max_runs = 2, .power_time_s = 0.1};
    ft_command_result *r;

    o.meter = meter_of("command:while :; do echo 80; sleep 0.01; done", NULL);
    for (; o.power_time_s < HANGS_MS / 1e3; o.power_time_s *= 2) {
        bool told;

        r = measured(&c, 1, &o);
        CHECK(EQ(r->n_domains, 1) && EQ(*r->no_energy, '\0'));
        told = isfinite(r->energy->energy.value);
        if (told)
            CHECK(near(r->energy->power.value, 80, 0.01));
        else
            CHECK(*r->energy->reason);
        ft_command_results_free(r, 1);
        if (told)
            break;
    }
    CHECK(CMP(o.power_time_s, <, HANGS_MS / 1e3));
    ft_meter_close(o.meter);
}

int main(void)
{
    make_folder();
    check_all();
    remove_folder();
    CHECK_DONE();
}
