/* Predictors for a family of devices: made of stores whose law is known, written,
 * opened and asked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "family_rig.h"
#include "predict/file/predictor.h"
#include "predict/model/family.h"
#include "predict/query/network.h"

enum { N_OPS = 60 };
static const char *const devices[] = {"a30", "v100-sxm2-16gb", "t4"};

static void make_op(ft_op *op, int i)
{
    ft__prng p = ft__prng_stream(5, (uint64_t)i);
    unsigned a = 64 + ft__prng_below(&p, 2000), b = 64 + ft__prng_below(&p, 2000),
             n = 64 + ft__prng_below(&p, 4000);
    char spec[200];

    if (i % 2)
        snprintf(spec, sizeof(spec), "linear x=%ux%u out=%u dtype=fp32", n, a, b);
    else
        snprintf(spec, sizeof(spec), "relu x=%ux%u dtype=fp32", n, a);
    CHECK_EQ(ft_op_parse(op, spec, strlen(spec), NULL), FT_OK);
}

/* A plain roofline at shares of the data sheet's figures, and a launch. */
static double law_s(const ft_op *op, const ft_device_facts *d)
{
    ft_cost c;

    ft_op_cost(op, &c);
    return 8e-6 +
           fmax(c.flops / (0.7 * d->peak_fp32),
                (c.bytes_read + c.bytes_written) / (0.75 * d->bandwidth_bytes_per_s));
}

/* A share of what the chip's smallest board may draw. */
static double law_w(const ft_device_facts *d, int i)
{
    return (d->drawing_tdp_w > 0 ? d->drawing_tdp_w : d->tdp_w) * (i % 2 ? 0.8 : 0.5);
}

static void put(ft_store *s, int64_t run, const char *device, const ft_op *op,
                const char *metric, double value)
{
    char spec[1024];
    const ft_key key = {device, "", "torch", "2.3", spec, "forward", "ieee", metric};
    const ft_measurement m = {.unit = "s", .value = value, .error = NAN, .n = 1};

    ft_op_print(op, spec, sizeof(spec));
    CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, NULL), FT_OK);
}

static void fill(ft_store *s, const char *device, int first, int n)
{
    ft_device *d;
    int64_t run;

    CHECK_EQ(ft_device_load(&d, data_dir, device, NULL), FT_OK);
    CHECK_EQ(ft__store_begin_run(s, &run, "test", "{}", NULL), FT_OK);
    for (int i = first; i < first + n; i++) {
        ft_op op;

        make_op(&op, i);
        put(s, run, device, &op, "time", law_s(&op, ft_device_get(d)));
        put(s, run, device, &op, "power", law_w(ft_device_get(d), i));
    }
    ft_device_free(d);
}

static ft_store *store_of(int n_devices)
{
    ft_store *s;

    CHECK_EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    for (int i = 0; i < n_devices; i++)
        fill(s, devices[i], 0, N_OPS);
    return s;
}

static ft_predictor *train_all(int forget, uint32_t threads)
{
    /* Every kind of image that may be in a file, and the quickest of them. */
    const ft_train_options how = {.forget = forget,
                                  .threads = threads,
                                  .methods = forget ? 0 : 1u << FT_METHOD_EXTRA};
    ft_store *s = store_of(3);
    ft_predictor *p = train(s, &how);

    ft_store_close(s);
    return p;
}

/* Mean error on operations of numbers first to first + n - 1. */
static double error_on(const ft_predictor *p, const char *device, ft__metric metric,
                       int first, int n)
{
    ft__dataset on = {.device = (char *)device};
    double sum = 0;

    CHECK_EQ(ft_device_load(&on.file, data_dir, device, NULL), FT_OK);
    for (int i = first; i < first + n; i++) {
        const ft_device_facts *d = ft_device_get(on.file);
        double truth, watts = law_w(d, i);
        ft_error err = {0};
        ft__op_answer a;
        ft_op op;

        make_op(&op, i);
        truth = metric == FT__METRIC_POWER ? watts : law_s(&op, d);
        truth *= metric == FT__METRIC_ENERGY ? watts : 1;
        if (ft__family_query(&a, p->family, metric, &on, &op, NULL, 1, &err)) {
            fprintf(stderr, "%s\n", err.msg);
            CHECK_EQ(err.status, FT_OK);
            break;
        }
        CHECK(CMP(a.low, <=, a.value) && CMP(a.value, <=, a.high));
        sum += fabs(a.value / truth - 1);
    }
    ft_device_free(on.file);
    return sum / n;
}

