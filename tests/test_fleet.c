/* A fleet: its file, what is wanted, what is chosen next, what becomes of jobs. That
 * jobs of Slurm lose nothing is tested by tests/cli/fleet. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"
#include "fleet/want.h"
#include "graph/op_inside.h"
#include "store_fixture.h"

#define KINDS                                                                          \
    "kinds:\n"                                                                         \
    "  - {name: a, device: dev-a, engine: 'fake,gpu=x', overhead_s: 0, "               \
    "job_operations: 3}\n"                                                             \
    "  - {name: b, device: dev-b, engine: fake, clocks_mhz: [900, 1200], nodes: 2}\n"

static ft_fleet *load(const char *text)
{
    ft_fleet *f = NULL;
    ft_error err = {0};

    write_text(in_scratch("lab.yaml").s, text);
    CHECK_EQ(ft_fleet_load(&f, in_scratch("lab.yaml").s, &err), FT_OK);
    CHECK(SAME(err.msg, ""));
    return f;
}

TEST(a_file_says_kinds_and_what_is_wanted_of_them)
{
    ft_fleet *f = load(KINDS "wanted:\n  - model: some.ops\n"
                             "  - {model: /x/y.onnx, batches: [1, 8], kinds: [b]}\n"
                             "error: 0.1\nnode_hours: 2\n");
    char beside[256];

    snprintf(beside, sizeof(beside), "%s/lab.fleet", scratch);
    CHECK(SAME(f->folder, beside));
    CHECK_EQ(f->n_kinds, 2);
    CHECK_EQ(f->kind[1].n_clocks, 2);
    CHECK_EQ(f->kind[1].clock_hz[1], 1200e6);
    CHECK(isnan(f->kind[0].clock_hz[0]));
    CHECK_EQ(f->kind[0].job_operations, 3);
    CHECK_EQ(f->n_wanted, 2);
    CHECK(SAME(f->wanted[1].model, "/x/y.onnx"));
    CHECK_EQ(f->wanted[1].batch[1], 8);
    CHECK(!f->wanted[1].of_kind[0] && f->wanted[1].of_kind[1]);
    CHECK(f->wanted[0].of_kind[0] && f->wanted[0].of_kind[1]);
    CHECK_EQ(f->budget_s, 7200);
    ft_fleet_free(f);
}

TEST(a_wrong_file_is_one_sentence_with_its_line)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", ":1: the file is empty"},
        {"kinds: [", "not YAML"},
        {"kinds: []\nwanted: []\n", "at least one kind"},
        {KINDS "wanted: []\n", "at least one model"},
        {KINDS "wanted: [{model: x}]\nbudgets: 1\n", ":5: there is no key \"budgets\""},
        {KINDS "wanted: [{model: x, batches: [0]}]\n", "from 1"},
        {KINDS "wanted: [{model: x}]\nnode_hours: -1\n", "a number from 0"},
        {KINDS "wanted: [{model: [x, y]}]\n", "a text or a number is wanted"},
        {KINDS "wanted: [{model: x, measure: half}]\n", "whole or both"},
        {KINDS "wanted: [{model: x.ops, measure: whole}]\n", "are not"},
        {KINDS "wanted: [{model: x, measure: both, mode: training}]\n", "inference"},
        {KINDS "wanted: [{explore: s.yaml, model: x}]\n", "says nothing of"},
        {KINDS "wanted: [{explore: s.yaml, design: all}]\n", "sobol is wanted"},
        {KINDS "wanted: [{explore: s.yaml, points: 0}]\n", "a number from 1"},
        {KINDS "wanted: [{model: ''}]\n", ":4: model: a path is wanted"},
        {KINDS "wanted: [{model: x}]\nfolder:\n", ":5: folder: a path is wanted"},
        {"kinds: [{name: a, device: d, portable: ''}]\nwanted: [{model: x}]\n",
         "portable: a path is wanted"},
        {"kinds: [{name: a/b, device: d}]\n", "a name has letters"},
        {"kinds: [{name: a, device: d, foretell: x, portable: y}]\nwanted: [{model: "
         "x}]\n",
         "either"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_fleet *f = NULL;
        ft_error err = {0};

        CHECK_EQ(
            ft__fleet_read(&f, cases[i].text, strlen(cases[i].text), "lab.yaml", &err),
            FT_EFORMAT);
        CHECK(EQ(f, NULL));
        CHECK(HAS(err.msg, cases[i].says));
    }
}

static void put_time(ft_store *s, const char *device, const char *spec, double time_s)
{
    const ft_key at = {device, "threads=1", "fake",    "1",
                       spec,   "forward",   "default", "time"};
    const ft_measurement m = {.unit = "s", .value = time_s, .error = 0, .n = 1};
    ft_error err = {0};
    int64_t run;

    CHECK_EQ(ft__store_begin_run(s, &run, "test", "{}", &err), FT_OK);
    CHECK_EQ(ft__store_put(s, run, &at, &m, NULL, 0, &err), FT_OK);
}

enum { SHARED = 40, KNOWN_OF_BOTH = 20, OWN = 20 };

static void spec_of(char spec[128], int i)
{
    snprintf(spec, 128, "linear x=%dx%d out=%d dtype=fp32", 1 + i % 7, 64 + 32 * i,
             64 + 16 * (i % 11));
}

static void make_part(ft__part *p, const ft_fleet *f, size_t kind, ft_store *store)
{
    const ft_fleet_options opt = {0};
    ft_error err = {0};

    CHECK_EQ(ft__part_make(p, f, kind, 0, kind, &err), FT_OK);
    CHECK_EQ(ft__part_gather(p, f, store, &opt, &err), FT_OK);
    CHECK_EQ(ft__part_refresh(p, f, store, &(ft__batches){0}, &err), FT_OK);
    ft__part_costs(p, &opt);
}

/* Kind a has measured what both want, and kind b half of it, in proportion: of b what a
 * does not have comes first. Where the two are not in proportion, nothing is known. */
