/* foretell ptx: kernels, and what launches of them execute. */
#include <stdlib.h>
#include <string.h>

#include "cli/ptx/ptx.h"

static const ft__option options[] = {
    FT__TEXT(ft__ptx_options, entry, "entry", "KERNEL",
             "the kernel that is meant, where the file has several"),
    FT__TEXT(ft__ptx_options, grid, "grid", "X[,Y[,Z]]",
             "count a launch of so many blocks"),
    FT__TEXT(ft__ptx_options, block, "block", "X[,Y[,Z]]",
             "threads of a block, where the file does not say"),
    FT__TEXT(ft__ptx_options, cluster, "cluster", "X[,Y[,Z]]",
             "blocks of a cluster, where the file does not say"),
    FT__COUNT(ft__ptx_options, shared, "shared", "BYTES",
              "dynamic shared memory of a block"),
    FT__TEXTS(ft__ptx_options, params, "param", "NAME=VALUE",
              "an argument, by name or position: a number, pointer; may be repeated"),
    FT__TEXT(ft__ptx_options, launches, "launches", "PATH",
             "a launch file, or a folder that Triton, Inductor or XLA left"),
    FT__TEXT(ft__ptx_options, device, "device", "D",
             "tell time, power and occupancy on this GPU; without --grid, registers"),
    FT__TEXT(ft__ptx_options, predictor, "predictor", "P.ftp",
             "of train --kernels; the user's own, otherwise the device's data sheet"),
    FT__TEXT(ft__ptx_options, method, "method", "physics",
             "from the device's data sheet alone"),
    FT__COUNT(ft__ptx_options, registers, "registers", "N",
              "of a thread; what ptxas says, where it is on PATH, else estimated"),
    FT__FLAG(ft__ptx_options, no_ptxas, "no-ptxas", "do not ask ptxas for registers"),
    FT__SECONDS(
        ft__ptx_options, ptxas_s, "ptxas-time", "TIME",
        "how long ptxas may take for the kernels of launches, or of a file; 30s"),
    FT__COUNT(ft__ptx_options, blocks, "blocks", "N",
              "how many blocks of instructions to list, the heaviest; 5"),
    {0},
};

/* ---- the launch that options describe, as a line of a launch file ---- */

/* "32,8"; NULL: the complaint is printed. */
static json_t *dims_json(ft__cli *c, const char *option, const char *text, int *code)
{
    uint64_t v[3];
    size_t n;
    json_t *dims;

    if (!ft__counts_from_text(v, &n, 3, text)) {
        *code = ft__usage(c,
                          "--%s wants up to three whole numbers such as 32,8, not "
                          "\"%s\"",
                          option, text);
        return NULL;
    }
    dims = json_array();
    for (size_t i = 0; i < n; i++)
        ft__json_append_take(&dims, ft__json_count(v[i]));
    return dims;
}

/* A word is "pointer" or a mistake, which the reader of launches reports; all else is
 * JSON. */
static json_t *value_json(const char *text)
{
    json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);

    return v ? v : json_string(text);
}

static int params_json(ft__cli *c, json_t *line, const ft__texts *params)
{
    json_t *all = json_object();
    char name[256];

    for (size_t i = 0; i < params->n; i++) {
        const char *text = params->v[i], *is = strchr(text, '=');
        size_t n = is ? (size_t)(is - text) : 0;

        if (n == 0 || n >= sizeof(name) || !is[1]) {
            json_decref(all);
            return ft__usage(c,
                             "--param wants NAME=VALUE such as n=4096 or x=pointer, "
                             "not \"%s\"",
                             text);
        }
        memcpy(name, text, n);
        name[n] = '\0';
        json_object_set_new(all, name, value_json(is + 1));
    }
    json_object_set_new(line, "params", all);
    return FT__EXIT_GOOD;
}

static int line_json(ft__cli *c, json_t *line, const ft__ptx_options *o)
{
    const struct {
        const char *name, *text;
    } dims[] = {{"grid", o->grid}, {"block", o->block}, {"cluster", o->cluster}};
    int code = FT__EXIT_GOOD;

    json_object_set_new(line, "module", json_string(c->args.v[0]));
    if (o->entry)
        json_object_set_new(line, "kernel", json_string(o->entry));
    for (size_t i = 0; i < 3 && code == FT__EXIT_GOOD; i++)
        if (dims[i].text)
            json_object_set_new(line, dims[i].name,
                                dims_json(c, dims[i].name, dims[i].text, &code));
    if (o->shared)
        json_object_set_new(line, "shared", ft__json_count(o->shared));
    return code == FT__EXIT_GOOD ? params_json(c, line, &o->params) : code;
}

