/* Many lists of operations, priced with what they have in common: each is what it is
 * alone. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph_inside.h"
#include "predict/query/op_costs.h"
#include "shipped.h"

static uint64_t state = 1;

static uint64_t draw(uint64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
}

/* A line of some kind; %d are sizes drawn by lot. */
static const char *const lines[] = {
    "conv2d x=1x%dx28x28 out=%d kernel=3x3 stride=1x1 pad=1x1 dtype=fp32",
    "conv2d x=2x%dx14x14 out=%d kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp16",
    "linear x=%dx512 out=%d bias=1 dtype=fp32",
    "linear x=%dx256 out=%d weights=int4 dtype=bf16",
    "relu x=%dx%d dtype=fp32",
    "transpose x=%dx%d perm=1x0 dtype=fp32",
    "softmax x=%dx%d axis=1 dtype=fp32",
    "add x=%dx%d y=1 dtype=fp32",
    "matmul x=4x%dx64 y=4x64x%d dtype=fp16",
    "layernorm x=%dx%d axis=1 dtype=fp32",
    "linear x=%dx64 out=%d phase=backward dtype=fp32",
};
enum { N_LINES = sizeof(lines) / sizeof(*lines), N_LISTS = 40, LIST = 8000 };

static void print_line(char *to, size_t size, bool backward)
{
    const uint64_t which = draw(backward ? N_LINES : N_LINES - 1);
    const int a = 8 << draw(4), b = 16 << draw(3);
    char line[200];

    snprintf(line, sizeof(line), lines[which], a, b);
    switch (draw(5)) {
    case 0: snprintf(to, size, "%s *%d\n", line, (int)draw(30) + 1); break;
    case 1: snprintf(to, size, "  # of %d\n%s  # so\n\n", a, line); break;
    case 2: snprintf(to, size, "%s*%d  \r\n", line, (int)draw(3) + 1); break;
    default: snprintf(to, size, "%s\n", line);
    }
}

static void make_list(char text[LIST], bool backward)
{
    const uint64_t n = 1 + draw(30);
    size_t len = 0;

    text[0] = '\0';
    for (uint64_t i = 0; i < n; i++) {
        print_line(text + len, LIST - len, backward);
        len += strlen(text + len);
    }
}

/* Alone: FT_OK and a brief, or what is wrong with it. */
static ft_status alone(ft_brief *out, const char *text, const ft__device_use *on,
                       const ft_predictor *p)
{
    ft_graph *g = NULL, *lowered = NULL;
    ft__network_estimate e;
    ft_status st = ft_import_ops(&g, text, strlen(text), "list", NULL);

    if (!st)
        st = ft__graph_lower(&lowered, g, FT_POLICY_STRIDED_VIEWS, NULL);
    if (!st)
        st = p ? ft__predict_network(&e, p, on, lowered, NULL)
               : ft__predict_network(&e, NULL, on, lowered, NULL);
    if (!st) {
        *out = (ft_brief){e.time.value,   e.energy.value, e.power.value,
                          e.memory.value, FT_OK,          ""};
        ft__network_estimate_free(&e);
    }
    ft_graph_free(g);
    ft_graph_free(lowered);
    return st;
}

static int n_differ(const ft__listed *list, size_t n, const ft__device_use *on,
                    const ft_predictor *p)
{
    int differ = 0;

    for (size_t i = 0; i < n; i++) {
        ft_brief want = {NAN, NAN, NAN, NAN, FT_OK, ""};
        ft_status st = alone(&want, list[i].text, on, p);

        differ += st != list[i].status || !same(want.time_s, list[i].brief.time_s) ||
                  !same(want.energy_j, list[i].brief.energy_j) ||
                  !same(want.power_w, list[i].brief.power_w) ||
                  !same(want.memory_bytes, list[i].brief.memory_bytes) ||
                  (st && !list[i].why[0]);
    }
    return differ;
}

static void check_lists(const char *device, const char *setting, const ft_predictor *p,
                        bool backward)
{
    static char text[N_LISTS][LIST];
    ft_device *d = device_of(device);
    const ft__device_use on = {.device = d, .setting = setting};
    ft__listed list[N_LISTS];
    ft__op_costs *x = NULL;

    CHECK_EQ(ft__op_costs_new(&x, p, &on, NULL), FT_OK);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N_LISTS; i++) {
            make_list(text[i], backward);
            list[i] = (ft__listed){.text = text[i], .len = strlen(text[i])};
        }
        CHECK_EQ(ft__op_costs_of_lists(x, list, N_LISTS, NULL), FT_OK);
        CHECK_EQ(n_differ(list, N_LISTS, &on, p), 0);
    }
    ft__op_costs_free(x);
    ft_device_free(d);
}

