/* Networks of other architectures foretell a family's: the table of their operations,
 * and timm's networks as they were measured. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foretell/dataset.h"
#include "foretell/networks.h"

#include "check.h"

static char data_dir[4096];
static char scratch[64];

static ft_status open_text(ft_network_table **t, const char *text, ft_error *err)
{
    FILE *fp = fopen(scratch, "w");

    CHECK(fp != NULL);
    if (!fp)
        return FT_EIO;
    fputs(text, fp);
    fclose(fp);
    return ft_network_table_open(t, scratch, err);
}

#define HEADER "network,family,x,operation,count\n"

static void a_list_is_found_whatever_its_batch(void)
{
    const ft_network_list *l;
    ft_network_table *t = NULL;

    CHECK(open_text(&t,
                    HEADER "b,beta,64x3x32x32,relu x=64x8 dtype=fp16,3\n"
                           "b,beta,64x3x32x32,gelu x=64x8 dtype=fp16,1\n"
                           "a,alpha,64x3x32x32,relu x=64x9 dtype=fp16,2\n"
                           "a,alpha,64x3x48x48,relu x=64x10 dtype=fp16,2\n",
                    NULL) == FT_OK);
    l = ft_network_table_find(t, "network name=b x=7x3x32x32 dtype=amp");
    CHECK(l && l->n == 2 && l->batch == 64 && l->count[0] == 3 &&
          l->op[1].kind == FT_KIND_gelu && strcmp(l->family, "beta") == 0);
    l = ft_network_table_find(t, "network name=a x=512x3x48x48 dtype=amp");
    CHECK(l && l->n == 1 && strcmp(l->family, "alpha") == 0);
    CHECK(ft_network_table_find(t, "network name=b x=7x3x48x48 dtype=amp") == NULL);
    CHECK(ft_network_table_find(t, "network name=c x=7x3x32x32 dtype=amp") == NULL);
    CHECK(ft_network_table_find(t, "network dtype=amp") == NULL);
    ft_network_table_free(t);
}

static void a_wrong_table_is_told_with_line_and_column(void)
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
        ft_network_table *t = NULL;
        ft_error err = {0};

        CHECK(open_text(&t, wrong[i].text, &err) == FT_EFORMAT && !t);
        CHECK(strstr(err.msg, wrong[i].says) != NULL);
    }
}

static ft_store *measured(void)
{
    char path[4200];
    ft_dataset_report r;
    ft_store *s = NULL;

    snprintf(path, sizeof(path), "%s/measurements/timm.csv.gz", data_dir);
    CHECK(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL) == FT_OK);
    CHECK(ft_dataset_import(&r, s, "csv", path, data_dir, NULL) == FT_OK);
    return s;
}

/* One dataset of timm's: PyTorch 2.4, channels last. */
static void families_of_timm_are_foretold_better_than_by_totals(ft_network_table *table,
                                                                ft_store *s)
{
    const ft_networks_options how = {.networks = "version=2.4.0 layout=nhwc",
                                     .data_dir = data_dir,
                                     .left_out = FT_LEAVE_FAMILY,
                                     .find = ft_network_table_find,
                                     .user = table,
                                     .seed = 1};
    ft_networks a, b;

    CHECK(ft_networks_evaluate(&a, s, &how, NULL) == FT_OK);
    CHECK(ft_networks_evaluate(&b, s, &how, NULL) == FT_OK);
    CHECK(a.n >= 300 && a.n == b.n && a.energy.n == 0);
    CHECK(a.time.mape < 0.15 && a.time.mape < 0.8 * a.sum_time.mape);
    CHECK(a.covered > 0.8 && a.covered < 0.97 && a.width < 2.5);
    CHECK(a.time.mape == b.time.mape && a.width == b.width);
    for (size_t i = 0; i < a.n; i++)
        CHECK(a.v[i].time.low < a.v[i].time.value &&
              a.v[i].time.value < a.v[i].time.high && a.v[i].family);
    ft_networks_free(&a);
    ft_networks_free(&b);
}

static void too_few_families_are_told(ft_network_table *table, ft_store *s)
{
    const ft_networks_options how = {.networks = "name=resnet10t,vgg11",
                                     .data_dir = data_dir,
                                     .left_out = FT_LEAVE_FAMILY,
                                     .find = ft_network_table_find,
                                     .user = table};
    ft_networks r;
    ft_error err = {0};

    CHECK(ft_networks_evaluate(&r, s, &how, &err) == FT_ENOTFOUND);
    CHECK(strstr(err.msg, "families") != NULL && !r.v);
}

int main(int argc, char **argv)
{
    char path[4200];
    ft_network_table *table = NULL;
    ft_store *s;
    int fd;

    if (argc < 2)
        return 2;
    snprintf(data_dir, sizeof(data_dir), "%s/data", argv[1]);
    snprintf(scratch, sizeof(scratch), "/tmp/foretell-table-XXXXXX");
    fd = mkstemp(scratch);
    CHECK(fd >= 0);
    if (fd >= 0)
        close(fd);
    a_list_is_found_whatever_its_batch();
    a_wrong_table_is_told_with_line_and_column();
    unlink(scratch);
    snprintf(path, sizeof(path), "%s/workloads/timm.csv.gz", data_dir);
    CHECK(ft_network_table_open(&table, path, NULL) == FT_OK);
    s = measured();
    if (table && s) {
        families_of_timm_are_foretold_better_than_by_totals(table, s);
        too_few_families_are_told(table, s);
    }
    ft_store_close(s);
    ft_network_table_free(table);
    CHECK_DONE();
}
