/* The one question: sizes of the struct, what is shared, what is refused. */
#include "foretell/foretell.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "files.h"
#include "nets.h"
#include "query/data.h"
#include "query_rig.h"

static char model[4096];

TEST(an_answer_adds_up)
{
    ft_data *d = open_data();
    ft_query q = about_list();
    ft_answer *a;
    double bytes, shares = 0;

    CHECK(!ft_query_ask(&a, d, &q, NULL));
    ft_data_close(d); /* the answer does not need it */
    if (!a)
        return;
    CHECK(SAME(a->device, "a30") && SAME(a->mode, "inference"));
    CHECK(EQ(a->by, FT_ANSWERED_BY_FAMILY) && HAS(a->predictor, ".ftp"));
    CHECK(CMP(a->time.low, <, a->time.value) && CMP(a->time.value, <, a->time.high));
    CHECK(CMP(a->energy.value, >, 0) && EQ(a->max_batch, -1));
    bytes = a->part_bytes[FT_PART_WEIGHTS] + a->part_bytes[FT_PART_INPUTS] +
            a->part_bytes[FT_PART_ACTIVATIONS];
    CHECK(CMP(a->memory.value, >=, bytes) && CMP(a->limit_bytes, >, a->memory.value));
    CHECK(EQ(a->n_ops, 2) && EQ(a->op[0]->count, 3));
    for (uint32_t i = 0; i < a->n_ops; i++) {
        CHECK(BEGINS(a->op[i]->spec, i ? "relu " : "conv2d ", 5));
        CHECK_NEAR(a->op[i]->total_s,
                   a->op[i]->device_time.value * (double)a->op[i]->count, 0);
        CHECK(CMP(a->heaviest[0]->total_s, >=, a->op[i]->total_s));
        shares += a->op[i]->share;
    }
    CHECK(CMP(shares, >, 0));
    CHECK_EQ(a->assumption[a->n_assumptions - 1]->code, FT_REMARK_MEMORY);
    CHECK(SAME(a->verify,
               "foretell measure 'two operations' --engine torch,device=cuda"));
    ft_answer_free(a);
}

/* The warning of folded norms when a training step of a file is asked. */
static bool is_folded(ft_data *d, const char *file)
{
    char path[4200];
    ft_query q = FT_QUERY_INIT;
    ft_answer *a;
    bool found;

    snprintf(path, sizeof(path), "%s/models/%s", data_dir, file);
    q.model = path;
    q.device = "a30";
    q.mode = "training";
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    found = a && a->n_warnings && a->warning[0]->code == FT_REMARK_FOLDED;
    CHECK(!found || strstr(a->warning[0]->text, "tools/export-pt2"));
    ft_answer_free(a);
    return found;
}

TEST(norms_that_were_folded_are_said_of_training_steps)
{
    ft_data *d = open_data();
    ft_query q = FT_QUERY_INIT;
    ft_answer *a;
    char what[32] = "";

    CHECK(is_folded(d, "resnet50.onnx") && is_folded(d, "mobilenet_v2.onnx"));
    CHECK(!is_folded(d, "resnet50.pt2"));
    /* Networks without norms, or whose convolution has a bias of its own. */
    CHECK(!is_folded(d, "vgg16.onnx") && !is_folded(d, "squeezenet1_1.onnx"));
    CHECK(!is_folded(d, "vit_b_16.onnx") && !is_folded(d, "bert-6.onnx"));
    q.model = model;
    q.device = "a30";
    CHECK(!ft_query_ask(&a, d, &q, NULL)); /* a pass keeps nothing */
    CHECK(a && CMP(ft_graph_folded_norms(NULL, 0, a->graph), >, 100));
    CHECK(a && CMP(ft_graph_folded_norms(what, 20, a->graph), >, 100) &&
          EQ(strlen(what), 19));
    for (size_t i = 0; a && i < a->n_warnings; i++)
        CHECK(CMP(a->warning[i]->code, !=, FT_REMARK_FOLDED));
    CHECK(a && CMP(ft_graph_folded_norms(NULL, 0, a->graph), >, 0));
    ft_answer_free(a);
    ft_data_close(d);
}