static void known_devices_are_foretold(const ft_predictor *p)
{
    for (int i = 0; i < 3; i++) {
        CHECK(CMP(error_on(p, devices[i], FT__METRIC_TIME, N_OPS, 30), <, 0.08));
        CHECK(CMP(error_on(p, devices[i], FT__METRIC_POWER, N_OPS, 30), <, 0.03));
        CHECK(CMP(error_on(p, devices[i], FT__METRIC_ENERGY, N_OPS, 30), <, 0.1));
    }
}

/* What a network's operations have in common of another board does not average out. */
static double network_reach(const ft_predictor *p)
{
    char list[4096];
    size_t len = 0;
    ft__device_use on = {0};
    ft__network_estimate e;
    double reach;
    ft_device *d;
    ft_graph *g;

    for (int i = 0; i < 40; i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len,
                                "linear x=1000x777 out=%d dtype=fp32\n", 900 + i);
    CHECK_EQ(ft_device_load(&d, data_dir, devices[0], NULL), FT_OK);
    on.device = d;
    CHECK_EQ(ft_import_ops(&g, list, len, "list", NULL), FT_OK);
    CHECK_EQ(ft__predict_network(&e, p, &on, g, NULL), FT_OK);
    reach = log(e.time.high / e.time.value);
    ft__network_estimate_free(&e);
    ft_graph_free(g);
    ft_device_free(d);
    return reach;
}

/* Another board of a device than the one that was measured may be off by 13 %; what is
 * said of devices that nobody measured holds for any board. */
static void boards_of_a_known_device_differ(const ft_predictor *p)
{
    const ft_train_options how = {.other_boards = 1, .methods = 1u << FT_METHOD_EXTRA};
    ft_store *s = store_of(3);
    ft_predictor *q = train(s, &how);

    for (int known = 0; known <= 1; known++) {
        const char *const new = "linear x=1000x777 out=900 dtype=fp32";
        const double reach = known ? 0.13 : 0;
        ft_estimate a, b;
        ft_device *d;

        CHECK_EQ(
            ft_device_load(&d, data_dir, known ? devices[0] : "a100-sxm-40gb", NULL),
            FT_OK);
        a = ask_one(p, d, "", new);
        b = ask_one(q, d, "", new);
        CHECK_EQ(a.value, b.value);
        CHECK(CMP(fabs(log(b.high / b.value) - hypot(log(a.high / a.value), reach)), <,
                  1e-9));
        CHECK(CMP(fabs(log(b.value / b.low) - hypot(log(a.value / a.low), reach)), <,
                  1e-9));
        ft_device_free(d);
    }
    CHECK(CMP(network_reach(p), <, 0.13) && CMP(network_reach(q), >, 0.13));
    ft_predictor_free(q);
    ft_store_close(s);
}

/* The interval of `spec` on the first device, n operations of it measured since. */
static ft_estimate ask_corrected(const ft_predictor *p, const char *spec, int n)
{
    ft__device_use on = {0};
    ft__calibration_set *known = NULL;
    ft__network_estimate e;
    ft_store *s;
    ft_device *d;
    ft_estimate out;
    ft_graph *g;

    CHECK_EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    fill(s, devices[0], N_OPS, n);
    CHECK_EQ(ft_device_load(&d, data_dir, devices[0], NULL), FT_OK);
    CHECK_EQ(ft__calibration_set_read(&known, s, NULL), FT_OK);
    CHECK_EQ(ft_import_ops(&g, spec, strlen(spec), "list", NULL), FT_OK);
    on.device = d;
    on.known = n ? known : NULL;
    CHECK_EQ(ft__predict_network(&e, p, &on, g, NULL), FT_OK);
    out = e.op_device[0];
    ft__network_estimate_free(&e);
    ft_graph_free(g);
    ft_device_free(d);
    ft__calibration_set_free(known);
    ft_store_close(s);
    return out;
}

