/* Networks cut over devices, and networks dealt to devices, against trying every way.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/build.h"
#include "graph/graph_inside.h"
#include "import/graph_inside.h"
#include "predict/query/network.h"
#include "query/place.h"
#include "shipped.h"

static uint64_t state = 7;

static double draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static ft_graph *network(const char *model, int64_t batch)
{
    const ft_import_options how = {.batch = batch};
    ft_graph *g = NULL, *out = NULL;
    char path[4200];

    snprintf(path, sizeof(path), "%s/models/%s.onnx", data_dir, model);
    CHECK_EQ(ft__import_file(&g, path, &how, NULL), FT_OK);
    CHECK_EQ(ft__graph_lower(&out, g, FT_POLICY_STRIDED_VIEWS, NULL), FT_OK);
    ft_graph_free(g);
    return out;
}

struct rig {
    ft_graph *g;
    ft__place_device device[FT_PLACE_MAX_DEVICES];
    ft_device *file[FT_PLACE_MAX_DEVICES];
    size_t n;
};

static struct rig rig_of(const char *model, int64_t batch, const char *const *names,
                         size_t n)
{
    struct rig r = {.g = network(model, batch), .n = n};

    for (size_t d = 0; d < n; d++) {
        r.file[d] = device_of(names[d]);
        r.device[d] = (ft__place_device){.use = {.device = r.file[d]},
                                         .limit_bytes = NAN,
                                         .link_bytes_per_s = 12e9,
                                         .link_latency_s = 1e-5,
                                         .link_j_per_byte = 1e-10};
    }
    return r;
}

static void rig_free(struct rig *r)
{
    for (size_t d = 0; d < r->n; d++)
        ft_device_free(r->file[d]);
    ft_graph_free(r->g);
}

static double value_of(const ft_split *s, ft_place_by by)
{
    return by == FT_PLACE_BY_TIME     ? s->time_s
           : by == FT_PLACE_BY_PERIOD ? s->period_s
                                      : s->energy_j;
}

/* The least of all ways that fit. */
static double least_of(const struct rig *r, ft_place_by by)
{
    const uint32_t n = r->g->n_nodes;
    double least = INFINITY;

    for (uint32_t a = 0; a <= n; a++)
        for (uint32_t b = r->n > 2 ? a : n; b <= n; b++) {
            const uint32_t cut[] = {0, a, b, n};
            ft_split s;

            CHECK_EQ(ft__place_at(&s, r->device, r->n, r->g, cut, NULL), FT_OK);
            if (s.fits && value_of(&s, by) < least)
                least = value_of(&s, by);
        }
    return least;
}

static void check_split(const struct rig *r)
{
    for (int by = 0; by < FT_PLACE_BY_COUNT; by++) {
        ft_split s;
        ft_status st =
            ft__place_split(&s, NULL, r->device, r->n, r->g, (ft_place_by)by, NULL);
        double least = least_of(r, (ft_place_by)by);

        CHECK_EQ((st == FT_OK), isfinite(least));
        if (!st)
            CHECK_NEAR(value_of(&s, (ft_place_by)by) / least, 1, 1e-12);
    }
}

TEST(two_devices_are_cut_as_well_as_trying_all_cuts)
{
    static const char *const names[] = {"t4", "a30"}, *const back[] = {"a30",
                                                                       "jetson-tx2"};
    struct rig r = rig_of("resnet18", 64, names, 2);

    check_split(&r);
    r.device[0].link_bytes_per_s = 1e15;
    check_split(&r);
    rig_free(&r);
    r = rig_of("squeezenet1_1", 16, back, 2);
    check_split(&r);
    rig_free(&r);
}

TEST(three_devices_too)
{
    static const char *const names[] = {"t4", "l4", "a30"};
    struct rig r = rig_of("resnet18", 32, names, 3);

    r.device[0].link_latency_s = 0;
    check_split(&r);
    rig_free(&r);
}

