/* Runs the launches of a file on an NVIDIA GPU and tells how long they take: JSON
 * lines, the first of which describes the machine. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure.h"
#include "ptx/ptx_inside.h"

/* Exit codes: as the command's. */
enum { DONE = 0, FAILED = 1, USAGE = 2, BAD_INPUT = 3, MISSING = 4 };

typedef struct options {
    const char *cuda, *nvml, *out, *launches;
    int device;
    double time_s, power_s, budget_s;
    bool once, blocks, print;
} options;

static int usage(FILE *fp)
{
    fputs(
        "usage: ptx-measure [OPTION...] LAUNCHES.jsonl\n"
        "  -o FILE       write there, not to the standard output\n"
        "  --time S      seconds of samples of each launch (0.1)\n"
        "  --power S     seconds of looping under which power is read (0: not)\n"
        "  --budget S    begin no launch after so many seconds\n"
        "  --once        run every launch once and measure nothing: for a profiler\n"
        "  --blocks      count what each basic block executes, by counters in the PTX\n"
        "  --print       no GPU: LAUNCHES is a PTX file, print it with such counters\n"
        "  --device N    which GPU (0)\n"
        "  --cuda LIB, --nvml LIB   libraries in place of libcuda.so.1, "
        "libnvidia-ml.so.1\n",
        fp);
    return fp == stdout ? DONE : USAGE;
}

static bool seconds(double *out, const char *text)
{
    char *end;

    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out >= 0 && *out < 1e6;
}

static bool number(int *out, const char *text)
{
    char *end;
    long v = strtol(text, &end, 10);

    *out = (int)v;
    return end != text && *end == '\0' && v >= 0 && v < 1024;
}

enum {
    TIME = 256,
    POWER,
    BUDGET,
    ONCE,
    BLOCKS,
    PRINT,
    DEVICE,
    CUDA_LIB,
    NVML_LIB,
    HELP
};

/* 0: go on; else an exit code + 1. */
static int take(options *o, int option, const char *text)
{
    bool good = true;

    switch (option) {
    case 'o': o->out = text; break;
    case TIME: good = seconds(&o->time_s, text); break;
    case POWER: good = seconds(&o->power_s, text); break;
    case BUDGET: good = seconds(&o->budget_s, text); break;
    case ONCE: o->once = true; break;
    case BLOCKS: o->blocks = true; break;
    case PRINT: o->print = true; break;
    case DEVICE: good = number(&o->device, text); break;
    case CUDA_LIB: o->cuda = text; break;
    case NVML_LIB: o->nvml = text; break;
    case HELP: return usage(stdout) + 1;
    default: return usage(stderr) + 1;
    }
    if (!good)
        fprintf(stderr, "ptx-measure: \"%s\" is no number of %s\n", text,
                option == DEVICE ? "a GPU" : "seconds");
    return good ? 0 : USAGE + 1;
}

static int parse(options *o, int argc, char **argv)
{
    static const struct option list[] = {{"time", required_argument, NULL, TIME},
                                         {"power", required_argument, NULL, POWER},
                                         {"budget", required_argument, NULL, BUDGET},
                                         {"once", no_argument, NULL, ONCE},
                                         {"blocks", no_argument, NULL, BLOCKS},
                                         {"print", no_argument, NULL, PRINT},
                                         {"device", required_argument, NULL, DEVICE},
                                         {"cuda", required_argument, NULL, CUDA_LIB},
                                         {"nvml", required_argument, NULL, NVML_LIB},
                                         {"help", no_argument, NULL, HELP},
                                         {NULL, 0, NULL, 0}};
    int option, end = 0;

    *o = (options){.time_s = 0.1, .budget_s = INFINITY};
    while (!end && (option = getopt_long(argc, argv, "o:", list, NULL)) != -1)
        end = take(o, option, optarg);
    if (!end && optind + 1 != argc)
        end = usage(stderr) + 1;
    o->launches = argv[argc - 1];
    return end;
}

static int fail(const ft_error *err, int code)
{
    fprintf(stderr, "ptx-measure: %s\n", err->msg);
    return code;
}

