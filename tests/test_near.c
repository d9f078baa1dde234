/* Neighbours of operations: found, learned from, kept in files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "family_rig.h"
#include "foretell/store.h"
#include "graph/op_inside.h"
#include "predict/file/predictor.h"
#include "predict/model/regressor.h"
#include "predict/train/train.h"

enum { MOST = 600, COLUMNS = FT__MOST_AXES * FT__AXIS_COLUMNS };

struct set {
    ft__sample v[MOST];
    ft__samples s;
    uint32_t row[MOST];
    double target[MOST];
};

static void add(struct set *g, const char *spec, uint32_t dataset, double target)
{
    ft__sample *v = &g->v[g->s.n];

    g->s.v = g->v;
    CHECK_EQ(ft_op_parse(&v->op, spec, strlen(spec), NULL), FT_OK);
    v->hash = ft__op_hash(&v->op);
    v->dataset = dataset;
    g->target[g->s.n] = target;
    g->row[g->s.n] = (uint32_t)g->s.n;
    g->s.n++;
}

static void add_linear(struct set *g, int m, int k, int n, uint32_t dataset,
                       double target)
{
    char spec[100];

    snprintf(spec, sizeof(spec), "linear x=%dx%d out=%d dtype=fp32", m, k, n);
    add(g, spec, dataset, target);
}

/* Two of three points of a grid, at random, on two datasets. */
static void fill_grid(struct set *g)
{
    static const int sizes[] = {1, 2, 3, 8, 64, 4096};
    ft__prng p = ft__prng_stream(3, 0);

    *g = (struct set){.s = {.n = 0}};
    for (uint32_t d = 0; d < 2; d++)
        for (int i = 0; i < 6 * 6 * 6; i++)
            if (ft__prng_below(&p, 3))
                add_linear(g, sizes[i % 6], sizes[i / 6 % 6], sizes[i / 36], d,
                           ft__prng_unit(&p));
}

static ft__neighbours near_of(const struct set *g)
{
    ft__neighbours near;

    CHECK_EQ(ft__neighbours_make(&near, &g->s, g->row, g->target, g->s.n, NULL), FT_OK);
    return near;
}

/* The nearest one on one side by looking at all of them; -1: there is none. */
static int search(const struct set *g, const ft__sample *v, int axis, int side)
{
    const int64_t *mine = v->op.value;
    int best = -1;

    for (int i = 0; i < (int)g->s.n; i++) {
        const int64_t *its = g->v[i].op.value;
        bool same = g->v[i].dataset == v->dataset;

        for (int k = 0; k < 3; k++)
            same &= k == axis || its[k] == mine[k];
        if (same && (its[axis] - mine[axis]) * side > 0 &&
            (best < 0 || (its[axis] - g->v[best].op.value[axis]) * side < 0))
            best = i;
    }
    return best;
}

static void check_side(const struct set *g, const ft__sample *v, const float *columns,
                       int axis, int above)
{
    const int at = search(g, v, axis, above ? 1 : -1);
    const float target = columns[axis * FT__AXIS_COLUMNS + above];
    const float octaves = columns[axis * FT__AXIS_COLUMNS + 2 + above];

    CHECK(EQ((at < 0), !isfinite(target)) && EQ((at < 0), !isfinite(octaves)));
    if (at < 0)
        return;
    CHECK_EQ(target, (float)g->target[at]);
    CHECK_NEAR(octaves,
               fabs(log2((double)(1 + g->v[at].op.value[axis]) /
                         (double)(1 + v->op.value[axis]))),
               1e-6);
}

TEST(neighbours_differ_in_one_size_and_are_the_next)
{
    static struct set g, asked;
    ft__neighbours near;

    fill_grid(&g);
    near = near_of(&g);
    CHECK_EQ(near.n_axes, 3);
    /* Known ones, and others on the grid and beside it. */
    asked = g;
    add_linear(&asked, 2, 2, 5, 0, 0);
    add_linear(&asked, 9000, 64, 8, 1, 0);
    add_linear(&asked, 64, 64, 64, 0, 0);
    for (size_t i = 0; i < asked.s.n; i++) {
        float columns[COLUMNS];
        bool any = ft__neighbours_fill(&near, columns, &asked.v[i]), found = false;

        for (int axis = 0; axis < 3; axis++)
            for (int above = 0; above < 2; above++) {
                check_side(&g, &asked.v[i], columns, axis, above);
                found |= search(&g, &asked.v[i], axis, above ? 1 : -1) >= 0;
            }
        CHECK_EQ(any, found);
    }
    ft__neighbours_free(&near);
}

