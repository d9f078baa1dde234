#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "device/clocks/hold.h"
#include "device/clocks/plan.h"
#include "device/clocks/record.h"
#include "device/cpus.h"
#include "foretell/settings.h"
#include "settings_rig.h"

static bool is_as_it_was(const struct rig *r)
{
    return shell(path("diff -r '%s' '%s'", r->original.s, r->root.s).s) == 0;
}

static bool holds(const struct rig *r, const char *file, const char *text)
{
    char now[4096];

    read_text(now, sizeof(now),
              path("%s/sys/devices/system/cpu/%s", r->root.s, file).s);
    now[strcspn(now, "\n")] = '\0';
    if (strcmp(now, text) != 0)
        fprintf(stderr, "%s: %s, not %s\n", file, now, text);
    return strcmp(now, text) == 0;
}

static const ft_settings nothing = {
    .core_clock_hz = NAN, .memory_clock_hz = NAN, .power_cap_w = NAN};

static ft_settings clock_of(double hz)
{
    ft_settings s = nothing;

    s.core_clock_hz = hz;
    return s;
}

TEST(lists_of_cpus_are_read_and_written)
{
    static const struct {
        const char *text, *again; /* NULL: no list */
    } cases[] = {
        {"0", "0"},    {"0-3,8", "0-3,8"}, {"8,0,1", "0-1,8"}, {"2-2", "2"},
        {"", NULL},    {"1,", NULL},       {"1-", NULL},       {"a", NULL},
        {"1 2", NULL}, {"-1", NULL},       {"3-1", NULL},
    };
    ft__cpus set;
    char text[64];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK_EQ(ft__cpus_parse(&set, cases[i].text), (cases[i].again != NULL));
        if (!cases[i].again)
            continue;
        ft__cpus_print(&set, text, sizeof(text));
        CHECK(SAME(text, cases[i].again));
    }
}

TEST(a_setting_has_one_canonical_text)
{
    ft_settings s = nothing;
    char text[256], small[8];
    size_t len;

    CHECK(EQ(ft_settings_print(&s, text, sizeof(text)), 0) && EQ(*text, '\0'));
    s.core_clock_hz = 1.2e9;
    CHECK_EQ(ft_settings_print(&s, text, sizeof(text)), 13);
    CHECK(SAME(text, "clock=1200MHz"));
    s = (ft_settings){"nvml:1", 1.2e9, 1.215e9, 150, "0-3", "performance", "off", "2"};
    len = ft_settings_print(&s, text, sizeof(text));
    CHECK_EQ(len, strlen(text));
    CHECK(SAME(text, "device=nvml:1 clock=1200MHz memory=1215MHz power=150W cpus=0-3 "
                     "governor=performance turbo=off affinity=2"));
    CHECK_EQ(ft_settings_print(&s, small, sizeof(small)), strlen(text));
    CHECK(SAME(small, "device="));
    CHECK_EQ(ft_settings_print(&s, NULL, 0), strlen(text));
}

TEST(a_clock_is_held_and_put_back)
{
    ft_settings want = clock_of(1.2e9);
    ft_held_settings *h;
    struct rig r;
    ft_error err = {0};

    make_rig(&r, "rapl-laptop");
    CHECK_EQ(ft_settings_hold(&h, &want, &r.how, &err), FT_OK);
    CHECK(holds(&r, "cpu0/cpufreq/scaling_min_freq", "1200000"));
    CHECK(holds(&r, "cpu3/cpufreq/scaling_max_freq", "1200000"));
    CHECK(holds(&r, "intel_pstate/no_turbo", "1")); /* below the nominal clock */
    CHECK(has_record(&r, FT__RECORD_HELD));
    CHECK_EQ(ft__state_holder(r.state.s), (long)getpid());
    CHECK_NEAR(ft_settings_held(h)->core_clock_hz, 1.2e9, 0);
    CHECK_EQ(ft_settings_restore_take(h, &err), FT_OK);
    CHECK(is_as_it_was(&r) && !has_record(&r, FT__RECORD_HELD));
    CHECK_EQ(ft__state_holder(r.state.s), 0);
}