/* Whether it is said that a device has no hardware for an element type. */
static bool lacks(ft_data *d, const char *device, const char *dtype, const char *policy)
{
    ft_query q = FT_QUERY_INIT;
    ft_answer *a;
    bool found = false;

    q.model = model;
    q.device = device;
    q.dtype = dtype;
    q.policy = policy;
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    for (size_t i = 0; a && i < a->n_warnings; i++)
        found = found || a->warning[i]->code == FT_REMARK_NO_HARDWARE;
    ft_answer_free(a);
    return found;
}

TEST(a_type_without_hardware_is_said)
{
    ft_data *d = open_data();

    CHECK(lacks(d, "t4", "bf16", NULL) && lacks(d, "v100-pcie-16gb", "bf16", NULL));
    CHECK(lacks(d, "mi25", "bf16", NULL) && !lacks(d, "mi100", "bf16", NULL));
    CHECK(!lacks(d, "a30", "bf16", NULL) && !lacks(d, "t4", "fp16", NULL));
    CHECK(lacks(d, "v100-pcie-16gb", NULL, "tf32") && !lacks(d, "a30", NULL, "tf32"));
    CHECK(!lacks(d, "v100-pcie-16gb", NULL, NULL) && lacks(d, "gtx-980", "fp16", NULL));
    CHECK(lacks(d, "raspberry-pi-4", "fp16", NULL) &&
          lacks(d, "epyc-7543", "bf16", NULL));
    CHECK(!lacks(d, "graviton-2", "fp16", NULL) &&
          !lacks(d, "epyc-9654", "bf16", NULL));
    CHECK(!lacks(d, "raspberry-pi-4", NULL, NULL) &&
          !lacks(d, "rx-7900-xtx", "fp16", NULL));
    ft_data_close(d);
}

/* Of one operation in a CUDA graph; at 1200 MHz among many settings where `clocked`. */
static double alone(ft_data *d, const char *device, const char *spec, bool clocked)
{
    static const char *const clock[] = {"clock=1200MHz"};
    ft_query q = about_list();
    ft_answer *a;
    double s;

    q.list = spec;
    q.list_len = strlen(spec);
    q.device = device;
    q.run_mode = "graph";
    if (clocked) {
        q.settings = clock;
        q.n_settings = 1;
    }
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    s = !a ? NAN : clocked ? a->each[0].time_s : a->op[0]->device_time.value;
    CHECK(!a || clocked || SAME(a->op[0]->spec, spec));
    ft_answer_free(a);
    return s;
}

/* What a device has no units for is multiplied in the 16 bits that the layer is given
 * and returns, its weights read in their own. */
TEST(narrow_layers_without_units_take_16_bits)
{
    static const struct {
        const char *without, *with, *narrow, *wide;
    } c[] = {
        {"rtx-3090", "b200", "linear x=1x4096 out=4096 to=bf16 block=16 dtype=fp4",
         "linear x=1x4096 out=4096 weights=fp4 block=16 dtype=bf16"},
        {"h100-sxm", "b200", "linear x=1x4096 out=4096 to=fp16 block=16 dtype=fp4",
         "linear x=1x4096 out=4096 weights=fp4 block=16 dtype=fp16"},
        {"a100-sxm-80gb", "l4", "linear x=64x4096 out=512 bias=1 to=bf16 dtype=fp8e4m3",
         "linear x=64x4096 out=512 bias=1 weights=fp8e4m3 dtype=bf16"},
        {"mi250x", "mi300x",
         "moe x=4x2048 hidden=768 experts=64 topk=8 to=bf16 block=128 gated=0 "
         "dtype=fp8e4m3",
         "moe x=4x2048 hidden=768 experts=64 topk=8 weights=fp8e4m3 block=128 gated=0 "
         "dtype=bf16"},
    };
    ft_data *d = open_data();

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++)
        for (int clocked = 0; clocked < 2; clocked++) {
            CHECK_NEAR(alone(d, c[i].without, c[i].narrow, clocked),
                       alone(d, c[i].without, c[i].wide, clocked), 0);
            CHECK(CMP(alone(d, c[i].with, c[i].narrow, clocked), !=,
                      alone(d, c[i].with, c[i].wide, clocked)));
        }
    ft_data_close(d);
}