TEST(sizes_that_are_always_equal_count_as_one)
{
    static struct set g;
    float columns[COLUMNS];
    ft__neighbours near;

    g = (struct set){.s = {.n = 0}};
    for (int size = 7; size <= 56; size *= 2)
        for (int channels = 8; channels <= 64; channels *= 2) {
            char spec[100];

            snprintf(spec, sizeof(spec), "relu x=4x%dx%dx%d dtype=fp32", channels, size,
                     size);
            add(&g, spec, 0, size + channels / 100.0);
        }
    near = near_of(&g);
    CHECK_EQ(near.n_axes, 2);
    /* 4 x 8 x 14 x 14: channels 16, height and width 7 and 28. */
    CHECK(ft__neighbours_fill(&near, columns, &g.v[4]));
    CHECK(isnan(columns[0]) && EQ(columns[1], 14.16f));
    CHECK(EQ(columns[4], 7.08f) && EQ(columns[5], 28.08f));
    ft__neighbours_free(&near);
}

TEST(repeats_are_one_operation_and_no_neighbours)
{
    static struct set g;
    float columns[COLUMNS];
    ft__neighbours near;

    g = (struct set){.s = {.n = 0}};
    add_linear(&g, 8, 16, 32, 0, 1);
    add_linear(&g, 8, 16, 32, 0, 2);
    add_linear(&g, 9, 16, 32, 0, 7);
    near = near_of(&g);
    CHECK_EQ(near.n_axes, 1);
    CHECK(ft__neighbours_fill(&near, columns, &g.v[0]));
    CHECK(isnan(columns[0]) && EQ(columns[1], 7));
    CHECK(ft__neighbours_fill(&near, columns, &g.v[2]));
    CHECK(EQ(columns[0], 1.5f) && isnan(columns[1]));
    ft__neighbours_free(&near);
}

TEST(without_a_grid_there_is_nothing_to_look_up)
{
    static struct set g;
    ft__prng p = ft__prng_stream(4, 0);
    ft__neighbours near;

    g = (struct set){.s = {.n = 0}};
    for (int i = 0; i < 300; i++)
        add_linear(&g, 1 + (int)ft__prng_below(&p, 5000),
                   1 + (int)ft__prng_below(&p, 5000), 1 + (int)ft__prng_below(&p, 5000),
                   0, 0);
    near = near_of(&g);
    CHECK(EQ(near.n_axes, 0) && EQ(ft__neighbours_columns(&near), 0));
    ft__neighbours_free(&near);
}

TEST(an_image_is_believed_only_as_far_as_it_goes)
{
    static struct set g;
    ft__neighbours near, again;
    ft__neighbours_image *head;
    ft__neighbours_axis_image *axis;
    void *copy;

    fill_grid(&g);
    near = near_of(&g);
    for (size_t len = 0; len < near.bytes; len++)
        CHECK(!ft__neighbours_open(&again, near.image, len));
    CHECK(ft__neighbours_open(&again, near.image, near.bytes));
    copy = malloc(near.bytes);
    head = copy;
    axis = (void *)(head + 1);
    memcpy(copy, near.image, near.bytes);
    head->n_axes = 5;
    CHECK(!ft__neighbours_open(&again, copy, near.bytes));
    memcpy(copy, near.image, near.bytes);
    axis[1].n = UINT64_MAX / 16;
    CHECK(!ft__neighbours_open(&again, copy, near.bytes));
    memcpy(copy, near.image, near.bytes);
    head->bytes = sizeof(*head);
    CHECK(!ft__neighbours_open(&again, copy, near.bytes));
    /* Numbers that nobody wrote are found or not; nothing else is touched. */
    memset((char *)copy + sizeof(*head) + 3 * sizeof(*axis), 0xa5,
           near.bytes - sizeof(*head) - 3 * sizeof(*axis));
    head->bytes = near.bytes;
    CHECK(ft__neighbours_open(&again, copy, near.bytes));
    for (size_t i = 0; i < g.s.n; i++) {
        float columns[COLUMNS];

        ft__neighbours_fill(&again, columns, &g.v[i]);
    }
    free(copy);
    ft__neighbours_free(&near);
}