/* The one at the same place of the bus; NVML writes more digits of its domain. */
static bool find_sensors(how *h, ft__nvml *n, const cuda *c)
{
    char place[64] = "";
    ft__nvml_pci pci;

    if (c->device_pci(place, sizeof(place), c->device) || !n->pci)
        return false;
    for (unsigned i = 0; i < n->n_devices; i++) {
        size_t k;

        if (n->handle_by_index(i, &h->gpu) || n->pci(h->gpu, &pci))
            continue;
        pci.id[sizeof(pci.id) - 1] = '\0';
        k = strlen(pci.id);
        if (k >= strlen(place) && strcasecmp(pci.id + k - strlen(place), place) == 0) {
            h->nvml = n;
            return true;
        }
    }
    return false;
}

static void describe_sensors(json_t *out, const how *h)
{
    char text[96] = "";
    unsigned v = 0;

    if (!FT__NVML_CALL(h->nvml, driver_version, text, sizeof(text)))
        json_object_set_new(out, "driver", json_string(text));
    if (!FT__NVML_CALL(h->nvml, power_limit, h->gpu, &v))
        json_object_set_new(out, "power_limit_w", json_real(v * 1e-3));
    if (!FT__NVML_CALL(h->nvml, temperature, h->gpu, 0, &v))
        json_object_set_new(out, "temperature_c", json_integer(v));
}

static json_t *describe_machine(const cuda *c, const how *h)
{
    static const struct {
        const char *name;
        int attribute;
    } about[] = {{"processors", CUDA_PROCESSORS},
                 {"clock_khz", CUDA_CLOCK_KHZ},
                 {"memory_clock_khz", CUDA_MEMORY_CLOCK_KHZ},
                 {"bus_bits", CUDA_BUS_BITS},
                 {"cache_bytes", CUDA_CACHE_BYTES},
                 {"major", CUDA_MAJOR},
                 {"minor", CUDA_MINOR}};
    char name[256] = "";
    json_t *out = json_object();
    size_t bytes = 0;
    int v = 0;

    c->device_name(name, sizeof(name) - 1, c->device);
    json_object_set_new(out, "device", json_string(name));
    for (size_t k = 0; k < sizeof(about) / sizeof(*about); k++)
        if (!c->device_attribute(&v, about[k].attribute, c->device))
            json_object_set_new(out, about[k].name, json_integer(v));
    if (!c->device_memory(&bytes, c->device))
        json_object_set_new(out, "memory_bytes", json_integer((json_int_t)bytes));
    if (!c->driver_version(&v))
        json_object_set_new(out, "cuda", json_integer(v));
    if (h->nvml)
        describe_sensors(out, h);
    return out;
}

static ft_status run_one(json_t *row, const cuda *c, const launch *l, const options *o,
                         const how *h, ft_error *err)
{
    job j;
    ft_status st;

    if (o->blocks)
        return job_count_blocks(row, c, l, err);
    st = job_open(&j, c, l, NULL, err);
    if (st)
        return st;
    job_describe(&j, row);
    if (o->once) {
        st = job_launch(&j, err);
        st = st ? st : job_wait(&j, err);
    } else {
        st = measure(row, &j, h, err);
    }
    job_close(&j);
    return st;
}

/* A line of output, complete or not at all where the program is stopped. */
static bool write_row(FILE *fp, json_t *row)
{
    bool good = json_dumpf(row, fp, JSON_COMPACT) == 0 && fputc('\n', fp) != EOF;

    json_decref(row);
    return good && fflush(fp) == 0;
}

/* How far all processes have come. */
typedef struct progress {
    size_t next, failed, left;
    bool described, unwritten;
} progress;

/* From p->next on, to the first that fails: what broke a context breaks all that
 * follows in it. */