static size_t count_own(bool in_proportion)
{
    ft_fleet *f;
    ft_store *store;
    ft_error err = {0};
    ft_fleet_options opt = {0};
    ft__part part[2];
    char text[16384] = "", own[8192] = "";
    size_t chosen[SHARED + OWN], n = 0, owns = 0;

    CHECK_EQ(ft_store_open(&store, ":memory:", FT_STORE_WRITE, &err), FT_OK);
    for (int i = 0; i < SHARED + OWN; i++) {
        char spec[128];
        const double t = 1e-3 * (1 + i % 5);

        spec_of(spec, i);
        snprintf(i < SHARED ? text + strlen(text) : own + strlen(own), 200, "%s\n",
                 spec);
        if (i < SHARED)
            put_time(store, "dev-a", spec, t);
        if (i < KNOWN_OF_BOTH)
            put_time(store, "dev-b", spec,
                     in_proportion ? 3 * t : 1e-3 * (1 + i * 13 % 9));
    }
    write_text(in_scratch("shared.ops").s, text);
    write_text(in_scratch("own.ops").s, own);
    f = load("kinds:\n  - {name: a, device: dev-a, engine: fake}\n"
             "  - {name: b, device: dev-b, engine: fake}\n"
             "wanted: [{model: shared.ops}, {model: own.ops, kinds: [b]}]\n");
    make_part(&part[0], f, 0, store);
    make_part(&part[1], f, 1, store);
    CHECK_EQ(part[0].n_ops, SHARED);
    CHECK_EQ(part[1].n_ops, SHARED + OWN);
    CHECK_EQ(ft__fleet_choose(chosen, &n, &part[1], part, 2, store, 1e9, OWN / 2, true,
                              &opt, &err),
             FT_OK);
    CHECK_EQ(n, OWN / 2);
    for (size_t i = 0; i < n; i++) {
        char spec[128];
        bool is_own = false;

        for (int k = SHARED; k < SHARED + OWN; k++) {
            ft_op op;

            spec_of(spec, k);
            CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK);
            is_own = is_own || ft__op_hash(&op) == part[1].op[chosen[i]].hash;
        }
        owns += is_own;
    }
    ft__part_free(&part[0]);
    ft__part_free(&part[1]);
    ft_fleet_free(f);
    ft_store_close(store);
    return owns;
}