TEST(everything_of_a_cpu_can_be_held_at_once)
{
    ft_settings want = clock_of(1.65e9); /* between 1.2 and 1.7 GHz */
    ft_held_settings *h;
    struct rig r;

    want.governor = "performance";
    want.cpus_online = "0,2-3";
    make_rig(&r, "amd-server");
    CHECK_EQ(ft_settings_hold(&h, &want, &r.how, NULL), FT_OK);
    CHECK(holds(&r, "cpu1/online", "0") && holds(&r, "cpu2/online", "1"));
    CHECK(holds(&r, "cpu2/cpufreq/scaling_max_freq", "1700000"));
    CHECK(holds(&r, "cpu1/cpufreq/scaling_max_freq", "2900000")); /* offline */
    CHECK(holds(&r, "cpu3/cpufreq/scaling_governor", "performance"));
    CHECK(holds(&r, "cpufreq/boost", "0"));
    CHECK_NEAR(ft_settings_held(h)->core_clock_hz, 1.7e9, 0);
    /* What a kernel does when the governor goes. */
    write_text(
        path("%s/sys/devices/system/cpu/cpu2/cpufreq/scaling_setspeed", r.root.s).s,
        "<unsupported>\n");
    CHECK_EQ(ft_settings_restore_take(h, NULL), FT_OK);
    CHECK(is_as_it_was(&r));
}

TEST(cpus_that_share_a_clock_are_set_once)
{
    ft__machine m = {0};
    ft_settings want = clock_of(1.0e9);
    ft__settings_plan p;
    struct rig r;

    make_rig(&r, "jetson-tx1");
    m.root = r.root.s;
    CHECK_EQ(ft__plan_make(&p, &want, &m, NULL, NULL), FT_OK);
    CHECK(EQ(p.apply.n, 3) && EQ(p.restore.n, 3));
    CHECK(HAS(p.apply.act[0].target, "/cpu0/cpufreq/"));
    CHECK_NEAR(p.chosen.core_clock_hz, 1.0368e9, 0);
    ft__plan_free(&p);
}

/* A kernel as strict as the oldest: a lower limit above the upper one is refused. */
static bool stays_in_order(const ft__acts *a, double low, double high)
{
    for (size_t i = 0; i < a->n; i++) {
        if (strstr(a->act[i].target, "cpu0/cpufreq/scaling_min_freq"))
            low = atof(a->act[i].value);
        if (strstr(a->act[i].target, "cpu0/cpufreq/scaling_max_freq"))
            high = atof(a->act[i].value);
        if (low > high)
            return false;
    }
    return true;
}

TEST(limits_never_cross)
{
    static const double mhz[] = {400, 1200, 2500, 3100};
    static const char *const now[][2] = {
        {"400000", "3100000"}, {"3000000", "3100000"}, {"400000", "500000"}};
    struct rig r;

    make_rig(&r, "rapl-laptop");
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++) {
            ft__machine m = {.root = r.root.s};
            ft_settings want = clock_of(mhz[j] * 1e6);
            ft__settings_plan p;

            write_text(path("%s/sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq",
                            r.root.s)
                           .s,
                       now[i][0]);
            write_text(path("%s/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq",
                            r.root.s)
                           .s,
                       now[i][1]);
            CHECK_EQ(ft__plan_make(&p, &want, &m, NULL, NULL), FT_OK);
            CHECK(stays_in_order(&p.apply, atof(now[i][0]), atof(now[i][1])));
            CHECK(stays_in_order(&p.restore, mhz[j] * 1e3, mhz[j] * 1e3));
            ft__plan_free(&p);
        }
}