static void run_some(FILE *fp, const launches *all, const cuda *c, const options *o,
                     const how *h, double begin_s, progress *p)
{
    ft_status st = FT_OK;

    if (!p->described)
        p->unwritten = !write_row(fp, describe_machine(c, h));
    p->described = true;
    while (!st && !p->unwritten && p->next < all->n) {
        const launch *l = &all->row[p->next];
        json_t *row;
        ft_error err;

        if (ft__now_s() - begin_s > o->budget_s) {
            p->left = all->n - p->next;
            p->next = all->n;
            break;
        }
        row = json_copy(l->row);
        json_object_del(row, "count");
        st = run_one(row, c, l, o, h, &err);
        if (st)
            json_object_set_new(row, "error", json_string(err.msg));
        p->failed += st != FT_OK;
        p->unwritten = !write_row(fp, row);
        p->next++;
    }
}

/* In a process of its own, with a context of its own. */
static int run_here(FILE *fp, const launches *all, const options *o, double begin_s,
                    progress *p)
{
    how h = {.time_s = o->time_s, .power_s = o->power_s};
    ft__nvml nvml = {0};
    ft_error err;
    cuda c;

    if (cuda_open(&c, o->cuda, o->device, &err))
        return fail(&err, err.status == FT_ENOTFOUND ? MISSING : FAILED);
    if (!ft__nvml_open(&nvml, o->nvml, true)) {
        if (!p->described)
            fprintf(stderr, "ptx-measure: without power and clocks: %s\n", nvml.reason);
    } else if (!find_sensors(&h, &nvml, &c) && !p->described) {
        fputs("ptx-measure: without power and clocks: NVML does not know this GPU\n",
              stderr);
    }
    run_some(fp, all, &c, o, &h, begin_s, p);
    if (nvml.dl)
        ft__nvml_close(&nvml);
    cuda_close(&c);
    return DONE;
}

static int run_child(FILE *fp, const launches *all, const options *o, double begin_s,
                     progress *p)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(run_here(fp, all, o, begin_s, p));
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

static int report_outcome(const progress *p, const launches *all, const options *o)
{
    if (p->unwritten)
        fprintf(stderr, "ptx-measure: %s: what was measured cannot be written\n",
                o->out ? o->out : "the standard output");
    if (p->left)
        fprintf(stderr, "ptx-measure: %zu launches are left, the time is over\n",
                p->left);
    if (p->failed)
        fprintf(stderr,
                "ptx-measure: %zu of %zu launches failed; their lines say why\n",
                p->failed, all->n);
    return p->unwritten || p->failed ? FAILED : DONE;
}

static int run_all(FILE *fp, const options *o, const launches *all)
{
    double begin_s = ft__now_s();
    progress *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    size_t before;
    int rc = DONE;

    if (p == MAP_FAILED) {
        fprintf(stderr, "ptx-measure: %s\n", strerror(errno));
        return FAILED;
    }
    do {
        before = p->next;
        rc = run_child(fp, all, o, begin_s, p);
    } while (!rc && !p->unwritten && p->next < all->n && p->next > before);
    rc = rc ? rc : report_outcome(p, all, o);
    munmap(p, sizeof(*p));
    return rc;
}

static int run_file(const options *o, const launches *all)
{
    FILE *fp = o->out ? fopen(o->out, "w") : stdout;
    int rc;

    if (!fp) {
        fprintf(stderr, "ptx-measure: %s: %s\n", o->out, strerror(errno));
        return FAILED;
    }
    rc = run_all(fp, o, all);
    if (fp != stdout && fclose(fp))
        rc = FAILED;
    return rc;
}

static int print_counters(const char *path)
{
    ft_ptx *m = NULL;
    blocks b = {0};
    ft_error err;
    ft_status st = ft__ptx_open(&m, path, &err);

    st = st ? st : blocks_insert(&b, m, &err);
    if (!st)
        fputs(b.text, stdout);
    blocks_free(&b);
    ft__ptx_free(m);
    return st ? fail(&err, BAD_INPUT) : DONE;
}

int main(int argc, char **argv)
{
    options o;
    launches all;
    ft_error err;
    int rc = parse(&o, argc, argv);

    if (rc)
        return rc - 1;
    if (o.print)
        return print_counters(o.launches);
    if (launches_read(&all, o.launches, &err))
        return fail(&err, BAD_INPUT);
    rc = run_file(&o, &all);
    launches_free(&all);
    return rc;
}