static const int row_sizes[] = {16,  32,   64,   128,  256,  512,
                                768, 1024, 1536, 2048, 3072, 4096};
static const int sizes[] = {128, 256, 384, 512, 1024, 2048, 4096};
enum { N_ROW_SIZES = 12, N_SIZES = 7, N_GRID = N_ROW_SIZES * N_SIZES * N_SIZES };

static ft_op grid_op(int i)
{
    char spec[100];
    ft_op op;

    snprintf(spec, sizeof(spec), "linear x=%dx%d out=%d dtype=fp32",
             row_sizes[i % N_ROW_SIZES], sizes[i / N_ROW_SIZES % N_SIZES],
             sizes[i / N_ROW_SIZES / N_SIZES]);
    CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK);
    return op;
}

/* Each pair of rows and outputs has a level of its own, as if measured on another day;
 * depth changes nothing. */
static double watts_of(const ft_op *op)
{
    ft__prng p = ft__prng_stream(8, (uint64_t)(op->value[0] * 65536 + op->value[2]));

    return 60 + 80 * ft__prng_unit(&p);
}

static bool is_known(int i)
{
    ft__prng p = ft__prng_stream(7, (uint64_t)i);

    return ft__prng_below(&p, 3) > 0;
}

static ft_store *grid_store(void)
{
    ft_store *s;
    int64_t run;

    CHECK_EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    CHECK_EQ(ft__store_begin_run(s, &run, "test", "{}", NULL), FT_OK);
    for (int i = 0; i < N_GRID; i++) {
        const ft_op op = grid_op(i);
        char spec[200];
        ft_key key = {"a30", "", "torch", "2.3", spec, "forward", "ieee", "time"};
        ft_measurement m = {.unit = "s", .error = NAN, .n = 1};
        ft_cost c;

        if (!is_known(i))
            continue;
        ft_op_print(&op, spec, sizeof(spec));
        ft_op_cost(&op, &c);
        m.value = 5e-6 + c.flops / 8e12;
        CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, NULL), FT_OK);
        key.metric = "power";
        m.value = watts_of(&op);
        CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, NULL), FT_OK);
    }
    return s;
}

static ft_predictor *train_grid(const ft_train_options *more)
{
    ft_train_options how = *more;
    ft_store *s = grid_store();
    ft_predictor *p;

    how.methods = 1u << FT_METHOD_EXTRA;
    p = train(s, &how);
    ft_store_close(s);
    return p;
}

/* Those of power that rows with neighbours have. */
static int count_near(const ft__family *f)
{
    const ft__model_set *l = f->model_set[FT__METRIC_POWER][0];
    int n = 0;

    for (uint32_t i = 0; i < l->n_regressors; i++)
        n += l->part[i].scope == FT__SCOPE_NEIGHBOURS;
    return n;
}

static ft_status ask(ft__op_answer *a, const ft__family *f, const ft_op *op)
{
    ft__dataset on = {.device = (char *)"a30"};
    ft_status st;

    CHECK_EQ(ft_device_load(&on.file, data_dir, "a30", NULL), FT_OK);
    st = ft__family_query(a, f, FT__METRIC_POWER, &on, op, NULL, 1, NULL);
    ft_device_free(on.file);
    return st;
}

/* Mean error on the points of the grid that nobody measured. */
static double error_of(const ft__family *f)
{
    double sum = 0;
    int n = 0;

    for (int i = 0; i < N_GRID; i++) {
        const ft_op op = grid_op(i);
        ft__op_answer a;

        if (is_known(i))
            continue;
        CHECK_EQ(ask(&a, f, &op), FT_OK);
        CHECK(CMP(a.low, <=, a.value) && CMP(a.value, <=, a.high));
        sum += fabs(a.value / watts_of(&op) - 1);
        n++;
    }
    return sum / n;
}