TEST(what_is_not_offered_is_refused_with_what_is)
{
    static const struct {
        const char *machine;
        ft_settings want;
        const char *says;
    } cases[] = {
        /* clang-format off */
        {"rapl-laptop", {.core_clock_hz = 9e9}, "no clock of 9000 MHz; it goes from 400 to 3100 MHz"},
        {"rapl-laptop", {.core_clock_hz = 3e8}, "no clock of 300 MHz"},
        {"rapl-laptop", {.governor = "fast"}, "no governor \"fast\"; it has performance powersave"},
        {"rapl-laptop", {.governor = "power"}, "no governor \"power\""},
        {"rapl-laptop", {.turbo = "maybe"}, "turbo is on or off"},
        {"rapl-laptop", {.cpus_online = "0-9"}, "there is no CPU 4 here; there are 0-3"},
        {"rapl-laptop", {.cpus_online = "all"}, "\"all\" is no list of CPUs"},
        {"rapl-laptop", {.power_cap_w = 50}, "name a GPU"},
        {"rapl-laptop", {.device = "nvml:0", .core_clock_hz = 1e9}, "a recorded machine has no GPU"},
        {"rapl-laptop", {.affinity = "x"}, "no list of CPUs such as 2-3"},
        {"rapl-laptop", {.affinity = "8000"}, "may not be used"},
        {"jetson-tx1", {.turbo = "off"}, "this machine shows no switch for turbo clocks"},
        {"bare-vm", {.core_clock_hz = 1e9}, "this virtual machine shows no CPU clock"},
        {"bare-vm", {.core_clock_hz = 1e9}, "set it on the host"},
        /* clang-format on */
    };
    struct rig r;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_held_settings *h = (ft_held_settings *)1;
        ft_error err = {0};

        if (i == 0 || strcmp(cases[i].machine, cases[i - 1].machine) != 0)
            make_rig(&r, cases[i].machine);
        CHECK(CMP(ft_settings_hold(&h, &cases[i].want, &r.how, &err), <, 0) &&
              EQ(h, NULL));
        if (!strstr(err.msg, cases[i].says))
            fprintf(stderr, "case %zu: %s\n", i, err.msg);
        CHECK(HAS(err.msg, cases[i].says));
        CHECK(is_as_it_was(&r) && !has_record(&r, FT__RECORD_HELD));
    }
}

TEST(a_clock_and_affinity_fail_together)
{
    ft_settings want = clock_of(1.2e9);
    ft_held_settings *h;
    struct rig r;

    want.affinity = "8000";
    make_rig(&r, "rapl-laptop");
    CHECK_EQ(ft_settings_hold(&h, &want, &r.how, NULL), FT_EUNSUPPORTED);
    CHECK(is_as_it_was(&r) && EQ(ft__state_holder(r.state.s), 0));
}

static void try_as_an_ordinary_user(struct rig *r)
{
    ft_settings want = clock_of(1.2e9);
    ft_settings_list *l;
    ft_held_settings *h;
    ft_error err = {0};

    CHECK_EQ(ft_settings_hold(&h, &want, &r->how, &err), FT_EUNSUPPORTED);
    CHECK(HAS(err.msg, "may only be set by root; run with sudo, or: sudo chmod o+w "));
    CHECK(HAS(err.msg, "/cpu*/cpufreq/scaling_max_freq"));
    CHECK_EQ(ft_settings_show(&l, &r->how, NULL), FT_OK);
    CHECK(SAME(l->state[0].name, "core clock"));
    CHECK(!l->state[0].writable);
    CHECK(SAME(l->state[0].reason, "only root may set it"));
    CHECK(HAS(l->state[0].remedy, "sudo chmod o+w "));
    ft_settings_list_free(l);
}

TEST(what_only_root_may_set_comes_with_the_command_that_opens_it)
{
    struct rig r;
    int status = 1;
    pid_t pid;

    make_rig(&r, "rapl-laptop");
    CHECK_EQ(shell(path("mkdir -p '%s' && chmod -R a+rwX '%s/..' && chmod -R a-w '%s'",
                        r.state.s, r.state.s, r.root.s)
                       .s),
             0);
    pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(1);
        check_failed = 0;
        try_as_an_ordinary_user(&r);
        _exit(check_failed != 0);
    }
    CHECK(CMP(pid, >, 0) && EQ(waitpid(pid, &status, 0), pid) && EQ(status, 0));
    CHECK(is_as_it_was(&r));
    shell(path("chmod -R u+w '%s'", r.root.s).s);
}