/* One row tells nothing of the board but itself; many tell how far off it is. */
static void a_few_rows_tell_what_board_it_is(void)
{
    const ft_train_options how = {.other_boards = 1, .methods = 1u << FT_METHOD_EXTRA};
    const char *const new = "linear x=1000x777 out=900 dtype=fp32";
    ft_store *s = store_of(3);
    ft_predictor *p = train(s, &how);
    const ft_estimate none = ask_corrected(p, new, 0), one = ask_corrected(p, new, 1),
                      many = ask_corrected(p, new, 30);
    char itself[200];
    ft_op op;

    CHECK_EQ(one.high / one.value, none.high / none.value);
    CHECK(CMP(many.high / many.value, <, none.high / none.value));
    make_op(&op, N_OPS);
    ft_op_print(&op, itself, sizeof(itself));
    CHECK(CMP(log(ask_corrected(p, itself, 1).high / ask_corrected(p, itself, 1).value),
              <, 0.13));
    ft_predictor_free(p);
    ft_store_close(s);
}

/* That rows are of other boards is said of the whole file. */
static void what_is_added_is_of_the_same_boards(const ft_predictor *p)
{
    const uint32_t methods = 1u << FT_METHOD_EXTRA;
    ft_store *s = store_of(3);

    for (int before = 0; before <= 1; before++) {
        const ft_train_options how = {.other_boards = before, .methods = methods};
        ft_predictor *old = train(s, &how);

        /* As another version of foretell had it. */
        old->family->between_boards *= 2;
        for (int said = 0; said <= 1; said++) {
            const ft_train_options add = {
                .add = old, .other_boards = said, .methods = methods};
            ft_predictor *more = train(s, &add);

            CHECK_EQ(more->family->between_boards, said ? 0.13
                                                   : before
                                                       ? old->family->between_boards
                                                       : 0);
            ft_predictor_free(more);
        }
        ft_predictor_free(old);
    }
    CHECK_EQ(p->family->between_boards, 0);
    ft_store_close(s);
}

static void a_device_never_measured_is_foretold(const ft_predictor *p)
{
    ft__dataset on = {.device = (char *)"a100-sxm-40gb"};

    CHECK(!ft__family_knows(p->family, FT__METRIC_TIME, &on));
    CHECK(CMP(error_on(p, "a100-sxm-40gb", FT__METRIC_TIME, N_OPS, 30), <, 0.2));
    /* No law of power is the estimate's here. */
    CHECK(CMP(error_on(p, "a100-sxm-40gb", FT__METRIC_POWER, N_OPS, 30), <, 0.15));
}

TEST(power_of_one_device_is_not_taken_to_others)
{
    const ft_train_options how = {.methods = 1u << FT_METHOD_EXTRA};
    ft_store *s = store_of(1);
    ft_predictor *p = train(s, &how);
    const ft__dataset own = {.device = (char *)devices[0], .setting = (char *)""},
                      looped = {.device = (char *)devices[0],
                                .setting = (char *)"loop=30"},
                      other = {.device = (char *)devices[1], .setting = (char *)""};

    CHECK(ft__family_model_set(p->family, FT__METRIC_POWER, &own) != NULL);
    CHECK_EQ(ft__family_model_set(p->family, FT__METRIC_POWER, &looped), NULL);
    CHECK_EQ(ft__family_model_set(p->family, FT__METRIC_POWER, &other), NULL);
    CHECK(ft__family_model_set(p->family, FT__METRIC_TIME, &other) != NULL);
    ft_predictor_free(p);
    ft_store_close(s);
}

/* However much else a loop's dataset has in common with what is asked. */
TEST(who_asks_without_a_loop_is_asked_for_none)
{
    ft__dataset known[] = {{.device = (char *)"t4",
                            .engine = (char *)"torch",
                            .engine_version = (char *)"2.3",
                            .policy = (char *)"ieee",
                            .setting = (char *)"a=1 b=1 c=1 d=1 e=1 loop=30"},
                           {.device = (char *)"t4",
                            .engine = (char *)"torch",
                            .engine_version = (char *)"2.3",
                            .policy = (char *)"ieee",
                            .setting = (char *)"run_mode=graph"}};
    const ft__dataset on = {.device = (char *)"t4",
                            .setting = (char *)"a=1 b=1 c=1 d=1 e=1"};
    ft__family f = {.dataset = known, .n_datasets = 2};
    ft__dataset asked;

    for (uint32_t n = 1; n <= 2; n++) {
        ft__buf setting = {0};

        f.n_datasets = n;
        ft__family_complete(&asked, &setting, &f, &on);
        CHECK(!HAS(asked.setting, "loop"));
        CHECK_EQ(HAS(asked.setting, "run_mode=graph"), n == 2);
        ft__buf_free(&setting);
    }
}

