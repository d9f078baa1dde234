/* foretell devices: what can be asked about. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "report/record.h"

/* Every number of ft_device_facts under its own name, for JSON and CSV. */
/* clang-format off */
#define FACTS(F)                                                                       \
    F(cores) F(base_clock_hz) F(boost_clock_hz) F(memory_clock_hz) F(peak_fp64)        \
    F(peak_fp32) F(peak_tf32) F(peak_fp16) F(peak_bf16) F(peak_fp8) F(peak_fp4)        \
    F(peak_int8) F(bandwidth_bytes_per_s) F(memory_bytes) F(inline_ecc) F(l2_bytes)    \
    F(l3_bytes) F(shared_memory_per_core_bytes) F(tdp_w) F(process_nm)                 \
    F(compute_capability) F(year) F(link_bytes_per_s) F(link_devices) F(drawing_tdp_w) \
    F(launch_factor)
/* clang-format on */

struct listing {
    ft__cli *c;
    ft__table *table;
    json_t *array;
    FILE *hosts; /* a line for each device whose own host is known */
};

#define FIELD(name) " " #name ":g"
#define VALUE(name) , f->name
static const char fields[] = "name:s title:s vendor:s type:s" FACTS(FIELD);

static void add(struct listing *l, const ft_device *d)
{
    const ft_device_facts *f = ft_device_get(d);

    if (l->c->json)
        ft__json_append_take(
            &l->array,
            ft__json("name:s title:s vendor:s type:s" FACTS(FIELD) " source:s note:s",
                     f->name, f->title, f->vendor, f->type FACTS(VALUE), f->source,
                     f->note));
    else if (l->c->csv)
        ft__csv_row(stdout, fields, f->name, f->title, f->vendor, f->type FACTS(VALUE));
    else {
        ft__table_row(l->table, f->name, f->title, f->cores, f->peak_fp32 / 1e12,
                      f->peak_fp16 / 1e12, f->bandwidth_bytes_per_s / 1e9,
                      f->memory_bytes, f->tdp_w);
        if (f->launch_factor > 0)
            fprintf(l->hosts,
                    "%s: its host's launches take %.3g times those of an x86 "
                    "server's\n",
                    f->name, f->launch_factor);
    }
}

static bool wanted(const ft__cli *c, const char *name)
{
    for (size_t i = 0; i < c->args.n; i++)
        if (strcmp(c->args.v[i], name) == 0)
            return true;
    return c->args.n == 0;
}

static ft_status add_local(struct listing *l, ft_error *err)
{
    ft_device *d;
    ft_status st = FT_OK;

    if (!wanted(l->c, "local"))
        return FT_OK;
    st = ft_device_local(&d, "", err);
    if (!st)
        add(l, d);
    ft_device_free(d);
    return st;
}

static ft_status add_named(struct listing *l, const char *data_dir, ft_error *err)
{
    const ft__texts *args = &l->c->args;
    const char *const *list = args->v;
    char **names = NULL;
    size_t n = args->n, n_names = 0;
    ft_status st = FT_OK;

    if (n == 0) {
        st = ft_device_names(&names, &n_names, data_dir, err);
        list = (const char *const *)names;
        n = n_names;
    }
    for (size_t i = 0; i < n && !st; i++) {
        char name[128], note[512] = "";
        ft_device *d = NULL;

        if (strcmp(list[i], "local") == 0)
            continue;
        snprintf(name, sizeof(name), "%s", list[i]);
        st = ft_device_resolve(name, sizeof(name), note, sizeof(note), data_dir, err);
        if (!st)
            st = ft_device_load(&d, data_dir, name, err);
        if (!st)
            add(l, d);
        if (!st && *note && l->c->log.message)
            l->c->log.message(l->c->log.user, FT_LOG_WARN, note);
        ft_device_free(d);
    }
    ft_device_names_free(names, n_names);
    return st;
}

static bool finish(struct listing *l, bool wanted_output)
{
    if (l->c->json) {
        if (wanted_output)
            return ft__cli_json_take(l->c, l->array);
        json_decref(l->array);
    } else if (!l->c->csv) {
        return ft__table_print_take(l->table, wanted_output ? stdout : NULL);
    }
    return true;
}

static int run(ft__cli *c, const void *options)
{
    char *hosts = NULL;
    size_t len = 0;
    struct listing l = {.c = c, .hosts = open_memstream(&hosts, &len)};
    char data_dir[FT__PATH_MAX];
    ft_status st;
    bool good;

    (void)options;
    if (!l.hosts)
        return ft__cli_done(c, false);
    ft__path_data(c, data_dir);
    if (c->json)
        l.array = json_array();
    else if (c->csv)
        ft__csv_head(stdout, fields);
    else
        l.table = ft__table_new(
            "name|device<|cores>~|TFLOP/s fp32>~|fp16>~|GB/s>~|memory>B|TDP>W");
    st = add_local(&l, &c->err);
    if (!st)
        st = add_named(&l, data_dir, &c->err);
    good = finish(&l, !st);
    good = fclose(l.hosts) == 0 && good;
    if (good && !st && len)
        printf("\n%s", hosts);
    free(hosts);
    if (st)
        return ft__cli_check(c, st);
    if (!c->json && !c->csv)
        puts("\ncores: of a GPU, its streaming multiprocessors or compute units; - is "
             "not known.\nlocal is this machine: its rates are measured by foretell "
             "collect.");
    return ft__cli_done(c, good);
}

const ft__command ft__devices_command = {
    .name = "devices",
    .arguments = "[NAME...]",
    .summary = "list the devices that can be asked about",
    .more = "",
    .examples = "  foretell devices\n"
                "  foretell devices local a100-sxm-80gb --json\n",
    .most_args = SIZE_MAX,
    .has_csv = true,
    .run = run,
};