/* Until nobody holds settings any more. */
static bool is_free_soon(const struct rig *r)
{
    const struct timespec pause = {0, 10 * 1000 * 1000};

    for (int i = 0; i < 30000; i++) { /* minutes: a guard that hangs */
        if (ft__state_holder(r->state.s) == 0)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

enum end { BY_KILL, BY_TERM, BY_INTERRUPT, BY_HANGUP, BY_QUIT, BY_EXIT, N_ENDS };

static void end_it(pid_t pid, enum end how)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT};

    if (how != BY_EXIT)
        (void)kill(pid, signals[how]);
}

/* In a process of its own: hold, say so, and wait for the end. A child that lives on
 * keeps all its files open; it ends when nobody can write to `until` any more. */
static void hold_and_wait(const struct rig *r, int tell, const int until[2],
                          enum end how)
{
    char letter;
    ft_settings want = clock_of(1.2e9);
    ft_held_settings *h;

    for (int s = 1; s < 32; s++)
        (void)signal(s, SIG_DFL);
    if (ft_settings_hold(&h, &want, &r->how, NULL))
        _exit(1);
    if (fork() == 0) {
        close(until[1]);
        _exit(read(until[0], &letter, 1) != 0);
    }
    if (write(tell, "h", 1) != 1 || how == BY_EXIT)
        _exit(3);
    for (;;)
        pause();
}

TEST(whatever_ends_the_holder_settings_are_put_back)
{
    for (enum end how = BY_KILL; how < N_ENDS; how++) {
        struct rig r;
        int pair[2], until[2], status;
        char letter = 0;
        pid_t pid;

        make_rig(&r, "rapl-laptop");
        CHECK(EQ(pipe(pair), 0) && EQ(pipe(until), 0));
        pid = fork();
        if (pid == 0)
            hold_and_wait(&r, pair[1], until, how);
        CHECK(EQ(read(pair[0], &letter, 1), 1) && EQ(letter, 'h'));
        CHECK(EQ(how, BY_EXIT) ||
              holds(&r, "cpu1/cpufreq/scaling_max_freq", "1200000"));
        end_it(pid, how);
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK(is_free_soon(&r));
        CHECK(is_as_it_was(&r) && !has_record(&r, FT__RECORD_HELD));
        for (int i = 0; i < 2; i++) {
            close(pair[i]);
            close(until[i]); /* only now the child ends */
        }
    }
}

TEST(two_cannot_hold_at_once)
{
    ft_settings want = clock_of(1.2e9);
    ft_held_settings *h, *second;
    ft_error err = {0};
    struct rig r;
    size_t n;

    make_rig(&r, "rapl-laptop");
    CHECK_EQ(ft_settings_hold(&h, &want, &r.how, NULL), FT_OK);
    CHECK_EQ(ft_settings_hold(&second, &want, &r.how, &err), FT_EUNSUPPORTED);
    CHECK(HAS(err.msg, path("held by process %ld already", (long)getpid()).s));
    CHECK_EQ(ft_settings_keep(NULL, &want, &r.how, &err), FT_EUNSUPPORTED);
    CHECK(EQ(ft_settings_reset(&n, &r.how, &err), FT_EUNSUPPORTED) && EQ(n, 0));
    CHECK(holds(&r, "cpu0/cpufreq/scaling_max_freq", "1200000"));
    CHECK_EQ(ft_settings_restore_take(h, NULL), FT_OK);
    CHECK(is_as_it_was(&r));
}

TEST(nobody_needs_a_state_folder)
{
    ft_settings want = clock_of(1.2e9);
    ft_held_settings *h;
    struct rig r;
    size_t n;

    make_rig(&r, "rapl-laptop");
    r.how.state_dir = NULL;
    CHECK_EQ(ft_settings_hold(&h, &want, &r.how, NULL), FT_OK);
    CHECK(holds(&r, "cpu0/cpufreq/scaling_max_freq", "1200000"));
    CHECK(EQ(ft_settings_restore_take(h, NULL), FT_OK) && is_as_it_was(&r));
    CHECK_EQ(ft_settings_keep(NULL, &want, &r.how, NULL), FT_EINVAL);
    CHECK_EQ(ft_settings_reset(&n, &r.how, NULL), FT_EINVAL);
    CHECK_EQ(ft_settings_restore_take(NULL, NULL), FT_OK);
}