static void what_was_measured_is_answered_as_measured(const ft_predictor *p,
                                                      const ft_predictor *forgetful)
{
    CHECK(CMP(error_on(p, "t4", FT__METRIC_TIME, 0, N_OPS), <, 1e-6));
    CHECK(CMP(error_on(forgetful, "t4", FT__METRIC_TIME, 0, N_OPS), >, 1e-5));
}

static void too_little_is_known_of_a_device(const ft_predictor *p)
{
    ft__dataset on = {.device = (char *)"nobody's"};
    ft_error err = {0};
    ft__op_answer a;
    ft_op op;

    make_op(&op, 0);
    CHECK_EQ(ft__family_query(&a, p->family, FT__METRIC_TIME, &on, &op, NULL, 1, &err),
             FT_ENOTFOUND);
    CHECK(HAS(err.msg, "nobody's"));
    CHECK_EQ(
        ft__family_query(&a, p->family, FT__METRIC_WORKSPACE, &on, &op, NULL, 1, &err),
        FT_ENOTFOUND);
    CHECK(HAS(err.msg, "workspace"));
}

static void a_family_is_no_single_machine(const ft_predictor *p)
{
    ft_predictor_dataset d;
    ft_predictor_info info;
    ft_regressor_info r;
    const ft__device_use nobody = {0};
    ft__network_estimate e;
    ft_graph *g;
    int unseen = 0;

    CHECK_EQ(ft_import_ops(&g, "relu x=1x16\n", 12, "net", NULL), FT_OK);
    CHECK_EQ(ft__predict_network(&e, p, &nobody, g, NULL), FT_EINVAL);
    ft_graph_free(g);
    ft_predictor_get_info(p, &info);
    CHECK(EQ(info.n_datasets, 3) && !*info.device);
    CHECK_EQ(info.n_measured, 3 * N_OPS);
    for (uint32_t i = 0; i < info.n_datasets; i++) {
        ft_predictor_get_dataset(p, i, &d);
        CHECK(EQ(d.n, N_OPS) && SAME(d.engine, "torch"));
    }
    for (uint32_t i = 0; i < info.n_regressors; i++) {
        ft_predictor_regressor(p, i, &r);
        CHECK(CMP(r.forest.n, >, 0) && SAME(r.phase, "forward") && *r.choice);
        unseen += r.unseen;
    }
    CHECK(CMP(unseen, >, 0) && CMP(unseen, <, (int)info.n_regressors));
}

static void threads_change_no_byte(const ft_predictor *one)
{
    ft_predictor *three = train_all(0, 3);

    CHECK(EQ(one->len, three->len) && !memcmp(one->image, three->image, one->len));
    ft_predictor_free(three);
}

/* A changed byte is noticed when the file is opened, or when the part is asked. */
static void damage_is_noticed(const ft_predictor *p)
{
    unsigned char *copy = aligned_alloc(64, (p->len + 63) / 64 * 64);
    ft__dataset on = {.device = (char *)"t4"};
    const ft__header_image *h = (const void *)p->image;
    const ft__section_image *s = (const void *)(h + 1);

    CHECK_EQ(ft_device_load(&on.file, data_dir, "t4", NULL), FT_OK);
    for (uint32_t i = 0; i < h->n_sections; i++) {
        ft_predictor *broken;
        ft__op_answer a[N_OPS];
        ft_status st;

        memcpy(copy, p->image, p->len);
        copy[s[i].offset + s[i].bytes / 2] ^= 0x41;
        st = ft__predictor_load_image(&broken, copy, p->len, NULL);
        for (int k = 0; !st && k < N_OPS; k++) {
            ft_op op;

            make_op(&op, N_OPS + k);
            st = ft__family_query(&a[k], broken->family, FT__METRIC_ENERGY, &on, &op,
                                  NULL, 1, NULL);
        }
        CHECK(EQ(st, FT_OK) || EQ(st, FT_EFORMAT));
        /* What answers t4 is the first learner's; its parts come first. */
        if (s[i].type != FT__SECTION_PART && s[i].type != FT__SECTION_TEMPLATES)
            CHECK_EQ(st, FT_EFORMAT);
        ft_predictor_free(broken);
    }
    free(copy);
    ft_device_free(on.file);
}