/* Of 16 bits a CPU's data sheet has bf16 alone. */
TEST(narrow_products_without_units_take_either_16_bits)
{
    static const char layer[] = "linear x=1024x4096 out=4096 dtype=%s";
    static const char *const dtype[] = {"fp8e4m3", "fp4"};
    ft_data *d = open_data();
    char wide[64], narrow[64];

    snprintf(wide, sizeof(wide), layer, "bf16");
    for (int i = 0; i < 2; i++) {
        snprintf(narrow, sizeof(narrow), layer, dtype[i]);
        CHECK_NEAR(alone(d, "epyc-9354", narrow, 0) / alone(d, "epyc-9354", wide, 0), 1,
                   0.05);
    }
    ft_data_close(d);
}

/* Prompts attend to keys of 8 bits no faster than to those of 16 where a device has no
 * units for them. */
TEST(narrow_keys_without_units_take_16_bits)
{
    static const char prompt[] = "attention x=1x32x8192x128 y=1x8x8192x128 "
                                 "z=1x8x8192x128 causal=1 dtype=%s";
    static const char *const device[] = {"a100-sxm-80gb", "l40s"};
    ft_data *d = open_data();
    double ratio[2];
    char wide[128], narrow[128];

    snprintf(wide, sizeof(wide), prompt, "bf16");
    snprintf(narrow, sizeof(narrow), prompt, "fp8e4m3");
    for (int i = 0; i < 2; i++)
        ratio[i] = alone(d, device[i], narrow, 0) / alone(d, device[i], wide, 0);
    CHECK_NEAR(ratio[0], 1, 0.1);
    CHECK(CMP(ratio[1], <, 0.7));
    ft_data_close(d);
}

/* High / low of a convolution's passes in 16 bits, by the data sheet. */
static double width_in_steps(ft_data *d, const char *device, int step,
                             const char *passes)
{
    ft_query q = about_list();
    ft_answer *a;
    char list[128];
    double width;

    snprintf(list, sizeof(list),
             "conv2d x=16x64x56x56 out=128 kernel=3x3 stride=%dx%d pad=1x1 dtype=fp16 "
             "phase=%s\n",
             step, step, passes);
    q.list = list;
    q.list_len = strlen(list);
    q.device = device;
    q.method = "physics";
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    width = a->op[0]->device_time.high / a->op[0]->device_time.low;
    ft_answer_free(a);
    return width;
}

/* DeepBench's on a P100: 28 % lay within a factor of 1.9. */
TEST(gradients_in_steps_before_volta_are_unsure)
{
    ft_data *d = open_data();

    CHECK(CMP(width_in_steps(d, "p100-pcie-16gb", 2, "backward wrt=x"), >, 40));
    CHECK(CMP(width_in_steps(d, "p100-pcie-16gb", 2, "forward_backward"), >, 40));
    CHECK(CMP(width_in_steps(d, "p100-pcie-16gb", 2, "step"), >, 40));
    CHECK(CMP(width_in_steps(d, "p100-pcie-16gb", 2, "backward wrt=w"), <, 4));
    CHECK(CMP(width_in_steps(d, "p100-pcie-16gb", 2, "forward"), <, 4));
    CHECK(CMP(width_in_steps(d, "p100-pcie-16gb", 1, "backward wrt=x"), <, 4));
    CHECK(CMP(width_in_steps(d, "v100-pcie-16gb", 2, "backward wrt=x"), <, 4));
    ft_data_close(d);
}

