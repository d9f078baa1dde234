/* foretell ptx: the kernels of files; launch.c and list.c say what launches of them
 * execute. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/ptx/ptx.h"
#include "foretell/names.h"
#include "report/units.h"

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
              "an argument, by name or position: a number, pointer:64MiB, bytes:00ff"),
    FT__INPUT(ft__ptx_options, launches, "launches", "PATH",
              "a launch file, or a folder that Triton, Inductor or XLA left"),
    FT__TEXT(ft__ptx_options, device, "device", "D",
             "tell time, power and occupancy on this GPU; without --grid, registers"),
    FT__INPUT(ft__ptx_options, predictor, "predictor", "P.ftp",
              "of train --kernels; the user's own, one of the data folder, else the "
              "device's data sheet"),
    FT__TEXT(ft__ptx_options, method, "method", "physics",
             "from the device's data sheet alone"),
    FT__COUNT(ft__ptx_options, registers, "registers", "N",
              "of a thread; what ptxas says, where it is on PATH, else estimated"),
    FT__FLAG(ft__ptx_options, no_ptxas, "no-ptxas", "do not ask ptxas for registers"),
    FT__SECONDS(
        ft__ptx_options, ptxas_s, "ptxas-time", "TIME",
        "how long ptxas may take for the kernels of launches, or of a file; 30s"),
    FT__HTML_OPTION(ft__ptx_options),
    FT__COUNT(ft__ptx_options, blocks, "blocks", "N",
              "how many blocks of instructions to list, the heaviest; 5"),
    {0},
};

/* The kernels of files, without a launch. */

struct shown_module {
    const char *path;
    const ft_ptx *ptx;
    ft_ptx_listed *listed; /* its kernels, for ptxas; NULL: no GPU is asked about */
    ft__ptxas *ptxas;      /* NULL: not asked */
};

static ft_status open_module(struct shown_module *m, ft__cli *c, const ft_device *d,
                             const ft__ptx_options *o, ft_error *err)
{
    const ft_ptx_kernel *k = ft_ptx_get(m->ptx)->kernel;
    size_t n = ft_ptx_get(m->ptx)->n_kernels, kept = 0;

    if (!d)
        return FT_OK;
    m->listed = calloc(n + 1, sizeof(*m->listed));
    if (!m->listed)
        return ft_fail(err, FT_ENOMEM, 0, "%s", m->path);
    for (size_t i = 0; i < n; i++)
        if (!o->entry || strcmp(o->entry, k[i].name) == 0) {
            m->listed[kept] = (ft_ptx_listed){
                .path = m->path, .module = m->ptx, .kernel = &k[i], .same = kept};
            kept++;
        }
    return ft__ptxas_open(c, &m->ptxas, d, m->listed, kept, o) == FT__EXIT_GOOD
               ? FT_OK
               : ft_fail(err, FT_ENOMEM, 0, "%s", m->path);
}

/* *registers 0: no GPU is asked about, or it is not known. */
static const ft__ptxas_entry *
allocated(uint32_t *registers, const struct shown_module *m, const ft_ptx_kernel *k)
{
    const ft_ptx_listed launch = {.path = m->path, .module = m->ptx, .kernel = k};
    const ft__ptxas_entry *e = m->ptxas ? ft__ptxas_ask(m->ptxas, &launch) : NULL;
    const ft_ptx_kernel *first = ft_ptx_get(m->ptx)->kernel;
    ft_error err;

    *registers = e ? e->registers : 0;
    if (m->listed && !e &&
        ft_ptx_registers(registers, m->ptx, (uint32_t)(k - first), &err))
        *registers = 0;
    return e;
}

static void print_params(const ft_ptx_kernel *k)
{
    printf("  parameters    ");
    for (uint32_t i = 0; i < k->n_params; i++) {
        printf("%s", i ? ", " : "");
        ft__put_clean(stdout, k->param[i].name);
        if (k->param[i].pointer)
            printf(" (pointer)");
        else
            printf(" (%u B)", k->param[i].size);
    }
    puts(k->n_params ? "" : "none");
}