TEST(parts_keep_within_the_memory)
{
    static const char *const names[] = {"a30", "t4"};
    struct rig r = rig_of("resnet18", 64, names, 2);
    ft_split s, alone[2];

    CHECK_EQ(ft__place_split(&s, alone, r.device, 2, r.g, FT_PLACE_BY_TIME, NULL),
             FT_OK);
    r.device[0].limit_bytes = r.device[1].limit_bytes =
        0.97 * alone[0].stage[0].memory_bytes;
    check_split(&r);
    CHECK_EQ(ft__place_split(&s, NULL, r.device, 2, r.g, FT_PLACE_BY_TIME, NULL),
             FT_OK);
    CHECK(s.fits && CMP(s.stage[0].end, >, 0) && CMP(s.stage[0].end, <, r.g->n_nodes));
    r.device[0].limit_bytes = r.device[1].limit_bytes = 1e6;
    CHECK_EQ(ft__place_split(&s, NULL, r.device, 2, r.g, FT_PLACE_BY_TIME, NULL),
             FT_ENOTFOUND);
    rig_free(&r);
}

/* A whole network is what is predicted of it. */
TEST(an_uncut_network_is_what_is_predicted)
{
    static const char *const names[] = {"a30", "l4"};
    struct rig r = rig_of("mobilenet_v2", 8, names, 2);
    ft_split s, alone[2];

    CHECK_EQ(ft__place_split(&s, alone, r.device, 2, r.g, FT_PLACE_BY_TIME, NULL),
             FT_OK);
    for (int d = 0; d < 2; d++) {
        ft__network_estimate e;

        CHECK_EQ(ft__predict_network(&e, NULL, &r.device[d].use, r.g, NULL), FT_OK);
        CHECK_NEAR(alone[d].time_s / e.time.value, 1, 1e-12);
        CHECK_NEAR(alone[d].energy_j / e.energy.value, 1, 1e-12);
        CHECK(EQ(alone[d].stage[d].sent_bytes, 0) &&
              EQ(alone[d].stage[1 - d].time_s, 0));
        CHECK(CMP(s.time_s, <=, alone[d].time_s));
        ft__network_estimate_free(&e);
    }
    rig_free(&r);
}

static bool touches(const ft_graph *g, const ft_node *n, uint32_t storage)
{
    for (uint32_t j = 0; j < n->n_in; j++)
        if (g->tensor[n->in[j]].storage == storage)
            return true;
    for (uint32_t j = 0; j < n->n_out; j++)
        if (g->tensor[n->out[j]].storage == storage)
            return true;
    return false;
}

/* Tensor by tensor. */
static double bytes_across(const ft_graph *g, uint32_t cut)
{
    double sum = 0;

    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];
        bool before = false, behind = false;

        for (uint32_t k = 0; k < g->n_nodes; k++)
            if (touches(g, &g->node[k], i))
                *(k < cut ? &before : &behind) = true;
        if (t->storage == i && t->role != FT_ROLE_WEIGHT && before && behind)
            sum += (double)ft_tensor_bytes(&t->shape, t->dtype);
    }
    return sum;
}

TEST(what_is_sent_is_what_is_read_behind_the_cut)
{
    static const char *const names[] = {"t4", "a30"};
    struct rig r = rig_of("resnet18", 2, names, 2);

    for (uint32_t cut = 1; cut < r.g->n_nodes; cut++) {
        const uint32_t at[] = {0, cut, r.g->n_nodes};
        ft_split s;

        CHECK_EQ(ft__place_at(&s, r.device, 2, r.g, at, NULL), FT_OK);
        CHECK_EQ(s.stage[0].sent_bytes, bytes_across(r.g, cut));
        CHECK_NEAR(s.stage[0].sent_s,
                   s.stage[0].sent_bytes / 12e9 + s.stage[0].n_sent * 1e-5, 1e-15);
    }
    rig_free(&r);
}