static double width_of(ft_data *d, const char *device, const char *list)
{
    ft_query q = about_list();
    double width = NAN;
    ft_answer *a;

    q.list = list;
    q.list_len = strlen(list);
    q.device = device;
    q.method = "physics";
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    if (a)
        width = a->op[0]->device_time.high / a->op[0]->device_time.low;
    ft_answer_free(a);
    return width;
}

/* Two H100 NVL are linked by a bridge: four share another path. */
TEST(collectives_beyond_the_link_are_less_sure)
{
    ft_data *d = open_data();

    CHECK(CMP(
        width_of(d, "h100-nvl", "collective x=8192x8192 ranks=4 dtype=bf16\n"), >,
        1.5 * width_of(d, "h100-nvl", "collective x=8192x8192 ranks=2 dtype=bf16\n")));
    ft_data_close(d);
}

/* Of DeepBench's on a GTX 1080 Ti and a Titan X Pascal 95 % lie within a factor
 * of 1.57, of fp8 on tensor cores fewer. */
TEST(products_of_8_bits_on_vectors_are_as_sure_as_of_32)
{
    static const char of_8[] = "matmul x=512x512 y=512x512 to=int32 dtype=int8\n",
                      of_32[] = "matmul x=512x512 y=512x512 dtype=fp32\n";
    static const struct {
        const char *device, *list;
    } others[] = {
        {"a100-sxm-80gb", of_8},
        {"p100-pcie-16gb", of_8},
        {"gtx-1080-ti", "matmul x=512x512 y=512x512 dtype=fp8e4m3\n"},
        {"gtx-1080-ti", "linear x=512x512 out=512 dtype=int8\n"},
    };
    ft_data *d = open_data();

    CHECK(CMP(width_of(d, "gtx-1080-ti", of_8), <,
              1.1 * width_of(d, "gtx-1080-ti", of_32)));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        CHECK(CMP(width_of(d, others[i].device, others[i].list), >, 5));
    ft_data_close(d);
}

/* Others had the intervals of sums, sums of 16 another one if they named their
 * machines, and those of 256 KiB 0.6 of that of a byte less. */
TEST(sums_of_one_machine_before_volta_are_surer)
{
    static const char *const other[] = {
        "collective x=1048576 ranks=8 mode=1 dtype=fp32\n",
        "collective x=1048576 ranks=8 mode=2 dtype=fp32\n",
        "collective x=1048576 ranks=16 dtype=fp32\n",
        "collective x=1048576 ranks=16 nodes=2 dtype=fp32\n"};
    ft_data *d = open_data();
    const double sum = width_of(d, "gtx-1080-ti",
                                "collective x=1048576 ranks=8 dtype=fp32\n"),
                 least = width_of(d, "gtx-1080-ti",
                                  "collective x=1024 ranks=8 dtype=fp32\n");
    double last = least;

    for (int i = 0; i < 4; i++)
        CHECK_NEAR(width_of(d, "gtx-1080-ti", other[i]) / least, 1, 1e-9);
    for (int n = 60000; n < 280000; n += n / 50) {
        char list[64];
        double width;

        snprintf(list, sizeof(list), "collective x=%d ranks=8 dtype=fp32\n", n);
        width = width_of(d, "gtx-1080-ti", list);
        CHECK(CMP(width, <=, last * 1.000001) && CMP(width, >, 0.97 * last));
        last = width;
    }
    CHECK_NEAR(last / sum, 1, 1e-9);
    CHECK(CMP(sum, <, 0.65 * least));
    ft_data_close(d);
}