static void print_block(const ft_ptx_kernel *k)
{
    printf("  block         ");
    if (k->required[0])
        printf("%s threads required", ft__ptx_dims_text(k->required).s);
    else if (k->most[0])
        printf("at most %s threads", ft__ptx_dims_text(k->most).s);
    else
        printf("left to the launch");
    if (k->cluster[0])
        printf(", clusters of %s blocks", ft__ptx_dims_text(k->cluster).s);
    if (k->blocks_per_sm)
        printf(", at least %u blocks on an SM", k->blocks_per_sm);
    puts("");
}

static int by_count(const void *a, const void *b)
{
    const uint64_t *x = *(const uint64_t *const *)a, *y = *(const uint64_t *const *)b;

    return *x < *y ? 1 : *x > *y ? -1 : x < y ? -1 : x > y;
}

static void print_allocated(const struct shown_module *m, const ft_ptx_kernel *k)
{
    uint32_t registers;
    const ft__ptxas_entry *e = allocated(&registers, m, k);

    if (e && e->spill_stores + e->spill_loads)
        printf("  allocated     %u registers, %" PRIu64 " B shared, %" PRIu64
               " B spilled and %" PRIu64 " B loaded back (ptxas for %s)\n",
               registers, e->shared_bytes, e->spill_stores, e->spill_loads, e->arch);
    else if (e)
        printf("  allocated     %u registers, %" PRIu64
               " B shared, no spills (ptxas for %s)\n",
               registers, e->shared_bytes, e->arch);
    else if (registers)
        printf("  allocated     about %u registers (estimated%s)\n", registers,
               m->ptxas && !ft__ptxas_found(m->ptxas) ? ", for no ptxas is on PATH"
                                                      : "");
}

static uint64_t print_classes(const uint64_t *n)
{
    const uint64_t *order[FT_PTX_CLASSES];
    uint64_t sum = 0;

    for (int i = 0; i < FT_PTX_CLASSES; i++) {
        order[i] = &n[i];
        sum += n[i];
    }
    qsort(order, FT_PTX_CLASSES, sizeof(order[0]), by_count);
    printf("  instructions  %" PRIu64 " in the text:", sum);
    for (int i = 0; i < FT_PTX_CLASSES && *order[i]; i++)
        printf("%s %" PRIu64 " %s", i ? "," : "", *order[i],
               ft_name(FT_NAMES_PTX_CLASS, (ft_ptx_class)(order[i] - n)));
    puts("");
    return sum;
}

static void print_kernel(const struct shown_module *m, const ft_ptx_kernel *k)
{
    puts("");
    ft__put_clean(stdout, k->source_name);
    if (strcmp(k->source_name, k->name) != 0) {
        printf("    ");
        ft__put_clean(stdout, k->name);
    }
    printf("    line %u\n", k->line);
    print_params(k);
    print_block(k);
    printf("  registers     %u predicates, %u of 16, %u of 32, %u of 64 bits declared; "
           "ptxas allocates fewer\n",
           k->registers[0], k->registers[1], k->registers[2], k->registers[3]);
    print_allocated(m, k);
    printf("  memory        %" PRIu64 " B shared, %" PRIu64 " B local\n",
           k->shared_bytes, k->local_bytes);
    print_classes(k->instructions);
}

static const char kernel_fields[] =
    "file:s kernel:s line:n parameters:n block_x:n block_y:n block_z:n predicates:n "
    "registers_16:n registers_32:n registers_64:n shared_bytes:u local_bytes:u "
    "instructions:u";

static void csv_kernel(const struct shown_module *m, const ft_ptx_kernel *k)
{
    uint64_t sum = 0;

    for (int i = 0; i < FT_PTX_CLASSES; i++)
        sum += k->instructions[i];
    ft__csv_row(stdout, kernel_fields, m->path, k->name, k->line, k->n_params,
                k->required[0], k->required[1], k->required[2], k->registers[0],
                k->registers[1], k->registers[2], k->registers[3], k->shared_bytes,
                k->local_bytes, sum);
}

static json_t *allocated_json(const struct shown_module *m, const ft_ptx_kernel *k)
{
    uint32_t registers;
    const ft__ptxas_entry *e = allocated(&registers, m, k);

    return registers ? ft__json("registers:n from:s ptxas:o", registers,
                                e ? "ptxas" : "estimated", ft__ptxas_json(e))
                     : json_null();
}