/* Linear layers with one weight among them. */
static ft_graph *tied(uint32_t layers)
{
    static const char spec[] = "linear x=64x256 out=256 dtype=fp32";
    static const ft_shape x = {.rank = 2, .dim = {64, 256}},
                          w = {.rank = 2, .dim = {256, 256}};
    ft__build *b = ft__build_new("tied");
    uint32_t weight = ft__build_tensor(b, "w", 1, FT_ROLE_WEIGHT, FT_DTYPE_fp32, &w);
    uint32_t at = ft__build_tensor(b, "x", 1, FT_ROLE_INPUT, FT_DTYPE_fp32, &x);
    ft_graph *g;
    ft_op op;

    CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK);
    for (uint32_t i = 0; i < layers; i++) {
        uint32_t next =
            ft__build_tensor(b, "h", 1, FT_ROLE_ACTIVATION, FT_DTYPE_fp32, &x);

        ft__build_node(b, "layer", 5, &op, &at, 1, &weight, 1, &next, 1);
        at = next;
    }
    ft__build_output(b, at);
    CHECK_EQ(ft__build_finish_take(&g, b, NULL), FT_OK);
    return g;
}

TEST(a_weight_is_in_every_part_that_uses_it_and_once_in_each)
{
    static const char *const names[] = {"t4", "a30"};
    const double weight = 4 * 256 * 256, row = 4 * 64 * 256;
    struct rig r = rig_of("resnet18", 2, names, 2);
    const uint32_t cut[] = {0, 2, 4};
    ft_split s;

    ft_graph_free(r.g);
    r.g = tied(4);
    CHECK_EQ(ft__place_at(&s, r.device, 2, r.g, cut, NULL), FT_OK);
    for (int d = 0; d < 2; d++) {
        CHECK(CMP(s.stage[d].memory_bytes, >=, weight + 2 * row));
        CHECK(CMP(s.stage[d].memory_bytes, <=, weight + 3 * row));
    }
    r.device[1].limit_bytes = weight;
    check_split(&r);
    rig_free(&r);
}

TEST(a_part_of_views_alone_draws_nothing)
{
    static const char *const names[] = {"t4", "a30"};
    struct rig r = rig_of("resnet18", 2, names, 2);
    static const char list[] = "view x=64x256 out=256x64 dtype=fp32\n"
                               "relu x=64x256 dtype=fp32\n";
    const uint32_t cut[] = {0, 1, 2};
    ft_split s;

    ft_graph_free(r.g);
    CHECK_EQ(ft_import_ops(&r.g, list, sizeof(list) - 1, "list", NULL), FT_OK);
    CHECK_EQ(ft__place_at(&s, r.device, 2, r.g, cut, NULL), FT_OK);
    CHECK(EQ(s.stage[0].time_s, 0) && EQ(s.stage[0].energy_j, 0));
    CHECK(CMP(s.stage[1].energy_j, >, 0) && CMP(s.energy_j, >=, s.stage[1].energy_j));
    rig_free(&r);
}

enum { MOST = 64 };
struct table {
    double time_s[MOST], energy_j[MOST], bytes[MOST], limit[8];
    ft_assign_case c;
};

static void make_table(struct table *t, size_t n, size_t m)
{
    for (size_t i = 0; i < n * m; i++) {
        t->time_s[i] = draw() < 0.1 ? (double)NAN : 0.1 + draw();
        t->energy_j[i] = draw() < 0.05 ? (double)NAN : 1 + 9 * draw();
        t->bytes[i] = draw();
    }
    for (size_t d = 0; d < m; d++)
        t->limit[d] = 0.7 * (double)n / (double)m;
    t->c = (ft_assign_case){.networks = n,
                            .devices = m,
                            .time_s = t->time_s,
                            .energy_j = t->energy_j,
                            .memory_bytes = draw() < 0.5 ? t->bytes : NULL,
                            .limit_bytes = t->limit,
                            .limit_s = draw() < 0.5 ? (double)INFINITY : 0.5 + draw()};
    if (!t->c.memory_bytes)
        t->c.limit_bytes = NULL;
}