TEST(what_another_kind_has_measured_teaches_this_one)
{
    CHECK_EQ(count_own(true), OWN / 2);
    CHECK(CMP(count_own(false), <, OWN / 2));
}

TEST(what_jobs_end_without_is_given_up)
{
    ft_fleet *f =
        load("kinds: [{name: a, device: dev-a, engine: fake, overhead_s: 0}]\n"
             "wanted: [{model: two.ops}]\n");
    const ft_fleet_options opt = {.foretell = "/bin/true", .local = 1};
    ft_fleet_report r;
    ft_store *store;
    ft_error err = {0};

    write_text(in_scratch("two.ops").s, "relu x=1x100\nrelu x=1x200\n");
    CHECK_EQ(ft_store_open(&store, ":memory:", FT_STORE_WRITE, &err), FT_OK);
    CHECK_EQ(ft_fleet_look(&r, f, store, &opt, &err), FT_OK);
    CHECK_EQ(r.part[0].missing, 2);
    CHECK(CMP(r.part[0].missing_s, >, 0));
    ft_fleet_report_free(&r);
    CHECK_EQ(ft_fleet_run(&r, f, store, &opt, &err), FT_OK);
    CHECK(SAME(err.msg, ""));
    CHECK_EQ(r.n_parts, 1);
    CHECK_EQ(r.part[0].missing, 0);
    CHECK_EQ(r.part[0].refused, 2);
    CHECK_EQ(r.part[0].jobs, 3);
    CHECK_EQ(r.part[0].died, 0);
    ft_fleet_report_free(&r);
    ft_store_close(store);
    ft_fleet_free(f);
}

/* A job that took four times as long as planned: so will the next, as far as one job
 * says. */
TEST(costs_are_corrected_by_what_jobs_took)
{
    ft_fleet *f = load("kinds: [{name: a, device: dev-a, engine: fake}]\n"
                       "wanted: [{model: two.ops}]\nfolder: took.fleet\n");
    const ft_fleet_options opt = {.foretell = "/bin/true", .local = 1};
    ft_fleet_report before, after;
    ft_store *store;
    ft_error err = {0};
    char folder[256];

    write_text(in_scratch("two.ops").s, "relu x=1x100\nrelu x=1x200\n");
    CHECK_EQ(ft_store_open(&store, ":memory:", FT_STORE_WRITE, &err), FT_OK);
    put_time(store, "dev-a", "relu x=1x100 dtype=fp32", 1e-6);
    snprintf(folder, sizeof(folder), "mkdir -p %s/took.fleet/a-0001/0", scratch);
    CHECK_EQ(system(folder), 0);
    CHECK_EQ(ft_fleet_look(&before, f, store, &opt, &err), FT_OK);
    CHECK(EQ(before.part[0].missing, 1) && EQ(before.part[0].took, 1));
    write_text(in_scratch("took.fleet/a-0001/job.sh").s, "");
    write_text(in_scratch("took.fleet/a-0001/array").s, "local");
    write_text(in_scratch("took.fleet/a-0001/0/list.ops").s,
               "# about 10 s\nrelu x=1x100 dtype=fp32\n");
    write_text(in_scratch("took.fleet/a-0001/0/started").s, "node=n\nbegan=1000\n");
    write_text(in_scratch("took.fleet/a-0001/0/ended").s, "code=0\nended=1040\n");
    write_text(in_scratch("took.fleet/a-0001/0/merged").s, "rows=1\n");
    CHECK_EQ(ft_fleet_look(&after, f, store, &opt, &err), FT_OK);
    CHECK_EQ(after.part[0].took, 2.5);
    CHECK(CMP(fabs(after.part[0].missing_s / before.part[0].missing_s - 2.5), <, 1e-9));
    ft_fleet_report_free(&before);
    ft_fleet_report_free(&after);
    ft_store_close(store);
    ft_fleet_free(f);
}

int main(void)
{
    make_scratch();
    check_all();
    remove_scratch();
    CHECK_DONE();
}
