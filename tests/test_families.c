/* Networks of other architectures say what a family's take: the table of their
 * operations, and timm's networks as they were measured. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foretell/evaluate.h"
#include "foretell/networks.h"
#include "foretell/predictor.h"

#include "check.h"
#include "data_dir.h"
#include "files.h"
#include "predict/query/network.h"

static char scratch[64];

static ft_status open_text(ft_network_lists **t, const char *text, ft_error *err)
{
    write_text(scratch, text);
    return ft_network_lists_open(t, scratch, err);
}

#define HEADER "network,family,x,operation,count\n"

static ft_network_list found(ft_network_lists *t, const char *spec, const char *phase)
{
    ft_network_list l = {.batch = NAN};

    CHECK_EQ(ft_network_lists_find(t, &l, spec, phase, NULL), FT_OK);
    return l;
}

static bool has_none(ft_network_lists *t, const char *spec)
{
    return !found(t, spec, "forward").graph;
}

TEST(a_list_is_found_whatever_its_batch)
{
    ft_network_list l;
    ft_network_lists *t = NULL;

    CHECK_EQ(open_text(&t,
                       HEADER "b,beta,64x3x32x32,relu x=64x8 dtype=fp16,3\n"
                              "b,beta,64x3x32x32,gelu x=64x8 dtype=fp16,1\n"
                              "a,alpha,64x3x32x32,relu x=64x9 dtype=fp16,2\n"
                              "a,alpha,64x3x48x48,relu x=64x10 dtype=fp16,2\n",
                       NULL),
             FT_OK);
    l = found(t, "network name=b x=7x3x32x32 dtype=amp", "forward");
    CHECK(l.graph && EQ(l.graph->n_ops, 2) && EQ(l.batch, 64) &&
          EQ(l.graph->op_count[0], 3) && EQ(l.graph->op[1].kind, FT_KIND_gelu) &&
          SAME(l.architecture, "beta"));
    ft_graph_free(l.graph);
    l = found(t, "network name=a x=512x3x48x48 dtype=amp", "step");
    CHECK(l.graph && EQ(l.graph->n_ops, 1) &&
          EQ(l.graph->op[0].phase, FT_PHASE_FORWARD_BACKWARD) &&
          SAME(l.architecture, "alpha"));
    ft_graph_free(l.graph);
    CHECK(has_none(t, "network name=b x=7x3x48x48 dtype=amp"));
    CHECK(has_none(t, "network name=c x=7x3x32x32 dtype=amp"));
    CHECK(has_none(t, "network dtype=amp"));
    ft_network_lists_free(t);
}

TEST(a_wrong_table_is_told_with_line_and_column)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"network,family,x,operation\nb,beta,1x3,relu x=1 dtype=fp16\n", "count"},
        {HEADER "b,beta,1x3,rellu x=1 dtype=fp16,1\n", "operation"},
        {HEADER "b,beta,1x3,relu x=1 dtype=fp16,0\n", "count"},
        {HEADER "b,beta,1x3,relu x=1 dtype=fp16,two\n", "count"},
        {HEADER "b,beta,3,relu x=1 dtype=fp16,1\n", "(x)"},
        {HEADER "b,beta,0x3x32x32,relu x=1 dtype=fp16,1\n", "(x)"},
        {HEADER "b,beta,1x3\n", "line 2"},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        ft_network_lists *t = NULL;
        ft_error err = {0};

        CHECK(EQ(open_text(&t, wrong[i].text, &err), FT_EFORMAT) && !t);
        CHECK(HAS(err.msg, wrong[i].says));
    }
}

static ft_store *measured(void)
{
    char path[4200];
    uint64_t rows;
    ft_store *s = NULL;

    snprintf(path, sizeof(path), "%s/measurements/timm.csv.gz", data_dir);
    CHECK_EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    CHECK_EQ(ft_store_import_file(s, path, &rows, NULL), FT_OK);
    return s;
}

/* One dataset of timm's: PyTorch 2.4, channels last. */
static void
families_of_timm_are_predicted_better_than_by_one_factor(ft_network_lists *t,
                                                         ft_store *s)
{
    const ft_evaluate_options how = {.networks = "version=2.4.0 layout=nhwc",
                                     .protocol = FT_PROTOCOL_ARCHITECTURE,
                                     .data_dir = data_dir,
                                     .find = ft_network_lists_find,
                                     .find_user = t,
                                     .seed = 1};
    ft_evaluation a, b;

    CHECK_EQ(ft_evaluate(&a, s, NULL, &how, NULL), FT_OK);
    CHECK_EQ(ft_evaluate(&b, s, NULL, &how, NULL), FT_OK);
    CHECK(CMP(a.n_rows, >=, 300) && CMP(a.n_splits, >, 50) && EQ(a.n_unanswered, 0));
    CHECK(CMP(a.all.learned.mape, <, a.all.constant.mape));
    CHECK(CMP(a.all.learned.mape, <, 0.8 * a.all.base.mape));
    CHECK(CMP(a.all.covered, >, 0.8) && CMP(a.all.covered, <, 0.97) &&
          CMP(a.all.width, <, 2.5));
    CHECK(EQ(a.all.learned.mape, b.all.learned.mape) && EQ(a.all.width, b.all.width));
    ft_evaluation_free(&a);
    ft_evaluation_free(&b);
}