TEST(a_query_of_another_size_is_understood)
{
    struct {
        ft_query q;
        uint64_t later[4];
    } longer = {.q = about_list()};
    const size_t shorter = offsetof(ft_query, setting); /* before these were appended */
    ft_data *d = open_data();
    ft_status st;
    double s = ask(&st, d, &longer.q);
    ft_query old = about_list();

    CHECK(!st);
    longer.q.size = sizeof(longer);
    CHECK_NEAR(ask(&st, d, &longer.q), s, 0);
    longer.later[2] = 1;
    CHECK(isnan(ask(&st, d, &longer.q)) && EQ(st, FT_EINVAL));
    memset((char *)&old + shorter, 0x5a, sizeof(old) - shorter);
    old.size = shorter;
    CHECK_NEAR(ask(&st, d, &old), s, 0);
    old.size = 0;
    CHECK(isnan(ask(&st, d, &old)) && EQ(st, FT_EINVAL));
    ft_data_close(d);
}

TEST(a_graph_is_asked_as_its_file)
{
    ft_query q = FT_QUERY_INIT;
    ft_data *d = open_data();
    ft_graph *g;
    ft_status st;
    double s;

    q.model = model;
    q.device = "NVIDIA A30";
    q.batch = 8;
    q.dtype = "fp16";
    s = ask(&st, d, &q);
    CHECK(!st);
    CHECK(!ft_query_import(&g, &q, NULL));
    q.graph = g;
    CHECK_NEAR(ask(&st, d, &q), s, 0);
    q.setting = "clock=600MHz power=100W";
    CHECK(CMP(ask(&st, d, &q), >, s));
    q.mode = "training";
    CHECK(CMP(ask(&st, d, &q), >, 2 * s));
    ft_graph_free(g);
    ft_data_close(d);
}

TEST(a_loaded_predictor_is_asked_as_its_file)
{
    ft_query q = about_list();
    ft_data *d = open_data();
    char path[4200];
    ft_predictor *p;
    ft_status st;
    double s;

    snprintf(path, sizeof(path), "%s/predictors/nvidia-fp32.ftp", data_dir);
    q.predictor = path;
    s = ask(&st, d, &q);
    CHECK(!st);
    CHECK(!ft_predictor_load(&p, path, NULL));
    q.predictor = NULL;
    q.loaded = p;
    CHECK_NEAR(ask(&st, d, &q), s, 0);
    ft_predictor_free(p);
    ft_data_close(d);
}

TEST(what_is_wrong_has_its_status)
{
    static const struct {
        size_t field;
        const char *value;
        ft_status st;
    } cases[] = {
        {offsetof(ft_query, device), "nosuch", FT_ENOTFOUND},
        {offsetof(ft_query, device), "local", FT_ENOTFOUND}, /* no predictor of it */
        {offsetof(ft_query, setting), "clock=fast", FT_EINVAL},
        {offsetof(ft_query, setting), "fast", FT_EINVAL},
        {offsetof(ft_query, setting), "clock=9GHz", FT_ENOTFOUND},
        {offsetof(ft_query, policy), "fp8", FT_EINVAL},
        {offsetof(ft_query, method), "guess", FT_EINVAL},
        {offsetof(ft_query, dtype), "int3", FT_EINVAL},
        {offsetof(ft_query, predictor), "/nosuch.ftp", FT_EIO},
        {offsetof(ft_query, correct), "/nosuch.csv", FT_EIO},
        {offsetof(ft_query, mode), "sleeping", FT_EINVAL},
        {offsetof(ft_query, optimizer), "adam", FT_EINVAL}, /* of training alone */
        {offsetof(ft_query, model), NULL, FT_EINVAL},
    };
    ft_data *d = open_data();

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_query q = about_list();
        ft_status st;

        memcpy((char *)&q + cases[i].field, &cases[i].value, sizeof(cases[i].value));
        CHECK(isnan(ask(&st, d, &q)));
        if (st != cases[i].st)
            fprintf(stderr, "case %zu: status %d\n", i, (int)st);
        CHECK_EQ(st, cases[i].st);
    }
    ft_data_close(d);
}

static const char narrow[] = "linear x=64x4096 out=512 to=bf16 dtype=fp8e4m3";