static ft__section_image *section_of(unsigned char *image, enum ft__section_type type)
{
    const ft__header_image *h = (const void *)image;
    ft__section_image *s = (void *)(image + sizeof(*h));

    for (uint32_t i = 0; i < h->n_sections; i++)
        if (s[i].type == (uint32_t)type)
            return &s[i];
    CHECK(0);
    return s;
}

/* With the checksum of a table that was changed. */
static ft_status open_changed(unsigned char *image, size_t len)
{
    ft__header_image *h = (void *)image;
    ft_predictor *p = NULL;
    ft_status st;

    h->table_checksum =
        ft__checksum(image + sizeof(*h), h->n_sections * sizeof(ft__section_image));
    st = ft__predictor_load_image(&p, image, len, NULL);
    ft_predictor_free(p);
    return st;
}

static void boards_that_make_no_sense_are_noticed(void)
{
    static const struct {
        double reach;
        ft_status st;
    } cases[] = {{0.2, FT_OK},      {0, FT_EFORMAT},        {-0.2, FT_EFORMAT},
                 {NAN, FT_EFORMAT}, {INFINITY, FT_EFORMAT}, {1e9, FT_EFORMAT}};
    const ft_train_options how = {.other_boards = 1, .methods = 1u << FT_METHOD_EXTRA};
    ft_store *st = store_of(3);
    ft_predictor *p = train(st, &how);
    unsigned char *copy = aligned_alloc(64, (p->len + 63) / 64 * 64);
    ft__section_image *s;

    memcpy(copy, p->image, p->len);
    s = section_of(copy, FT__SECTION_BOARDS);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        memcpy(copy + s->offset, &cases[i].reach, sizeof(double));
        s->checksum = ft__checksum(copy + s->offset, sizeof(double));
        CHECK_EQ(open_changed(copy, p->len), cases[i].st);
    }
    memcpy(copy, p->image, p->len);
    copy[s->offset] ^= 0x41; /* its checksum is what it was */
    CHECK_EQ(open_changed(copy, p->len), FT_EFORMAT);
    memcpy(copy, p->image, p->len);
    s->bytes = 16;
    s->checksum = ft__checksum(copy + s->offset, 16);
    CHECK_EQ(open_changed(copy, p->len), FT_EFORMAT);
    memcpy(copy, p->image,
           p->len); /* twice, in the place of another that may be none */
    *section_of(copy, FT__SECTION_TEMPLATES) = *s;
    CHECK_EQ(open_changed(copy, p->len), FT_EFORMAT);
    free(copy);
    ft_predictor_free(p);
    ft_store_close(st);
}

static void a_saved_file_answers_the_same(const ft_predictor *p, const char *path)
{
    ft_predictor *again = NULL;
    ft__dataset on = {.device = (char *)"l4"};

    CHECK_EQ(ft_device_load(&on.file, data_dir, "l4", NULL), FT_OK);
    CHECK_EQ(ft_predictor_save(p, path, NULL), FT_OK);
    CHECK_EQ(ft_predictor_load(&again, path, NULL), FT_OK);
    for (int i = 0; again && i < N_OPS; i++) {
        ft__op_answer a, b;
        ft_op op;

        make_op(&op, i);
        CHECK_EQ(
            ft__family_query(&a, p->family, FT__METRIC_TIME, &on, &op, NULL, 1, NULL),
            0);
        CHECK_EQ(ft__family_query(&b, again->family, FT__METRIC_TIME, &on, &op, NULL, 1,
                                  NULL),
                 0);
        CHECK(EQ(a.value, b.value) && EQ(a.low, b.low) && EQ(a.high, b.high));
    }
    remove(path);
    ft_device_free(on.file);
    ft_predictor_free(again);
}

static void a_file_stays_within_what_it_may_take(void)
{
    const ft_train_options small = {
        .most_bytes = 1, .forget = 1, .methods = 1u << FT_METHOD_EXTRA};
    ft_store *s;
    ft_predictor *p;

    CHECK_EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    fill(s, "t4", 0, 1200);
    p = train(s, &small);
    CHECK(CMP(p->family->model_set[FT__METRIC_TIME][0]->part[0].fit.n_rows, <, 300));
    ft_predictor_free(p);
    ft_store_close(s);
}