/* As after a power cut of holder and guard: changed, the record there. */
static void cut_off(struct rig *r, char record[4096])
{
    ft_settings want = clock_of(1.2e9);
    ft_held_settings *h = NULL;

    make_rig(r, "rapl-laptop");
    CHECK_EQ(ft_settings_hold(&h, &want, &r->how, NULL), FT_OK);
    read_text(record, 4096, path("%s/" FT__RECORD_HELD, r->state.s).s);
    CHECK_EQ(shell(path("cp -r '%s' '%s.changed'", r->root.s, r->root.s).s), 0);
    CHECK_EQ(ft_settings_restore_take(h, NULL), FT_OK);
    CHECK_EQ(shell(path("rm -r '%s' && mv '%s.changed' '%s'", r->root.s, r->root.s,
                        r->root.s)
                       .s),
             0);
    write_text(path("%s/" FT__RECORD_HELD, r->state.s).s, record);
    CHECK(!shell(path("grep -q 1200000 '%s/sys/devices/system/cpu/cpu0/cpufreq/"
                      "scaling_max_freq'",
                      r->root.s)
                     .s));
}

TEST(what_no_guard_could_put_back_reset_does)
{
    char record[4096];
    ft_settings_list *l;
    struct rig r;
    size_t n;

    cut_off(&r, record);
    CHECK_EQ(ft_settings_show(&l, &r.how, NULL), FT_OK);
    CHECK(HAS(l->in_force, "a run that was cut off left settings"));
    ft_settings_list_free(l);
    CHECK(EQ(ft_settings_reset(&n, &r.how, NULL), FT_OK) && EQ(n, 13));
    CHECK(is_as_it_was(&r) && !has_record(&r, FT__RECORD_HELD));
    CHECK(EQ(ft_settings_reset(&n, &r.how, NULL), FT_OK) && EQ(n, 0));
}

TEST(the_next_holder_repairs_first)
{
    ft_settings want = nothing;
    ft_held_settings *h;
    char record[4096];
    struct rig r;

    want.governor = "performance";
    cut_off(&r, record);
    CHECK_EQ(ft_settings_hold(&h, &want, &r.how, NULL), FT_OK);
    CHECK(holds(&r, "cpu0/cpufreq/scaling_max_freq", "3100000"));
    CHECK(holds(&r, "cpu0/cpufreq/scaling_governor", "performance"));
    CHECK(EQ(ft_settings_restore_take(h, NULL), FT_OK) && is_as_it_was(&r));
}

TEST(a_restart_of_the_machine_ends_every_record)
{
    char record[4096];
    struct rig r;
    size_t n;

    cut_off(&r, record);
    write_text(path("%s/proc/sys/kernel/random/boot_id", r.root.s).s, "another\n");
    CHECK(EQ(ft_settings_reset(&n, &r.how, NULL), FT_OK) && EQ(n, 0));
    CHECK(!has_record(&r, FT__RECORD_HELD));
    CHECK(holds(&r, "cpu0/cpufreq/scaling_max_freq", "1200000"));
}