/* Of the narrow layer, first in a list. */
static ft_estimate first_of(ft_data *d, const char *list, const char *correct)
{
    ft_query q = about_list();
    ft_estimate out = {0};
    ft_answer *a;

    q.list = list;
    q.list_len = strlen(list);
    q.device = "a100-sxm-80gb";
    q.run_mode = "graph";
    q.correct = correct;
    CHECK(!ft_query_ask(&a, d, &q, NULL));
    if (a)
        out = a->op[0]->device_time;
    ft_answer_free(a);
    return out;
}

/* One measurement of a layer that the device computes in a wider type. */
TEST(narrow_layers_without_units_are_answered_as_measured)
{
    static const char path[] = "test_query-narrow.csv";
    ft_data *d = open_data();
    char text[512];
    ft_estimate t;

    snprintf(text, sizeof(text),
             "%sa100-sxm-80gb,run_mode=graph,torch,2.3,%s,forward,default,time,s,77e-6,"
             ",,,,1,"
             "1,0,1\n",
             COLUMNS, narrow);
    write_text(path, text);
    t = first_of(d, narrow, path);
    CHECK_EQ(t.basis, FT_BASIS_MEASURED);
    CHECK_NEAR(t.value / 77e-6, 1, 0.1);
    remove(path);
    ft_data_close(d);
}

TEST(narrow_layers_without_units_do_not_depend_on_others)
{
    ft_data *d = open_data();
    char list[256];

    snprintf(list, sizeof(list),
             "%s\nlinear x=64x256 out=512 dtype=bf16 phase=backward wrt=x\n", narrow);
    CHECK_NEAR(first_of(d, list, NULL).value, first_of(d, narrow, NULL).value, 0);
    ft_data_close(d);
}

/* Each is what asking for it alone says, to the last bit. */
TEST(many_settings_are_each_asked_alone)
{
    static const char *const setting[] = {"", "clock=900MHz", "clock=9000MHz",
                                          "clock=1200MHz power=100W"};
    ft_data *d = open_data();
    ft_query q = about_list(), one = about_list();
    ft_answer *all = NULL, *a;

    q.settings = setting;
    q.n_settings = 4;
    CHECK(!ft_query_ask(&all, d, &q, NULL));
    CHECK(all && EQ(all->n_each, 4) && isnan(all->time.value));
    for (size_t i = 0; all && i < all->n_each; i++) {
        const ft_brief *b = &all->each[i];

        one.setting = setting[i];
        one.totals = 1;
        if (i == 2) {
            CHECK_EQ(ft_query_ask(&a, d, &one, NULL), FT_ENOTFOUND);
            CHECK(EQ(b->status, FT_ENOTFOUND) && HAS(b->why, "clock"));
            continue;
        }
        CHECK(!ft_query_ask(&a, d, &one, NULL));
        CHECK(a && EQ(a->op, NULL) && EQ(a->time.value, b->time_s));
        CHECK(a && EQ(a->energy.value, b->energy_j) && !b->status && !*b->why);
        CHECK(a && EQ(a->memory.value, b->memory_bytes));
        ft_answer_free(a);
    }
    ft_answer_free(all);
    q.setting = "clock=900MHz";
    CHECK_EQ(ft_query_ask(&all, d, &q, NULL), FT_EINVAL);
    ft_data_close(d);
}

TEST(many_lists_are_each_asked_alone)
{
    static const char other[] = "linear x=8x512 out=256 dtype=fp16\n",
                      bad[] = "nosuch\n";
    const ft_list list[] = {
        {LIST, sizeof(LIST) - 1}, {bad, sizeof(bad) - 1}, {other, sizeof(other) - 1}};
    ft_data *d = open_data();
    ft_query q = FT_QUERY_INIT, one = about_list();
    ft_answer *all, *a;

    q.device = "a30";
    q.lists = list;
    q.n_lists = 3;
    for (int again = 0; again < 2; again++) { /* what is remembered changes nothing */
        CHECK(!ft_query_ask(&all, d, &q, NULL));
        CHECK(EQ(all->n_each, 3) && !all->graph && all->each[1].status &&
              *all->each[1].why);
        for (int i = 0; i < 3; i += 2) {
            one.list = list[i].text;
            one.list_len = list[i].len;
            one.predictor = all->predictor;
            CHECK(!ft_query_ask(&a, d, &one, NULL));
            CHECK(EQ(a->time.value, all->each[i].time_s) && !all->each[i].status);
            CHECK_EQ(a->power.value, all->each[i].power_w);
            ft_answer_free(a);
        }
        ft_answer_free(all);
    }
    q.model = "one too many";
    CHECK_EQ(ft_query_ask(&all, d, &q, NULL), FT_EINVAL);
    ft_data_close(d);
}