static json_t *params_json(const ft_ptx_kernel *k)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < k->n_params; i++)
        ft__json_append_take(&all, ft__json("name:s size:n align:n pointer:b",
                                            k->param[i].name, k->param[i].size,
                                            k->param[i].align, k->param[i].pointer));
    return all;
}

static json_t *classes_json(const uint64_t *n)
{
    json_t *all = json_object();

    for (int i = 0; i < FT_PTX_CLASSES; i++)
        json_object_set_new(all, ft_name(FT_NAMES_PTX_CLASS, (ft_ptx_class)i),
                            ft__json_count(n[i]));
    return all;
}

static json_t *kernel_json(const ft_ptx_kernel *k, json_t *allocated)
{
    return ft__json(
        "name:s source_name:s line:n parameters:o required:t most:t cluster:t "
        "blocks_per_sm:n "
        "shared_bytes:u local_bytes:u registers:o allocated:o instructions:o",
        k->name, k->source_name, k->line, params_json(k), k->required, k->most,
        k->cluster, k->blocks_per_sm, k->shared_bytes, k->local_bytes,
        ft__json("predicates:n 16:n 32:n 64:n", k->registers[0], k->registers[1],
                 k->registers[2], k->registers[3]),
        allocated, classes_json(k->instructions));
}

static json_t *module_json(const struct shown_module *m, const char *entry)
{
    const ft_ptx_kernel *k = ft_ptx_get(m->ptx)->kernel;
    size_t n = ft_ptx_get(m->ptx)->n_kernels;
    json_t *all = json_array();

    for (size_t i = 0; i < n; i++)
        if (!entry || strcmp(entry, k[i].name) == 0)
            ft__json_append_take(&all, kernel_json(&k[i], allocated_json(m, &k[i])));
    return ft__json("file:s version:g target:s kernels:o", m->path,
                    ft_ptx_get(m->ptx)->version / 10.0, ft_ptx_get(m->ptx)->target,
                    all);
}

struct shown_files {
    ft__cli *c;
    const char *entry;
    json_t *json;
    size_t n; /* kernels */
};

static void print_module(const struct shown_files *s, const struct shown_module *m)
{
    const ft_ptx_facts *f = ft_ptx_get(m->ptx);

    printf("%s", s->n ? "\n" : "");
    ft__put_clean(stdout, m->path);
    printf(": PTX %u.%u for %s, %s\n", f->version / 10, f->version % 10, f->target,
           ft__text_counted(f->n_kernels, "kernel").s);
}

static void show_module(struct shown_files *s, const struct shown_module *m)
{
    const ft_ptx_kernel *k = ft_ptx_get(m->ptx)->kernel;
    size_t n = ft_ptx_get(m->ptx)->n_kernels, shown = 0;

    for (size_t i = 0; i < n; i++) {
        if (s->entry && !ft_ptx_is_called(&k[i], s->entry))
            continue;
        if (shown++ == 0 && !s->c->json && !s->c->csv)
            print_module(s, m);
        s->n++;
        if (s->c->csv)
            csv_kernel(m, &k[i]);
        else if (!s->c->json)
            print_kernel(m, &k[i]);
    }
    if (shown && s->json)
        ft__json_append_take(&s->json, module_json(m, s->entry));
}

static ft_status show_file(struct shown_files *s, const char *path, const ft_device *d,
                           const ft__ptx_options *o, ft_error *err)
{
    ft_ptx **m;
    size_t n;
    ft_status st = ft_ptx_modules_open(&m, &n, path, err);

    for (size_t i = 0; !st && i < n; i++) {
        struct shown_module one = {.path = path, .ptx = m[i]};

        st = open_module(&one, s->c, d, o, err);
        if (!st)
            show_module(s, &one);
        ft__ptxas_free(one.ptxas);
        free(one.listed);
    }
    ft_ptx_modules_free(m, n);
    return st;
}