TEST(a_record_that_is_none_is_refused)
{
    static const struct {
        const char *find, *put, *says;
    } cases[] = {
        {"foretell settings 1", "foretell settings 2", "no record of settings"},
        {"end", "", "no record of settings"},
        {"root", "roots", "no record of settings"},
        {"put\t", "putt\t", "is no setting"},
        {"/sys/devices/system/cpu/cpu0", "/etc/passwd", "is no setting"},
        {"/cpu0/cpufreq/", "/../../../../etc/", "is no setting"},
        {"root\t", "root\t/elsewhere", "is of another machine"},
    };
    ft_error err = {0};
    char record[4096], edited[5000];
    struct rig r;
    size_t n;

    cut_off(&r, record);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *at = strstr(record, cases[i].find);

        if (!at)
            exit(1);
        snprintf(edited, sizeof(edited), "%.*s%s%s", (int)(at - record), record,
                 cases[i].put, at + strlen(cases[i].find));
        write_text(path("%s/" FT__RECORD_HELD, r.state.s).s, edited);
        CHECK_EQ(ft_settings_reset(&n, &r.how, &err), FT_EFORMAT);
        if (!strstr(err.msg, cases[i].says))
            fprintf(stderr, "case %zu: %s\n", i, err.msg);
        CHECK(HAS(err.msg, cases[i].says));
    }
    write_text(path("%s/" FT__RECORD_HELD, r.state.s).s, "");
    CHECK_EQ(ft_settings_reset(&n, &r.how, &err), FT_EFORMAT);
    CHECK(HAS(err.msg, "is empty; remove it"));
}

TEST(what_is_kept_stays_until_it_is_reset)
{
    ft_settings first = clock_of(1.2e9), second = clock_of(2.0e9), third = nothing;
    ft_held_settings *h;
    ft_settings chosen;
    ft_settings_list *l;
    struct rig r;
    size_t n;

    third.governor = "performance";
    make_rig(&r, "rapl-laptop");
    CHECK_EQ(ft_settings_keep(&chosen, &first, &r.how, NULL), FT_OK);
    CHECK_NEAR(chosen.core_clock_hz, 1.2e9, 0);
    CHECK_EQ(ft_settings_keep(NULL, &second, &r.how, NULL), FT_OK);
    CHECK_EQ(ft_settings_keep(NULL, &third, &r.how, NULL), FT_OK);
    CHECK(holds(&r, "cpu0/cpufreq/scaling_max_freq", "2000000"));
    CHECK(holds(&r, "cpu0/cpufreq/scaling_governor", "performance"));
    CHECK_EQ(ft_settings_show(&l, &r.how, NULL), FT_OK);
    CHECK(HAS(l->in_force, "17 values are kept"));
    ft_settings_list_free(l);
    /* What is held for a while goes back to what is kept. */
    CHECK_EQ(ft_settings_hold(&h, &first, &r.how, NULL), FT_OK);
    CHECK(holds(&r, "cpu0/cpufreq/scaling_max_freq", "1200000"));
    CHECK_EQ(ft_settings_restore_take(h, NULL), FT_OK);
    CHECK(holds(&r, "cpu0/cpufreq/scaling_max_freq", "2000000"));
    CHECK(EQ(ft_settings_reset(&n, &r.how, NULL), FT_OK) && EQ(n, 17));
    CHECK(is_as_it_was(&r));
    third.affinity = "0";
    CHECK_EQ(ft_settings_keep(NULL, &third, &r.how, NULL), FT_EUNSUPPORTED);
}

/* The guard's program is this one, see main(). */
TEST(the_guard_may_be_a_program)
{
    const char *const guard[] = {"/proc/self/exe", "guard", NULL};
    struct rig r;
    int pair[2], until[2], status;
    char letter = 0;
    pid_t pid;

    make_rig(&r, "rapl-laptop");
    r.how.guard = guard;
    CHECK(EQ(pipe(pair), 0) && EQ(pipe(until), 0));
    pid = fork();
    if (pid == 0)
        hold_and_wait(&r, pair[1], until, BY_KILL);
    CHECK(EQ(read(pair[0], &letter, 1), 1) && EQ(letter, 'h'));
    CHECK(holds(&r, "cpu1/cpufreq/scaling_max_freq", "1200000"));
    end_it(pid, BY_KILL);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(is_free_soon(&r) && is_as_it_was(&r) && !has_record(&r, FT__RECORD_HELD));
    for (int i = 0; i < 2; i++) {
        close(pair[i]);
        close(until[i]);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "guard") == 0)
        return ft_settings_guard(argc - 2, argv + 2);
    set_up(argc, argv);

    check_all();

    remove_scratch();
    CHECK_DONE();
}