/* Sections of one kind whose bytes stand in another file as well. */
static int count_kept(const ft_predictor *p, const ft_predictor *old)
{
    const ft__header_image *h = (const void *)p->image, *g = (const void *)old->image;
    const ft__section_image *a = (const void *)(h + 1), *b = (const void *)(g + 1);
    int n = 0;

    for (uint32_t i = 0; i < h->n_sections; i++)
        for (uint32_t k = 0; k < g->n_sections; k++)
            if (a[i].type == FT__SECTION_PART && b[k].type == a[i].type &&
                a[i].bytes == b[k].bytes &&
                !memcmp(p->image + a[i].offset, old->image + b[k].offset, a[i].bytes)) {
                n++;
                break;
            }
    return n;
}

/* New measurements of linear layers: relu's regressors stay byte for byte, also where
 * the store holds nothing else of theirs. */
static void what_is_added_leaves_the_rest_alone(const ft_predictor *p)
{
    const ft_train_options add = {.add = p, .methods = 1u << FT_METHOD_EXTRA};
    ft_store *s = store_of(3), *few;
    ft_predictor *same = train(s, &add), *more;
    ft_predictor_info info;
    ft_train_options less = add;
    ft_error err = {0};
    int linear = 0;

    ft_predictor_get_info(p, &info);
    CHECK_EQ(count_kept(same, p), (int)info.n_regressors);
    ft_predictor_free(same);
    for (int i = N_OPS; i < N_OPS + 30; i++)
        if (i % 2)
            fill(s, "t4", i, 1);
    more = train(s, &add);
    for (uint32_t i = 0; i < info.n_regressors; i++) {
        ft_regressor_info r;

        ft_predictor_regressor(more, i, &r);
        linear += strcmp(r.kind, "relu") != 0 && strcmp(r.kind, "unary") != 0;
    }
    CHECK(CMP(linear, >, 0));
    CHECK_EQ(count_kept(more, p), (int)info.n_regressors - linear);
    CHECK(CMP(error_on(more, "t4", FT__METRIC_TIME, N_OPS, 20), <, 0.1));
    CHECK_EQ(ft_store_open(&few, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    fill(few, "t4", 0, N_OPS);
    less.data_dir = data_dir;
    CHECK_EQ(ft_predictor_train(&same, few, &less, &err), FT_ENOTFOUND);
    CHECK(HAS(err.msg, "old and new ones"));
    ft_store_close(few);
    ft_store_close(s);
    ft_predictor_free(more);
}

static ft_op window(int i, int kernel, const char *dtype)
{
    ft_op op;
    char spec[200];

    snprintf(spec, sizeof(spec),
             "conv2d x=8x%dx28x28 out=128 kernel=%dx%d stride=1x1 pad=0x0 dtype=%s",
             32 + i, kernel, kernel, dtype);
    CHECK(EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK));
    return op;
}

/* On three chips windows of 3 x 3 take longer than they should where channels are odd:
 * learned for others, too, but not for windows of 1 x 1, and not for 16 bits. */
TEST(a_window_never_measured_is_answered_by_the_physical_estimate)
{
    const ft_train_options how = {.methods = 1u << FT_METHOD_EXTRA};
    ft__dataset on = {.device = (char *)"gtx-1080-ti"};
    ft_store *s;
    ft_predictor *p;
    int64_t run;

    CHECK(EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK));
    CHECK(EQ(ft__store_begin_run(s, &run, "test", "{}", NULL), FT_OK));
    for (int k = 0; k < 3; k++) {
        ft_device *d;

        CHECK(EQ(ft_device_load(&d, data_dir, devices[k], NULL), FT_OK));
        for (int i = 0; i < 120; i++) {
            const ft_op op = window(i, 3, "fp32");

            put(s, run, devices[k], &op, "time",
                (i % 2 ? 4 : 1) * law_s(&op, ft_device_get(d)));
        }
        ft_device_free(d);
    }
    p = train(s, &how);
    ft_store_close(s);
    CHECK(EQ(ft_device_load(&on.file, data_dir, on.device, NULL), FT_OK));
    for (int i = 10; i < 20; i += 2) {
        const ft_op op[] = {window(i, 3, "fp32"), window(i + 1, 3, "fp32"),
                            window(i, 1, "fp32"), window(i + 1, 3, "fp16")};
        ft__op_answer a[4];

        CHECK(
            EQ(ft__family_query(a, p->family, FT__METRIC_TIME, &on, op, NULL, 4, NULL),
               FT_OK));
        CHECK(!a[1].unlike && a[2].unlike && a[3].unlike);
        CHECK_NEAR(a[3].value / a[3].base, 1, 1e-9);
        CHECK(CMP(a[1].value / a[1].base, >, 2 * a[0].value / a[0].base));
        CHECK(!a[0].far && !a[1].far && a[2].far);
        CHECK_NEAR(a[2].value / a[2].base, 1, 1e-9);
        CHECK(CMP(a[2].high / a[2].low, >, a[0].high / a[0].low));
    }
    ft_device_free(on.file);
    ft_predictor_free(p);
}

