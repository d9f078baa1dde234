#include "job.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "ptx/ptx_inside.h"

enum { CHUNK = 1 << 22, ERROR_LOG = 4096, SHARED_WITHOUT_ASKING = 48 << 10 };

static char *read_text(const char *path)
{
    FILE *fp = fopen(path, "rb");
    char *text = NULL;
    long n = -1;

    if (fp && fseek(fp, 0, SEEK_END) == 0)
        n = ftell(fp);
    if (n >= 0 && (text = malloc((size_t)n + 1))) {
        rewind(fp);
        text[fread(text, 1, (size_t)n, fp)] = '\0';
    }
    if (fp)
        fclose(fp);
    return text;
}

static ft_status load(job *j, const char *text, ft_error *err)
{
    char log[ERROR_LOG] = "";
    int option[] = {CUDA_ERROR_LOG, CUDA_ERROR_LOG_SIZE};
    void *value[] = {
        log, (void *)(uintptr_t)sizeof(log)}; /* a number as a pointer: cuda.h */
    ft_error why;

    if (cuda_check(j->c, j->c->module_load(&j->module, text, 2, option, value),
                   "the module is not loaded", &why)) {
        log[sizeof(log) - 1] = '\0';
        return ft_fail(err, FT_EBACKEND, 0, "%.300s%s%.600s", why.msg,
                       log[0] ? ": " : "", log);
    }
    if (cuda_check(j->c, j->c->function_get(&j->function, j->module, j->l->kernel),
                   j->l->kernel, err))
        return FT_EBACKEND;
    if (j->l->shared > SHARED_WITHOUT_ASKING)
        return cuda_check(
            j->c,
            j->c->function_set(j->function, CUDA_DYNAMIC_SHARED, (int)j->l->shared),
            "so much shared memory", err);
    return FT_OK;
}

static ft_status fill_memory(const job *j, uint64_t at, const argument *a,
                             ft_error *err)
{
    unsigned char *chunk = malloc(CHUNK);
    ft_status st =
        chunk ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "4 MiB to fill memory from");

    for (uint64_t done = 0; !st && done < a->memory; done += CHUNK) {
        size_t n = a->memory - done < CHUNK ? (size_t)(a->memory - done) : CHUNK;

        if (done == 0 || a->fill.step != 0) /* what is spread repeats */
            fill_bytes(chunk, n, done, &a->fill);
        st = cuda_check(j->c, j->c->to_device(at + done, chunk, n), "memory is filled",
                        err);
    }
    free(chunk);
    return st;
}

static ft_status place(job *j, uint32_t i, ft_error *err)
{
    const argument *a = &j->l->arg[i];

    j->argument[i] = a->bytes;
    if (!a->memory)
        return FT_OK;
    if (cuda_check(j->c, j->c->allocate(&j->memory[i], (size_t)a->memory),
                   "memory is not to be had", err)) {
        j->memory[i] = 0;
        return FT_EBACKEND;
    }
    j->address[i] = j->memory[i] + a->offset;
    j->argument[i] = &j->address[i];
    if (a->fill.step == 0 && a->fill.high <= a->fill.low && a->fill.low == 0)
        return cuda_check(j->c, j->c->clear(j->memory[i], 0, (size_t)a->memory),
                          "memory is cleared", err);
    return fill_memory(j, j->memory[i], a, err);
}

ft_status job_open(job *j, const cuda *c, const launch *l, const char *text,
                   ft_error *err)
{
    char *own = NULL;
    ft_status st;

    *j = (job){.c = c, .l = l};
    if (!text)
        text = own = read_text(l->module);
    st = text ? load(j, text, err)
              : ft_fail(err, FT_EIO, 0, "%s cannot be read", l->module);
    free(own);
    for (uint32_t i = 0; !st && i < l->n_args; i++)
        st = place(j, i, err);
    if (st)
        job_close(j);
    return st;
}

void job_close(job *j)
{
    for (uint32_t i = 0; j->l && i < j->l->n_args; i++)
        if (j->memory[i])
            j->c->release(j->memory[i]);
    if (j->module)
        j->c->module_unload(j->module);
    memset(j, 0, sizeof(*j));
}