/* Of one way; INFINITY: it breaks a limit. */
static double try_way(const struct table *t, size_t way, ft_place_by by)
{
    double load[8] = {0}, bytes[8] = {0}, energy = 0, most = 0;

    for (size_t i = 0; i < t->c.networks; i++, way /= t->c.devices) {
        size_t d = way % t->c.devices, at = i * t->c.devices + d;

        load[d] += t->time_s[at];
        energy += t->energy_j[at];
        bytes[d] += t->bytes[at];
    }
    for (size_t d = 0; d < t->c.devices; d++) {
        if (!(load[d] <= t->c.limit_s) ||
            (t->c.memory_bytes && !(bytes[d] <= t->limit[d])))
            return INFINITY;
        most = fmax(most, load[d]);
    }
    if (by == FT_PLACE_BY_TIME)
        return most;
    return isnan(energy) ? (double)INFINITY : energy;
}

TEST(dealing_is_as_good_as_trying_all_ways)
{
    for (int round = 0; round < 400; round++) {
        size_t n = 1 + (size_t)(draw() * 6), m = 1 + (size_t)(draw() * 4), ways = 1;
        ft_place_by by = draw() < 0.5 ? FT_PLACE_BY_TIME : FT_PLACE_BY_ENERGY;
        double least = INFINITY;
        struct table t;
        ft_assignment a;
        ft_status st;

        make_table(&t, n, m);
        for (size_t i = 0; i < n; i++)
            ways *= m;
        for (size_t w = 0; w < ways; w++)
            least = fmin(least, try_way(&t, w, by));
        st = ft_place_assign(&a, &t.c, by, NULL);
        CHECK_EQ((st == FT_OK), isfinite(least));
        if (st)
            continue;
        CHECK(a.exact);
        CHECK_NEAR((by == FT_PLACE_BY_TIME ? a.time_s : a.energy_j) / least, 1, 1e-9);
        ft_assignment_free(&a);
    }
}

TEST(a_search_that_is_cut_short_says_so_and_what_may_be_better)
{
    struct table t;
    ft_assignment some, all;

    for (size_t i = 0; i < 48; i++)
        t.time_s[i] = 1 + draw();
    t.c = (ft_assign_case){.networks = 16,
                           .devices = 3,
                           .time_s = t.time_s,
                           .limit_s = INFINITY,
                           .most_steps = 100};
    CHECK_EQ(ft_place_assign(&some, &t.c, FT_PLACE_BY_TIME, NULL), FT_OK);
    t.c.most_steps = 0;
    CHECK_EQ(ft_place_assign(&all, &t.c, FT_PLACE_BY_TIME, NULL), FT_OK);
    CHECK(!some.exact && CMP(some.bound, <=, all.time_s) &&
          CMP(all.time_s, <=, some.time_s));
    ft_assignment_free(&some);
    ft_assignment_free(&all);
    CHECK_EQ(ft_place_assign(&all, &t.c, FT_PLACE_BY_ENERGY, NULL), FT_ENOTFOUND);
    CHECK_EQ(ft_place_assign(&all, &t.c, FT_PLACE_BY_PERIOD, NULL), FT_EINVAL);
}

TEST(memory_that_is_not_known_leaves_the_limit_to_the_others)
{
    const double time_s[] = {3, 2, 1}, bytes[] = {NAN, 5, 5}, limit[] = {6};
    const ft_assign_case c = {.networks = 3,
                              .devices = 1,
                              .time_s = time_s,
                              .memory_bytes = bytes,
                              .limit_bytes = limit,
                              .limit_s = INFINITY};
    ft_assignment a;

    CHECK_EQ(ft_place_assign(&a, &c, FT_PLACE_BY_TIME, NULL), FT_ENOTFOUND);
}