static void put_mode(ft_store *s, const char *setting, const ft_op *op, double time_s)
{
    char spec[1024];
    const ft_key key = {"a30", setting,   "torch", "2.3",
                        spec,  "forward", "ieee",  "time"};
    const ft_measurement m = {.unit = "s", .value = time_s, .error = NAN, .n = 1};
    int64_t run;

    CHECK_EQ(ft__store_begin_run(s, &run, "test", "{}", NULL), FT_OK);
    ft_op_print(op, spec, sizeof(spec));
    CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, NULL), FT_OK);
}

/* Of an A30, n operations in that setting, so many times what the law says. */
static void fill_mode(ft_store *s, const char *setting, int first, int n, double times)
{
    ft_device *d;

    CHECK_EQ(ft_device_load(&d, data_dir, "a30", NULL), FT_OK);
    for (int i = first; i < first + n; i++) {
        ft_op op;

        make_op(&op, i);
        put_mode(s, setting, &op, times * law_s(&op, ft_device_get(d)));
    }
    ft_device_free(d);
}

/* Of a larger dataset in another run mode nothing is taken where there is a choice. */
TEST(an_operation_is_scaled_from_whoever_of_the_architecture_measured_it)
{
    const ft_train_options how = {.methods = 1u << FT_METHOD_EXTRA};
    ft__dataset on = {.device = (char *)"a100-sxm-40gb",
                      .setting = (char *)"run_mode=eager"};
    ft_store *s = store_of(3);
    ft__op_answer a[3];
    ft_predictor *p;
    ft_op op[3];

    fill_mode(s, "run_mode=graph", 0, 2 * N_OPS, 3);
    fill_mode(s, "run_mode=eager", N_OPS, 20, 5);
    p = train(s, &how);
    ft_store_close(s);
    CHECK_EQ(ft_device_load(&on.file, data_dir, on.device, NULL), FT_OK);
    make_op(&op[0], 1);          /* without a run mode, which is eager, and in graphs */
    make_op(&op[1], N_OPS + 1);  /* eager and in graphs */
    make_op(&op[2], N_OPS + 31); /* in graphs alone */
    CHECK_EQ(ft__family_query(a, p->family, FT__METRIC_TIME, &on, op, NULL, 3, NULL),
             FT_OK);
    for (int i = 0; i < 3; i++) {
        static const double times[] = {1, 5, 3};

        CHECK_NEAR(a[i].value / (times[i] * law_s(&op[i], ft_device_get(on.file))), 1,
                   0.3);
    }
    ft_device_free(on.file);
    ft_predictor_free(p);
}

/* A sibling's kernels by another version of the engine, five times slower than they are
 * estimated, say nothing of the device; nor does how long its host takes of what waits
 * for it. */