ft_status job_launch(job *j, ft_error *err)
{
    const launch *l = j->l;

    return cuda_check(j->c,
                      j->c->launch(j->function, l->grid[0], l->grid[1], l->grid[2],
                                   l->block[0], l->block[1], l->block[2], l->shared,
                                   NULL, j->argument, NULL),
                      "the kernel is not launched", err);
}

ft_status job_wait(job *j, ft_error *err)
{
    return cuda_check(j->c, j->c->synchronize(), "the kernel does not end well", err);
}

void job_describe(const job *j, json_t *out)
{
    static const struct {
        const char *name;
        int attribute;
    } about[] = {{"registers", CUDA_REGISTERS},
                 {"local_bytes", CUDA_LOCAL},
                 {"static_shared", CUDA_STATIC_SHARED}};
    const launch *l = j->l;
    int v = 0;

    for (size_t k = 0; k < sizeof(about) / sizeof(*about); k++)
        if (!j->c->function_attribute(&v, about[k].attribute, j->function))
            json_object_set_new(out, about[k].name, json_integer(v));
    if (!j->c->occupancy(&v, j->function,
                         (int)(l->block[0] * l->block[1] * l->block[2]), l->shared))
        json_object_set_new(out, "blocks_per_processor", json_integer(v));
}

static void add_counts(json_t *out, const blocks *b, const uint64_t *value)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < b->n; i++) {
        json_t *one = json_pack("{s:s, s:I, s:I, s:I}", "function", b->at[i].function,
                                "line", (json_int_t)b->at[i].line, "instructions",
                                (json_int_t)b->at[i].instructions, "threads",
                                (json_int_t)value[i * b->per]);

        if (b->per == 2)
            json_object_set_new(one, "warps",
                                json_integer((json_int_t)value[2 * i + 1]));
        json_array_append_new(list, one);
    }
    json_object_set_new(out, "blocks", list);
}

static void add_agreement(json_t *out, const blocks *b, const uint64_t *value,
                          const ft_ptx *m, const launch *l)
{
    agreement a;
    ft_error err;

    if (blocks_agree(&a, b, value, m, l, &err))
        json_object_set_new(out, "not_counted", json_string(err.msg));
    else
        json_object_set_new(
            out, "agreement",
            json_pack("{s:I, s:I, s:I, s:I, s:I}", "same", (json_int_t)a.same, "within",
                      (json_int_t)a.within, "outside", (json_int_t)a.outside, "unknown",
                      (json_int_t)a.unknown, "line", (json_int_t)a.line));
}

/* Of a job that has run. */
static ft_status read_counters(uint64_t *value, const job *j, const blocks *b,
                               ft_error *err)
{
    uint64_t at;
    size_t size;
    ft_status st =
        cuda_check(j->c, j->c->global_get(&at, &size, j->module, "foretell_counters"),
                   "the counters are not there", err);

    return st ? st
              : cuda_check(j->c,
                           j->c->from_device(value, at, sizeof(*value) * b->per * b->n),
                           "the counters are not read", err);
}

static ft_status run_counters(uint64_t *value, const cuda *c, const launch *l,
                              const blocks *b, ft_error *err)
{
    job j;
    ft_status st = job_open(&j, c, l, b->text, err);

    if (st)
        return st;
    st = job_launch(&j, err);
    st = st ? st : job_wait(&j, err);
    st = st ? st : read_counters(value, &j, b, err);
    job_close(&j);
    return st;
}

ft_status job_count_blocks(json_t *out, const cuda *c, const launch *l, ft_error *err)
{
    ft_ptx *m = NULL;
    blocks b = {0};
    uint64_t *value = NULL;
    ft_status st = ft__ptx_open(&m, l->module, err);

    st = st ? st : blocks_insert(&b, m, err);
    if (!st && !(value = calloc((size_t)b.n * b.per + 1, sizeof(*value))))
        st = ft_fail(err, FT_ENOMEM, 0, "counters");
    st = st ? st : run_counters(value, c, l, &b, err);
    if (!st) {
        add_counts(out, &b, value);
        add_agreement(out, &b, value, m, l);
    }
    free(value);
    blocks_free(&b);
    ft__ptx_free(m);
    return st;
}
