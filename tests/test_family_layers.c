/* Predictors learned from few layers, each at many batches, and from few kinds. */
#include <math.h>
#include <stdio.h>

#include "family_rig.h"
#include "graph/op_inside.h"

enum { BATCHES = 40 };

/* Each layer takes what no estimate knows of it, whatever the batch. */
static double own_factor(int layer)
{
    return layer % 2 ? 2 : 1;
}

enum what { LINEAR, MATMUL, ADD };

static void spec_of(char *spec, size_t size, enum what what, int layer, int batch)
{
    if (what == ADD)
        snprintf(spec, size, "add x=%dx%d y=%dx%d dtype=fp32", 64 * (batch + 1),
                 8192 + layer, 64 * (batch + 1), 8192 + layer);
    else if (what == MATMUL)
        snprintf(spec, size, "matmul x=%dx%d y=%dx%d dtype=fp32", 64 * (batch + 1),
                 1024 + 512 * layer, 1024 + 512 * layer, 4096 - 384 * layer);
    else
        snprintf(spec, size, "linear x=%dx%d out=%d dtype=fp32", 64 * (batch + 1),
                 1024 + 512 * layer, 4096 - 384 * layer);
}

/* What was measured of a device, and what is learned of it. */
struct measured {
    ft_store *s;
    ft_device *d;
    int64_t run;
    const char *setting;
};

static struct measured measured_new(void)
{
    struct measured m;