TEST(versions_and_hosts_of_a_sibling_are_its_own_affair)
{
    const ft_train_options how = {.methods = 1u << FT_METHOD_EXTRA};
    ft__dataset on = {.device = (char *)"a100-sxm-40gb",
                      .setting = (char *)"run_mode=eager",
                      .engine_version = (char *)"2.4"};
    ft_store *s = store_of(3);
    ft__op_answer a;
    ft_predictor *p;
    ft_op op, tiny;

    CHECK_EQ(ft_op_parse(&tiny, "relu x=8x8 dtype=fp32", 21, NULL), FT_OK);
    fill_mode(s, "run_mode=eager", 0, N_OPS, 5);
    put_mode(s, "run_mode=eager", &tiny, 5 * 8e-6);
    p = train(s, &how);
    ft_store_close(s);
    CHECK_EQ(ft_device_load(&on.file, data_dir, on.device, NULL), FT_OK);
    make_op(&op, 1);
    CHECK_EQ(ft__family_query(&a, p->family, FT__METRIC_TIME, &on, &op, NULL, 1, NULL),
             FT_OK);
    CHECK(CMP(a.value, <, 0.8 * 5 * law_s(&op, ft_device_get(on.file))));
    on.engine_version = NULL;
    CHECK_EQ(ft__family_query(&a, p->family, FT__METRIC_TIME, &on, &op, NULL, 1, NULL),
             FT_OK);
    CHECK_NEAR(a.value / (5 * law_s(&op, ft_device_get(on.file))), 1, 0.3);
    CHECK_EQ(
        ft__family_query(&a, p->family, FT__METRIC_TIME, &on, &tiny, NULL, 1, NULL),
        FT_OK);
    CHECK(CMP(a.value / a.base, <, 2));
    ft_device_free(on.file);
    ft_predictor_free(p);
}

/* A bias makes these products take three times as long, which no estimate knows. */
static void fill_biased(ft_store *s, const char *device)
{
    ft_device *d;
    int64_t run;

    CHECK_EQ(ft_device_load(&d, data_dir, device, NULL), FT_OK);
    CHECK_EQ(ft__store_begin_run(s, &run, "test", "{}", NULL), FT_OK);
    for (unsigned i = 0; i < N_OPS; i++) {
        ft__prng p = ft__prng_stream(9, i);
        char spec[200];
        ft_op op;

        snprintf(spec, sizeof(spec), "linear x=%ux%u out=%u%s dtype=fp32",
                 64 + ft__prng_below(&p, 2000), 64 + ft__prng_below(&p, 2000),
                 64 + ft__prng_below(&p, 2000), i % 2 ? " bias=1" : "");
        CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK);
        put(s, run, device, &op, "time",
            law_s(&op, ft_device_get(d)) * (i % 2 ? 3 : 1));
    }
    ft_device_free(d);
}

static void take_best(void *user, const ft_regressor_attributes *of)
{
    int *n = user;

    ++*n;
    CHECK(SAME(of->metric, "time") && SAME(of->phase, "forward"));
    CHECK(CMP(of->n, >, 40) && CMP(of->attribute[0].worth.increase, >, 0.15));
    /* Two columns say it: a bias is a kernel more. */
    for (int i = 0; i < 2; i++)
        CHECK(SAME(of->attribute[i].name, "bias") ||
              SAME(of->attribute[i].name, "kernels"));
    CHECK(!SAME(of->attribute[0].name, of->attribute[1].name));
    for (size_t i = 2; i < of->n; i++)
        CHECK(CMP(of->attribute[i].worth.increase, <,
                  of->attribute[0].worth.increase / 4));
}

static void training_tells_what_attributes_are_worth(void)
{
    int told = 0;
    const ft_train_options how = {.methods = 1u << FT_METHOD_EXTRA,
                                  .importance = take_best,
                                  .importance_user = &told};
    ft_store *s;

    CHECK_EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    fill_biased(s, devices[0]);
    fill_biased(s, devices[1]);
    ft_predictor_free(train(s, &how));
    CHECK_EQ(told, 6); /* linear, matrix products, all; for these devices and others */
    ft_store_close(s);
}

int main(int argc, char **argv)
{
    ft_predictor *p, *forgetful;

    take_folder(argc, argv);
    check_all();
    p = train_all(0, 1);
    forgetful = train_all(1, 1);
    known_devices_are_foretold(forgetful);
    boards_of_a_known_device_differ(p);
    a_few_rows_tell_what_board_it_is();
    what_is_added_is_of_the_same_boards(p);
    a_device_never_measured_is_foretold(p);
    what_was_measured_is_answered_as_measured(p, forgetful);
    too_little_is_known_of_a_device(p);
    a_family_is_no_single_machine(p);
    threads_change_no_byte(p);
    damage_is_noticed(p);
    boards_that_make_no_sense_are_noticed();
    a_saved_file_answers_the_same(p, "test_family.ftp");
    a_file_stays_within_what_it_may_take();
    what_is_added_leaves_the_rest_alone(p);
    ft_predictor_free(p);
    ft_predictor_free(forgetful);
    training_tells_what_attributes_are_worth();
    CHECK_DONE();
}