TEST(a_network_is_cut_by_one_question)
{
    static const char *const device[] = {"jetson-tx2", "a30"};
    const ft_place_options how = {device, 2, FT_PLACE_BY_TIME, 1e9, 1e-3, 0};
    ft_data *d = open_data();
    ft_query q = FT_QUERY_INIT;
    ft_split_answer *s = NULL;
    uint32_t n;

    q.model = model;
    CHECK(!ft_place_split(&s, d, &q, &how, NULL));
    CHECK(s && !*s->why && EQ(s->n_devices, 2) && SAME(s->device[1], "a30"));
    if (!s)
        return;
    n = s->graph->n_nodes;
    CHECK(EQ(s->best.stage[0].first, 0) && EQ(s->best.stage[1].end, n));
    CHECK(CMP(s->best.time_s, <=, s->alone[0].time_s) &&
          CMP(s->best.time_s, <=, s->alone[1].time_s));
    ft_split_free(s);
    q.method = "roofline";
    CHECK_EQ(ft_place_split(&s, d, &q, &(ft_place_options){.n_devices = 9}, NULL),
             FT_EINVAL);
    ft_data_close(d);
}

TEST(a_predictor_has_its_place)
{
    char path[64], small[8];

    CHECK_EQ(ft_data_predictor_path(path, sizeof(path), "/u", NULL, 0), 13);
    CHECK(SAME(path, "/u/family.ftp"));
    ft_data_predictor_path(path, sizeof(path), "/u", "onednn", 1);
    CHECK(SAME(path, "/u/local-onednn.ftp"));
    CHECK_EQ(ft_data_predictor_path(small, sizeof(small), "/u", "onednn", 4),
             strlen("/u/local-onednn-4-threads.ftp"));
    CHECK(SAME(small, "/u/loca"));
}

struct cost {
    uint64_t fixed, per_item;
    int asked;
};

static ft_status cost_at(void *arg, int64_t batch, uint64_t *bytes, ft_error *err)
{
    struct cost *c = arg;

    c->asked++;
    *bytes = c->fixed + c->per_item * (uint64_t)batch;
    return batch > 1000 && !c->per_item ? ft_fail(err, FT_EINVAL, 0, "no") : FT_OK;
}

TEST(the_largest_batch_just_fits)
{
    static const struct {
        uint64_t fixed, per_item, limit;
        int64_t batch;
    } c[] = {
        {100, 10, 99, 0},    {100, 10, 109, 0},      {100, 10, 110, 1},
        {100, 10, 1000, 90}, {0, 1, 123456, 123456}, {0, 1, 1u << 30, 1 << 20},
    };
    struct cost none = {0, 0, 0};
    int64_t batch;

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
        struct cost cost = {c[i].fixed, c[i].per_item, 0};

        CHECK_EQ(ft__max_batch(&batch, c[i].limit, cost_at, &cost, NULL), FT_OK);
        CHECK_EQ(batch, c[i].batch);
        CHECK(CMP(cost.asked, <=, 42));
    }
    CHECK_EQ(ft__max_batch(&batch, 1, cost_at, &none, NULL), FT_EINVAL);
}

int main(int argc, char **argv)
{
    take_folder(argc, argv);
    snprintf(model, sizeof(model), "%s/data/models/resnet18.onnx", argv[1]);
    CHECK(SAME(ft_version(), FT_VERSION));
    check_all();
    CHECK_DONE();
}
