/* Models by their content. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "import/graph_inside.h"
#include "import/llm/llm.h"
#include "import/onnx/onnx.h"

/* A file's bytes: mapped, or read where it cannot be mapped (a pipe). */
struct content {
    uint8_t *p;
    size_t n;
    bool mapped;
};

/* What has no suffix is taken for a name: "resnet50", "meta-llama/Llama-3.1-8B". */
static bool is_name(const char *path)
{
    const char *dot = strrchr(path, '.');

    return !dot || strchr(dot, '/') || !isalpha((unsigned char)dot[1]);
}

static ft_status system_error(const char *path, ft_error *err)
{
    const int no = errno;

    return ft_fail(err, FT_EIO, 0, "%s: %s%s", path, strerror(no),
                   no == ENOENT && is_name(path)
                       ? "; a model is a file (ONNX, .pt2, GGUF, config.json, a list "
                         "of operations) or a folder with config.json; ids of "
                         "Hugging Face are for the Python package"
                       : "");
}

enum { READ_AT_ONCE = 65536 }; /* smaller files are not worth a mapping */

static ft_status read_all(struct content *c, int fd, const char *path, ft_error *err)
{
    size_t cap = 0;
    ssize_t got = 1;

    while (got > 0) {
        if (c->n > FT__MAX_PIPED)
            return ft_fail(err, FT_EFORMAT, 0,
                           "%s: no large file, and more than 1 GiB came out of it",
                           path);
        if (c->n == cap) {
            uint8_t *p = realloc(c->p, cap = cap ? cap * 2 : READ_AT_ONCE);

            if (!p)
                return ft_fail(err, FT_ENOMEM, 0, "%s", path);
            c->p = p;
        }
        got = read(fd, c->p + c->n, cap - c->n);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            c->n += (size_t)got;
    }
    return got < 0 ? system_error(path, err) : FT_OK;
}

static ft_status open_content(struct content *c, const char *path, ft_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    ft_status status = FT_OK;
    void *p;

    if (fd < 0 || fstat(fd, &st)) {
        status = system_error(path, err);
    } else if (S_ISDIR(st.st_mode)) {
        status = ft_fail(err, FT_EIO, 0,
                         "%s: a folder without config.json, not a model", path);
    } else if (!S_ISREG(st.st_mode) || st.st_size < READ_AT_ONCE) {
        status = read_all(c, fd, path, err);
        if (!status && c->n == 0 && S_ISFIFO(st.st_mode))
            status = ft_fail(err, FT_EFORMAT, 0,
                             "%s: nothing comes out of it; where a model is read more "
                             "than once it is a file, no pipe",
                             path);
    } else {
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED) {
            status = system_error(path, err);
        } else {
            *c = (struct content){p, (size_t)st.st_size, true};
            /* Weights are jumped over: reading ahead would bring them in. */
            posix_madvise(p, c->n, POSIX_MADV_RANDOM);
        }
    }
    if (fd >= 0)
        close(fd);
    return status;
}

static void close_content(struct content *c)
{
    if (c->mapped)
        munmap(c->p, c->n);
    else
        free(c->p);
}

/* Text has no control characters; an ONNX file has lengths and tags, one of
 * them among its first bytes. */
static bool is_text(const struct content *c)
{
    for (size_t i = 0; i < c->n && i < 512; i++)
        if (c->p[i] == 0x7f || (c->p[i] < ' ' && !memchr("\t\n\r", c->p[i], 3)))
            return false;
    return true;
}

static bool is_gguf(const struct content *c)
{
    return c->n >= 4 && memcmp(c->p, "GGUF", 4) == 0;
}

int ft_is_language_model(const void *begin, size_t n)
{
    const struct content c = {.p = (uint8_t *)(uintptr_t)begin, .n = n};
    size_t i = 0;

    while (i < n && strchr("\xef\xbb\xbf \t\r\n", c.p[i]) && c.p[i])
        i++;
    return is_gguf(&c) || (i < n && c.p[i] == '{');
}

static ft_status import_list(ft_graph **out, const struct content *c, const char *name,
                             const ft_import_options *opt, ft_error *err)
{
    if (opt && (opt->batch || opt->n_dims || opt->n_inputs))
        return ft_fail(err, FT_EINVAL, 0,
                       "%s: a list of operations has its sizes in its lines: --batch, "
                       "--dim and --input do not apply",
                       name);
    return ft_import_ops(out, (const char *)c->p, c->n, name, err);
}

/* A file in the folder of a config.json, whose name is `before` and `name` in place of
 * config.json; it may be missing. */
static void open_beside(struct content *out, const char *config, size_t before,
                        const char *name)
{
    char path[4096];
    const int n = snprintf(path, sizeof(path), "%.*s%s", (int)before, config, name);

    if (n > 0 && (size_t)n < sizeof(path) && open_content(out, path, NULL))
        out->n = 0;
}