    m.setting = "";
    CHECK_EQ(ft_store_open(&m.s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    CHECK_EQ(ft_device_load(&m.d, data_dir, "a30", NULL), FT_OK);
    CHECK_EQ(ft__store_begin_run(m.s, &m.run, "test", "{}", NULL), FT_OK);
    return m;
}

static void measured_free(struct measured *m)
{
    ft_device_free(m->d);
    ft_store_close(m->s);
}

static ft_predictor *learned_of(struct measured *m)
{
    const ft_train_options how = {.methods = 1u << FT_METHOD_EXTRA};

    return train(m->s, &how);
}

static ft_estimate answer_of(struct measured *m, const char *spec)
{
    ft_predictor *p = learned_of(m);
    const ft_estimate e = ask_one(p, m->d, "", spec);

    ft_predictor_free(p);
    measured_free(m);
    return e;
}

static void put_value(struct measured *m, const char *spec, const char *metric,
                      const char *unit, double value)
{
    const ft_key key = {"a30", m->setting, "torch", "2.3",
                        spec,  "forward",  "ieee",  metric};
    const ft_measurement of = {.value = value, .unit = unit, .error = NAN, .n = 1};

    CHECK_EQ(ft__store_put(m->s, m->run, &key, &of, NULL, 0, NULL), FT_OK);
}

/* So many times as long as its arithmetic and the start of a kernel take. */
static void put_factor(struct measured *m, char spec[200], double factor)
{
    ft_cost c;
    ft_op op;

    CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK);
    ft_op_cost(&op, &c);
    ft_op_print(&op, spec, 200);
    put_value(m, spec, "time", "s",
              factor * (3e-6 + c.flops / (0.7 * ft_device_get(m->d)->peak_fp32)));
}

static void put_time(struct measured *m, enum what what, int layer, int batch)
{
    char spec[200];

    spec_of(spec, sizeof(spec), what, layer, batch);
    put_factor(m, spec, own_factor(layer));
}

/* What a layer takes at half of the batches, once so many batches of each of
 * layers[] were learned. */
static ft_estimate ask_layer(enum what what, const int *batches, int layers, int asked)
{
    struct measured m = measured_new();
    char spec[200];

    for (int layer = 0; layer < layers; layer++)
        for (int batch = 0; batch < batches[layer]; batch++)
            put_time(&m, what, layer, batch);
    spec_of(spec, sizeof(spec), what, asked, BATCHES / 2);
    return answer_of(&m, spec);
}

/* Another batch of a layer says all of it, so that folds of operations would promise
 * as much of layers that nobody measured. Those take up to twice as long, either way.
 */
static void intervals_are_those_of_layers_never_measured(int layers)
{
    static const int batches[] = {BATCHES, BATCHES, BATCHES, BATCHES,
                                  BATCHES, BATCHES, BATCHES};
    const ft_estimate e = ask_layer(LINEAR, batches, layers, layers);

    CHECK(CMP(e.high / e.low, >, 1.6) && CMP(e.high / e.low, <, 4.5));
    CHECK(CMP(e.low, <, e.value) && CMP(e.value, <, e.high));
}

/* What no estimate knows grows with the weights: two layers of each of so many powers
 * of two, at `settings` clocks. */
static ft_predictor *learned_of_sizes(struct measured *m, int sizes, int batches,
                                      int settings, double growth)
{
    static const char *const setting[] = {"", "clock=900MHz", "clock=1000MHz"};
    char spec[200];

    *m = measured_new();
    for (int half = 0; half < 2 * sizes; half++)
        for (int batch = 0; batch < batches; batch++)
            for (int i = 0; i < settings; i++) {
                m->setting = setting[i];
                snprintf(spec, sizeof(spec), "linear x=%dx1024 out=%.0f dtype=fp32",
                         64 * (batch + 1), 96 * exp2(half / 2.0));
                put_factor(m, spec,
                           pow(growth, half / 2.0) * exp(0.03 * sin(7 * batch + half)));
            }
    return learned_of(m);
}

/* Two layers of each of six powers of two say much of each other, less of a seventh's,
 * which is as far from theirs as two of them. */
TEST(layers_of_another_size_are_less_certain)
{
    const double growth = 1.25;
    struct measured m;
    ft_predictor *p = learned_of_sizes(&m, 6, BATCHES, 1, growth);
    ft_estimate among, beyond;

    among = ask_one(p, m.d, "", "linear x=1300x1024 out=1700 dtype=fp32");
    beyond = ask_one(p, m.d, "", "linear x=1300x1024 out=8192 dtype=fp32");
    CHECK(CMP(among.high / among.low, <, 2));
    CHECK(CMP(beyond.high / beyond.value, >, growth * growth));
    ft_predictor_free(p);
    measured_free(&m);
}

static double width_of(int sizes, int batches, int settings, double growth)
{
    struct measured m;
    ft_predictor *p = learned_of_sizes(&m, sizes, batches, settings, growth);
    const ft_estimate e = ask_one(p, m.d, "", "linear x=420x1024 out=280 dtype=fp32");

    ft_predictor_free(p);
    measured_free(&m);
    return log(e.high / e.low);
}

/* The weights are of four powers of two, and of five. */
TEST(fewer_sizes_promise_no_more)
{
    CHECK(CMP(width_of(3, BATCHES, 1, 1.5), >, width_of(4, BATCHES, 1, 1.5)));
}

TEST(clocks_are_no_batches)
{
    CHECK(CMP(width_of(6, 4, 3, 1.25), <=, width_of(6, 4, 1, 1.25)));
}

/* One row is not learned from. */
TEST(folds_leave_rows_to_learn_from)
{
    static const int batches[] = {BATCHES, 1};
    const ft_estimate e = ask_layer(LINEAR, batches, 2, 2);

    CHECK(CMP(e.low, <, e.value) && CMP(e.value, <, e.high));
}

/* One layer says nothing of how layers differ, yet all of itself. */
TEST(one_layer_promises_nothing_of_others)
{
    static const int batches[] = {BATCHES};
    const ft_estimate same = ask_layer(LINEAR, batches, 1, 0),
                      other = ask_layer(LINEAR, batches, 1, 1);

    CHECK(CMP(same.high / same.low, <, 1.2));
    CHECK(CMP(other.high / other.low, >, 2.7));
    CHECK(CMP(other.low, <, other.value) && CMP(other.value, <, other.high));
}

/* An addition is known by its width, of which a little more is no other layer. */
TEST(one_width_promises_nothing_of_others)
{
    static const int batches[] = {BATCHES};
    const ft_estimate same = ask_layer(ADD, batches, 1, 1),
                      other = ask_layer(ADD, batches, 1, -4096);

    CHECK_EQ(same.basis, FT_BASIS_LEARNED);
    CHECK(CMP(same.high / same.low, <, 1.2));
    CHECK_EQ(other.basis, FT_BASIS_SCALED);
    CHECK(CMP(other.high / other.low, >, 2.7));
}

#define ATTENTION "attention x=2x8x512x64 y=2x8x512x64 z=2x8x512x64 dtype=fp32"
#define MOE "moe x=512x2048 hidden=2048 experts=8 topk=2 dtype=fp32"

/* Kinds of one class, each with a factor of its own. */
static ft_estimate ask_third_kind(const char *third, double linear, double matmul,
                                  int matmuls)
{
    struct measured m = measured_new();
    char spec[200];

    for (int layer = 0; layer < 7; layer++)
        for (int batch = 0; batch < BATCHES; batch++) {
            spec_of(spec, sizeof(spec), LINEAR, layer, batch);
            put_factor(&m, spec, linear);
            spec_of(spec, sizeof(spec), MATMUL, layer, batch);
            if (layer * BATCHES + batch < matmuls)
                put_factor(&m, spec, matmul);
        }
    return answer_of(&m, third);
}

static double median_of_three(const double *v)
{
    return fmax(fmin(v[0], v[1]), fmin(fmax(v[0], v[1]), v[2]));
}

/* By 9 to 14 rows of a rare kind: medians of three answers agree. One answer of six may
 * be moved by what that kind tells, as a sixth of the trees split by it. */
TEST(medians_agree_however_many_rows_a_rare_kind_has)
{
    double v[6], median;
    int moved = 0;

    for (int i = 0; i < 6; i++)
        v[i] = ask_third_kind(MOE, 0.3, 3, 9 + i).value;
    median = median_of_three(v);
    CHECK(CMP(fabs(log(median_of_three(v + 3) / median)), <, 0.1));
    for (int i = 0; i < 6; i++) {
        const double off = fabs(log(v[i] / median));

        CHECK(CMP(off, <, 0.4));
        moved += off >= 0.1;
    }
    CHECK(CMP(moved, <=, 1));
}

/* Bytes are not shrunk to none where kinds differ. */
TEST(a_third_kind_s_bytes_are_those_of_the_others)
{
    struct measured m = measured_new();
    ft__device_use on = {.device = m.d, .setting = ""};
    ft__network_estimate e;
    ft_predictor *p;
    ft_graph *g;
    char spec[200];

    for (int layer = 0; layer < 7; layer++)
        for (int batch = 0; batch < BATCHES; batch++)
            for (int what = LINEAR; what <= MATMUL; what++) {
                spec_of(spec, sizeof(spec), (enum what)what, layer, batch);
                put_factor(&m, spec, 1);
                put_value(&m, spec, "workspace", "B",
                          what == LINEAR ? 1 << 20 : 1 << 10);
            }
    p = learned_of(&m);
    CHECK_EQ(ft_import_ops(&g, MOE, strlen(MOE), "list", NULL), FT_OK);
    CHECK_EQ(ft__predict_network(&e, p, &on, g, NULL), FT_OK);
    CHECK(CMP(e.op_workspace[0].value, >, 1 << 9) &&
          CMP(e.op_workspace[0].value, <, 1 << 21));
    ft__network_estimate_free(&e);
    ft_graph_free(g);
    ft_predictor_free(p);
    measured_free(&m);
}

/* What is known of two kinds says as much of a third as of each other, however sure it
 * is of either. */
TEST(kinds_are_as_unsure_as_they_differ)
{
    const ft_estimate apart = ask_third_kind(ATTENTION, 1, 3, 7 * BATCHES),
                      alike = ask_third_kind(ATTENTION, 1, 1, 7 * BATCHES);

    CHECK(CMP(apart.high / apart.low, >, 3));
    CHECK(CMP(alike.high / alike.low, <, apart.high / apart.low / 2));
}

static uint64_t layer_of(const char *spec)
{
    ft_op op;

    CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK);
    return ft__op_layer_hash(&op);
}

/* Tokens of a rotation stand behind its heads. */
TEST(tokens_make_no_other_layer)
{
    const uint64_t layer = layer_of("rotary x=1x8x64x128 dtype=fp16");

    CHECK_EQ(layer_of("rotary x=4x8x512x128 dtype=fp16"), layer);
    CHECK(CMP(layer_of("rotary x=1x16x64x128 dtype=fp16"), !=, layer));
}

int main(int argc, char **argv)
{
    take_folder(argc, argv);
    intervals_are_those_of_layers_never_measured(7);
    intervals_are_those_of_layers_never_measured(3);
    intervals_are_those_of_layers_never_measured(2);
    check_all();
    CHECK_DONE();
}