TEST(by_specifications_a_list_is_what_it_is_alone)
{
    check_lists("a30", NULL, NULL, false);
    check_lists("h100-sxm", "clock=1000MHz", NULL, false);
    check_lists("p100-pcie-16gb", "power=90W", NULL, false);
}

TEST(backward_lines_and_processors_too)
{
    check_lists("t4", NULL, NULL, true);
    check_lists("epyc-7763", NULL, NULL, false);
}

TEST(by_a_family_a_list_is_what_it_is_alone)
{
    ft_predictor *p = predictor_of("nvidia-fp32.ftp");

    check_lists("v100-pcie-32gb", NULL, p, false);
    check_lists("v100-pcie-32gb", "clock=900MHz", p, false);
    check_lists("l4", NULL, p, false);
    ft_predictor_free(p);
    p = predictor_of("llm.ftp");
    check_lists("gb200", NULL, p, false);
    ft_predictor_free(p);
}

TEST(what_is_no_list_says_why_and_harms_no_other)
{
    static const char *const texts[] = {
        "relu x=8x8 dtype=fp32\n",
        "relu x=8x8 dtype=fp32\nrelo x=8\n",
        "",
        "# nothing\n\n",
        "relu x=8x8 dtype=fp32 *0\n",
        "relu x=8x8 dtype=fp32 *99999999999999999999\n",
        "linear x=1x1048576 out=1048576 dtype=fp32 *1000000000\n",
        "relu x=8x8 dtype=fp32 *3\nrelu x=8x8 dtype=fp32",
        "*7\n",
    };
    enum { N = sizeof(texts) / sizeof(*texts) };
    ft_device *d = device_of("a30");
    const ft__device_use on = {.device = d};
    ft__listed list[N];
    ft__op_costs *x = NULL;

    for (int i = 0; i < N; i++)
        list[i] = (ft__listed){.text = texts[i], .len = strlen(texts[i])};
    CHECK_EQ(ft__op_costs_new(&x, NULL, &on, NULL), FT_OK);
    CHECK_EQ(ft__op_costs_of_lists(x, list, N, NULL), FT_OK);
    CHECK_EQ(n_differ(list, N, &on, NULL), 0);
    CHECK(EQ(list[0].status, FT_OK) && EQ(list[1].status, FT_EFORMAT));
    CHECK(HAS(list[1].why, "line 2"));
    CHECK(EQ(list[2].status, FT_EFORMAT) && EQ(list[7].status, FT_OK));
    ft__op_costs_free(x);
    ft_device_free(d);
}

/* Zeros are bytes like others: they make no operation, and move no line. */
TEST(zeros_in_a_line_harm_no_other)
{
    static const char odd[] = "re\0lu x=8x8 dtype=fp32\nrelu x=8x16 dtype=fp32\n",
                      good[] = "relu x=8x32 dtype=fp32\ngelu x=8x8 dtype=fp32 *3\n";
    ft__listed list[] = {{.text = odd, .len = sizeof(odd) - 1},
                         {.text = good, .len = sizeof(good) - 1}};
    ft_device *d = device_of("a30");
    const ft__device_use on = {.device = d};
    ft__op_costs *x = NULL;

    CHECK_EQ(ft__op_costs_new(&x, NULL, &on, NULL), FT_OK);
    CHECK_EQ(ft__op_costs_of_lists(x, list, 2, NULL), FT_OK);
    CHECK_EQ(list[0].status, FT_EFORMAT);
    CHECK_EQ(n_differ(&list[1], 1, &on, NULL), 0);
    ft__op_costs_free(x);
    ft_device_free(d);
}

TEST(every_line_may_be_cut_anywhere)
{
    static const char whole[] =
        "conv2d x=1x8x8x8 out=8 kernel=1x1 stride=1x1 pad=0x0 dtype=fp32 *12 # c\nrelu "
        "x=1x8x8x8 dtype=fp16\n";
    enum { N = sizeof(whole) };
    static ft__listed list[N];
    static char text[N][N];
    ft_device *d = device_of("l4");
    const ft__device_use on = {.device = d};
    ft__op_costs *x = NULL;

    for (size_t i = 0; i < N; i++) {
        snprintf(text[i], i + 1, "%s", whole);
        list[i] = (ft__listed){.text = text[i], .len = strlen(text[i])};
    }
    CHECK_EQ(ft__op_costs_new(&x, NULL, &on, NULL), FT_OK);
    CHECK_EQ(ft__op_costs_of_lists(x, list, N, NULL), FT_OK);
    CHECK_EQ(n_differ(list, N, &on, NULL), 0);
    ft__op_costs_free(x);
    ft_device_free(d);
}