static void too_few_families_are_told(ft_network_lists *t, ft_store *s)
{
    const ft_evaluate_options how = {.networks = "name=resnet10t,vgg11",
                                     .protocol = FT_PROTOCOL_ARCHITECTURE,
                                     .data_dir = data_dir,
                                     .find = ft_network_lists_find,
                                     .find_user = t};
    ft_evaluation r;
    ft_error err = {0};

    CHECK_EQ(ft_evaluate(&r, s, NULL, &how, &err), FT_ENOTFOUND);
    CHECK(HAS(err.msg, "networks alone"));
}

/* Trained on networks alone, a predictor answers for a graph on their device, in their
 * element type, and for nothing else. */
static void a_predictor_of_networks_alone_is_asked_as_any_other(ft_network_lists *t,
                                                                ft_store *s)
{
    static const char list[] =
        "conv2d x=256x64x56x56 out=64 kernel=3x3 stride=1x1 "
        "pad=1x1 dtype=fp16 *4\nrelu x=256x64x56x56 dtype=fp16\n";
    static const char wide[] = "relu x=256x64x56x56 dtype=fp32\n";
    const ft_train_options how = {.networks = "version=2.4.0 phase=forward",
                                  .find = ft_network_lists_find,
                                  .find_user = t,
                                  .data_dir = data_dir,
                                  .seed = 1};
    ft_predictor *p = NULL;
    ft_device *d = NULL, *other = NULL;
    ft__device_use on = {0};
    ft__network_estimate e;
    ft_graph *g = NULL, *w = NULL;
    ft_error err = {0};

    CHECK_EQ(ft_predictor_train(&p, s, &how, &err), FT_OK);
    CHECK_EQ(ft_device_load(&d, data_dir, "rtx-3090", NULL), FT_OK);
    CHECK_EQ(ft_device_load(&other, data_dir, "a30", NULL), FT_OK);
    CHECK_EQ(ft_import_ops(&g, list, strlen(list), "list", NULL), FT_OK);
    CHECK_EQ(ft_import_ops(&w, wide, strlen(wide), "list", NULL), FT_OK);
    CHECK(p && EQ(ft__predictor_covers(p, "rtx-3090", g), 1));
    CHECK(p && EQ(ft__predictor_covers(p, "rtx-3090", w), 0));
    CHECK(p && EQ(ft__predictor_covers(p, "a30", g), 0));
    on.device = d;
    CHECK(p && EQ(ft__predict_network(&e, p, &on, g, &err), FT_OK));
    CHECK(CMP(e.n_networks, >, 300) && EQ(e.n_learned, 2) &&
          EQ(e.time.basis, FT_BASIS_LEARNED));
    CHECK(CMP(e.time.low, <, e.time.value) && CMP(e.time.value, <, e.time.high));
    CHECK_NEAR(4 * e.op_time[0].value + e.op_time[1].value, e.time.value, 1e-12);
    ft__network_estimate_free(&e);
    on.setting = "clock=900MHz";
    CHECK_EQ(ft__predict_network(&e, p, &on, g, &err), FT_OK);
    CHECK_EQ(e.time.basis, FT_BASIS_SCALED);
    ft__network_estimate_free(&e);
    on.setting = NULL;
    CHECK_EQ(ft__predict_network(&e, p, &on, w, &err), FT_ENOTFOUND);
    on.device = other;
    CHECK_EQ(ft__predict_network(&e, p, &on, g, &err), FT_ENOTFOUND);
    CHECK(HAS(err.msg, "of none on a30"));
    ft_graph_free(g);
    ft_graph_free(w);
    ft_device_free(d);
    ft_device_free(other);
    ft_predictor_free(p);
}

int main(int argc, char **argv)
{
    char path[4200];
    ft_network_lists *table = NULL;
    ft_store *s;
    int fd;

    take_folder(argc, argv);
    snprintf(scratch, sizeof(scratch), "/tmp/foretell-table-XXXXXX");
    fd = mkstemp(scratch);
    CHECK(CMP(fd, >=, 0));
    if (fd >= 0)
        close(fd);
    check_all();
    unlink(scratch);
    snprintf(path, sizeof(path), "%s/workloads/timm.csv.gz", data_dir);
    CHECK_EQ(ft_network_lists_open(&table, path, NULL), FT_OK);
    s = measured();
    if (table && s) {
        families_of_timm_are_predicted_better_than_by_one_factor(table, s);
        a_predictor_of_networks_alone_is_asked_as_any_other(table, s);
        too_few_families_are_told(table, s);
    }
    ft_store_close(s);
    ft_network_lists_free(table);
    CHECK_DONE();
}