/* A file and its folder: those above may be anyone's. */
static const char *last_two(const char *path)
{
    const char *at = path + strlen(path);

    for (int slashes = 0; at > path && (slashes += at[-1] == '/') < 2;)
        at--;
    return at;
}

static size_t word_length(const char *s)
{
    size_t n = 0;

    while (isalnum((unsigned char)s[n]))
        n++;
    return n;
}

/* The type that the path of a checkpoint has of weights, where its configuration has
 * none of any part: NVIDIA publishes some without quantization_config. */
static const char *named_type(const ft__llm *m, const char *path)
{
    static const char *const words[] = {"nvfp4", "fp4", "fp8", "int4", "awq", "gptq"};

    for (int part = 0; part < FT__LLM_PARTS; part++)
        if (m->quant[part].weights != FT_DTYPE_NONE)
            return NULL;
    path = last_two(path);
    for (size_t n; *path; path += n ? n : 1) {
        n = word_length(path);
        for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
            if (n == strlen(words[i]) && strncasecmp(path, words[i], n) == 0)
                return words[i];
    }
    return NULL;
}

/* A language model, and what stands beside its configuration. */
static ft_status read_llm(ft__llm *out, const struct content *c, const char *path,
                          const char *name, ft_error *err)
{
    static const char last[] = "config.json";
    const size_t n = strlen(path), own = sizeof(last) - 1;
    struct content quant = {0}, index = {0};
    ft__llm_beside beside;
    ft_status st;

    if (is_gguf(c))
        return ft__llm_read_gguf(out, c->p, c->n, name, err);
    if (n >= own && n < 4096 && strcmp(path + n - own, last) == 0) {
        open_beside(&quant, path, n - own, "hf_quant_config.json");
        open_beside(&index, path, n - own, "model.safetensors.index.json");
    }
    beside = (ft__llm_beside){(const char *)quant.p, quant.n, (const char *)index.p,
                              index.n};
    st = ft__llm_read(out, (const char *)c->p, c->n, &beside, name, err);
    out->named_type = named_type(out, path);
    close_content(&quant);
    close_content(&index);
    return st;
}

/* Of a folder with a language model, as Hugging Face has them, its configuration. */
static const char *file_of(char *buf, size_t cap, const char *path)
{
    struct stat st;
    const int n = snprintf(buf, cap, "%s/config.json", path);

    return n > 0 && (size_t)n < cap && stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
                   access(buf, R_OK) == 0
               ? buf
               : path;
}

/* Of a file, or of a folder with a language model; close_content() in any case. */
static ft_status open_model(struct content *c, char *buf, size_t cap, const char **path,
                            ft_error *err)
{
    const char *name = ft__base_name(*path);
    ft_status st;

    *c = (struct content){0};
    *path = file_of(buf, cap, *path);
    st = open_content(c, *path, err);
    return !st && c->n == 0 ? ft_fail(err, FT_EFORMAT, 0, "%s: the file is empty", name)
                            : st;
}

ft_status ft__import_read_llm(ft__llm *out, const char *path, ft_error *err)
{
    const char *name = ft__base_name(path);
    char inside[4096];
    struct content c;
    ft_status st = open_model(&c, inside, sizeof(inside), &path, err);

    if (!st && ft_is_language_model(c.p, c.n))
        st = read_llm(out, &c, path, name, err);
    close_content(&c);
    return st;
}

/* What is read is too large for the stacks that some threads have. */
static ft_status import_llm(ft_graph **out, const struct content *c, const char *path,
                            const char *name, const ft_import_options *opt,
                            ft_error *err)
{
    ft__llm *m = malloc(sizeof(*m));
    ft_status st =
        m ? read_llm(m, c, path, name, err) : ft_fail(err, FT_ENOMEM, 0, "%s", name);

    if (!st)
        st = ft__llm_step_of(out, m, name, opt, err);
    free(m);
    return st;
}

ft_status ft__import_file(ft_graph **out, const char *path,
                          const ft_import_options *opt, ft_error *err)
{
    const char *name = ft__base_name(path);
    char inside[4096];
    struct content c;
    ft_status st = open_model(&c, inside, sizeof(inside), &path, err);

    *out = NULL;
    if (!st && c.n >= 4 && memcmp(c.p, "PK\3\4", 4) == 0) {
        st = ft__import_pt2(out, c.p, c.n, name, opt, err);
    } else if (!st && ft_is_language_model(c.p, c.n)) {
        st = import_llm(out, &c, path, name, opt, err);
    } else if (!st && is_text(&c)) {
        st = import_list(out, &c, name, opt, err);
    } else if (!st) {
        st = ft__import_onnx(out, c.p, c.n, c.mapped, name, opt, err);
    }
    close_content(&c);
    return st;
}