static int open_one(ft__cli *c, ft_ptx_launches **out, const ft__ptx_options *o)
{
    json_t *line = json_object();
    int code = line_json(c, line, o);
    char *text = code == FT__EXIT_GOOD ? json_dumps(line, JSON_COMPACT) : NULL;
    ft_status st;

    *out = NULL;
    json_decref(line);
    if (code != FT__EXIT_GOOD)
        return code;
    if (!text)
        return ft__cli_exit(c, FT__EXIT_BUG, "out of memory");
    st = ft_ptx_launches_parse(out, text, strlen(text), NULL, NULL, &c->err);
    free(text);
    return ft__cli_check(c, st);
}

/* ---- one launch ---- */

static int count_one(ft__cli *c, ft_ptx_launches *l, ft_data *data, const ft_device *d,
                     const ft__ptx_options *o)
{
    ft__ptx_counted v = {.times = 1};
    ft__ptxas *p = NULL;
    ft_status st;
    int code;

    v.launch = ft_ptx_launches_get(l)->listed;
    st = ft_ptx_launches_count(&v.counts, l, 0, &c->err);
    if (st)
        return ft__cli_check_asked(c, st);
    v.n_blocks = ft_ptx_launches_blocks(l, &v.block);
    v.n_accesses = ft_ptx_launches_accesses(l, &v.access);
    code = ft__ptxas_open(c, &p, d, v.launch, 1, o);
    if (code == FT__EXIT_GOOD && (st = ft__ptx_estimate(&v, data, d, p, o, &c->err)))
        code = ft__cli_check_asked(c, st);
    if (code == FT__EXIT_GOOD)
        code = ft__cli_done(c, ft__ptx_show(c, &v, o));
    ft__ptxas_free(p);
    return code;
}

static int run_one(ft__cli *c, const ft__ptx_options *o)
{
    ft_ptx_launches *l = NULL;
    ft_data *data = NULL;
    ft_device *d;
    int code;

    if (c->args.n != 1)
        return ft__usage(c, "--grid is for one FILE; several launches are for a launch "
                            "file, --launches");
    code = ft__ptx_device(c, &d, o);
    if (code == FT__EXIT_GOOD)
        code = open_one(c, &l, o);
    if (code == FT__EXIT_GOOD)
        code = ft__data_open(c, &data);
    if (code == FT__EXIT_GOOD)
        code = count_one(c, l, data, d, o);
    ft_data_close(data);
    ft_ptx_launches_free(l);
    ft_device_free(d);
    return code;
}

static int run(ft__cli *c, const void *given)
{
    const ft__ptx_options *o = given;

    if (o->launches && (c->args.n || o->grid || o->block || o->params.n))
        return ft__usage(c, "--launches says which kernels and which grids: it stands "
                            "without FILE, --grid, --block and --param");
    if ((o->predictor || o->method) && !o->device)
        return ft__usage(c, "--%s goes with --device",
                         o->predictor ? "predictor" : "method");
    if (o->method && (o->predictor || strcmp(o->method, "physics") != 0))
        return ft__usage(c,
                         o->predictor ? "--method %s uses no predictor: leave "
                                        "--predictor out"
                                      : "--method of kernels is physics, not \"%s\"",
                         o->method);
    if (o->registers > 255)
        return ft__usage(c, "--registers: a thread has at most 255");
    if (o->launches)
        return ft__ptx_list(c, o);
    if (!c->args.n)
        return ft__usage(c, "FILE is missing, or --launches PATH; see foretell ptx "
                            "--help");
    if (!o->grid && (o->block || o->cluster || o->params.n || o->shared))
        return ft__usage(c, "--grid is missing: how many blocks does the launch have?");
    return o->grid ? run_one(c, o) : ft__ptx_kernels(c, o);
}

const ft__command ft__ptx_command = {
    .name = "ptx",
    .arguments = "FILE...",
    .summary = "show what kernels in PTX are and what a launch of them executes",
    .more = "Nothing runs and no GPU is needed: instructions, bytes, coalescing, bank\n"
            "conflicts and divergence are counted from the PTX, the grid and the "
            "arguments.\n"
            "Parameters that are used as addresses need no value. docs/ptx.md says "
            "more.",
    .examples =
        "  foretell ptx kernels.ptx\n"
        "  foretell ptx kernels.ptx --entry softmax --grid 4096 --block 256 \\\n"
        "    --param columns=1000\n"
        "  foretell ptx --launches launches.jsonl\n"
        "  foretell ptx --launches ~/.triton/cache\n",
    .least_args = 0,
    .most_args = 1000,
    .has_csv = true,
    .options_size = sizeof(ft__ptx_options),
    .options = options,
    .run = run,
};