static int kernels(ft__cli *c, const ft_device *d, const ft__ptx_options *o)
{
    struct shown_files s = {
        .c = c, .entry = o->entry, .json = c->json || o->html ? json_array() : NULL};
    json_t *all;
    int code;
    ft_status st = FT_OK;

    if (c->csv)
        ft__csv_head(stdout, kernel_fields);
    for (size_t i = 0; i < c->args.n && !st; i++)
        st = show_file(&s, c->args.v[i], d, o, &c->err);
    if (st) {
        json_decref(s.json);
        return ft__cli_check(c, st);
    }
    if (o->entry && !s.n) {
        json_decref(s.json);
        return ft__cli_exit(c, FT__EXIT_MISSING, "no kernel is called %s", o->entry);
    }
    all = s.json ? ft__json("files:o", s.json) : NULL;
    code = ft__cli_done(c, !c->json || ft__json_print_take(json_incref(all), stdout));
    if (!code && o->html)
        return ft__record_save_take(c, o->html, all);
    json_decref(all);
    return code;
}

static int run_kernels(ft__cli *c, const ft__ptx_options *o, const ft_device *d)
{
    if (d && !(ft_device_get(d)->compute_capability > 0))
        return ft__cli_exit(c, FT__EXIT_MISSING,
                            "%s: kernels in PTX run on GPUs of NVIDIA's; name one of "
                            "them",
                            ft_device_get(d)->name);
    return kernels(c, d, o);
}

/* The device that --device names; *out NULL: none. Complains itself. */
static int open_device(ft__cli *c, ft_device **out, const ft__ptx_options *o)
{
    char name[128], data_dir[FT__PATH_MAX];
    int code;

    *out = NULL;
    if (!o->device)
        return FT__EXIT_GOOD;
    if (snprintf(name, sizeof(name), "%s", o->device) >= (int)sizeof(name))
        return ft__usage(c, "--device %.60s...: too long", o->device);
    if (strchr(name, ','))
        return ft__usage(c, "--device %s: ptx takes one device", name);
    code = ft__device_resolve(c, name, sizeof(name), true);
    ft__path_data(c, data_dir);
    if (!code && ft_device_load(out, data_dir, name, &c->err))
        code = ft__cli_check(c, c->err.status);
    return code;
}

static bool is_model(const char *path)
{
    static const char *const ends[] = {".onnx", ".pt2", ".gguf"};
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < sizeof(ends) / sizeof(*ends); i++)
        if (strcmp(dot, ends[i]) == 0)
            return true;
    return false;
}

static bool are_launches(const char *path)
{
    const char *dot = strrchr(path, '.');
    struct stat st;

    return (dot && strcmp(dot, ".jsonl") == 0) ||
           (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static int check(ft__cli *c, const ft__ptx_options *o)
{
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
        return FT__EXIT_GOOD;
    if (!c->args.n)
        return ft__usage(c, "FILE is missing, or --launches PATH; see foretell ptx "
                            "--help");
    for (size_t i = 0; i < c->args.n; i++)
        if (are_launches(c->args.v[i]))
            return ft__usage(c,
                             "%s: a list of launches, or a folder that has one, is "
                             "--launches PATH",
                             c->args.v[i]);
        else if (is_model(c->args.v[i]))
            return ft__cli_exit(c, FT__EXIT_INPUT,
                                "%s: a model, not PTX; models are for foretell predict",
                                c->args.v[i]);
    if (!o->grid && (o->block || o->cluster || o->params.n || o->shared))
        return ft__usage(c, "--grid is missing: how many blocks does the launch have?");
    if (o->grid && c->args.n != 1)
        return ft__usage(c, "--grid is for one FILE; several launches are for a launch "
                            "file, --launches");
    return FT__EXIT_GOOD;
}

static int run(ft__cli *c, const void *given)
{
    const ft__ptx_options *o = given;
    ft_device *d = NULL;
    int code = check(c, o);

    if (!code)
        code = open_device(c, &d, o);
    if (!code)
        code = o->launches ? ft__ptx_list(c, o, d)
               : o->grid   ? ft__ptx_launch(c, o, d)
                           : run_kernels(c, o, d);
    ft_device_free(d);
    return code;
}

const ft__command ft__ptx_command = {
    .name = "ptx",
    .arguments = "FILE...",
    .summary = "count the instructions of PTX kernels and predict their time",
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
    .most_args = 1000,
    .has_csv = true,
    .options_size = sizeof(ft__ptx_options),
    .options = options,
    .run = run,
};