/* The same without them. */
static ft__family train_plain(void)
{
    const ft__family_options how = {.learn = {.plain = true,
                                              .fit = {.methods = 1u << FT_METHOD_EXTRA,
                                                      .n_trees = 24,
                                                      .n_folds = 4,
                                                      .seed = 1}}};
    ft_store *store = grid_store();
    ft__family f = {0};
    ft__samples s = {0}, own;
    uint32_t *row;

    CHECK_EQ(ft__samples_read(&s, store, NULL, NULL, NULL), FT_OK);
    CHECK_EQ(ft__samples_know(&s, data_dir, NULL), FT_OK);
    row = calloc(s.n + 1, sizeof(*row));
    CHECK(row != NULL);
    for (size_t i = 0; i < s.n; i++)
        row[i] = (uint32_t)i;
    CHECK_EQ(ft__samples_subset(&own, &s, row, s.n, NULL), FT_OK);
    CHECK_EQ(ft__family_train(&f, &own, &how, NULL), FT_OK);
    CHECK_EQ(count_near(&f), 0);
    free(row);
    ft__samples_free(&own);
    ft__samples_free(&s);
    ft_store_close(store);
    return f;
}

/* Files that are to be small do without. */
static void neighbours_need_room(void)
{
    const ft_train_options small = {.most_bytes = 150000};
    ft_predictor *p = train_grid(&small);

    CHECK_EQ(count_near(p->family), 0);
    ft_predictor_free(p);
}

static void neighbours_tell_what_sizes_do_not(const ft__family *near,
                                              const ft__family *plain)
{
    CHECK_EQ(count_near(near), 1);
    CHECK(CMP(error_of(near), <, 0.6 * error_of(plain)));
}

static void what_has_no_neighbours_is_answered_without(const ft__family *near,
                                                       const ft__family *plain)
{
    static const char spec[] = "linear x=100x200 out=300 dtype=fp32";
    ft__op_answer a, b;
    ft_op op;

    CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK);
    CHECK(EQ(ask(&a, near, &op), FT_OK) && EQ(ask(&b, plain, &op), FT_OK));
    CHECK_EQ(a.value, b.value);
}

static void threads_change_no_byte(const ft_predictor *one)
{
    const ft_train_options how = {.threads = 3};
    ft_predictor *three = train_grid(&how);

    CHECK(EQ(one->len, three->len) && !memcmp(one->image, three->image, one->len));
    ft_predictor_free(three);
}

static void what_is_added_to_keeps_them(const ft_predictor *p)
{
    const ft_train_options how = {.add = p};
    ft_predictor *more = train_grid(&how);

    CHECK(EQ(p->len, more->len) && !memcmp(p->image, more->image, p->len));
    CHECK_EQ(error_of(more->family), error_of(p->family));
    ft_predictor_free(more);
}

static void a_saved_file_answers_the_same(const ft_predictor *p, const char *path)
{
    ft_predictor *again = NULL;

    CHECK_EQ(ft_predictor_save(p, path, NULL), FT_OK);
    CHECK_EQ(ft_predictor_load(&again, path, NULL), FT_OK);
    CHECK_EQ(error_of(again->family), error_of(p->family));
    ft_predictor_free(again);
    remove(path);
}

/* Every byte of the part: what is changed is never asked. */
static void damage_is_noticed(const ft_predictor *p)
{
    const ft__model_set *l = p->family->model_set[FT__METRIC_POWER][0];
    const uint32_t at = ft__model_set_neighbours_of(l, &l->part[0]);
    unsigned char *copy = aligned_alloc(64, (p->len + 63) / 64 * 64);
    const ft_op op = grid_op(40);

    CHECK(CMP(at, <, l->n_regressors));
    for (size_t i = 0; i < l->part[at].stored.bytes; i += 997) {
        ft_predictor *broken;
        ft__op_answer a;
        ft_status st;

        memcpy(copy, p->image, p->len);
        copy[l->part[at].stored.pos + i] ^= 0x41;
        st = ft__predictor_load_image(&broken, copy, p->len, NULL);
        if (!st)
            st = ask(&a, broken->family, &op);
        CHECK_EQ(st, FT_EFORMAT);
        ft_predictor_free(broken);
    }
    free(copy);
}

int main(int argc, char **argv)
{
    const ft_train_options usual = {.threads = 1};
    ft_predictor *near;
    ft__family plain;

    take_folder(argc, argv);
    check_all();
    near = train_grid(&usual);
    plain = train_plain();
    neighbours_tell_what_sizes_do_not(near->family, &plain);
    what_has_no_neighbours_is_answered_without(near->family, &plain);
    neighbours_need_room();
    threads_change_no_byte(near);
    what_is_added_to_keeps_them(near);
    a_saved_file_answers_the_same(near, "near.ftp");
    damage_is_noticed(near);
    ft_predictor_free(near);
    ft__family_free(&plain);
    CHECK_DONE();
}
