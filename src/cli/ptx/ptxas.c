/* Registers, spills and shared memory of kernels, as ptxas -v reports them. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ptx/ptx.h"
#include "foretell/command.h"
#include "report/record.h"

enum ran {
    RAN_GOOD,
    RAN_REFUSED, /* its exit code is not 0 */
    RAN_LATE,
    RAN_NOT, /* it cannot be run, or prints too much */
};

enum { MOST_BYTES = 8 << 20 };

/* *out is what it prints, or why it does not run, for the caller to free; `in` is what
 * stands on its standard input. */
static enum ran run_program(char **out, const char *const argv[], const char *in,
                            size_t len, double limit_s)
{
    char path[32];
    const ft_command command = {.argv = argv};
    const ft_command_options o = {.min_runs = 1,
                                  .max_runs = 1,
                                  .timeout_s = limit_s,
                                  .input = path,
                                  .keep_output = MOST_BYTES,
                                  .most_output = MOST_BYTES,
                                  .ignore_failure = 1,
                                  .no_idle = 1};
    ft_command_result *r = NULL;
    ft_error err = {.msg = "no temporary file"};
    FILE *fp = tmpfile();
    enum ran ran = RAN_NOT;

    if (fp && fwrite(in, 1, len, fp) == len && fflush(fp) == 0 &&
        fcntl(fileno(fp), F_SETFD, FD_CLOEXEC) == 0) {
        snprintf(path, sizeof(path), "/dev/fd/%d", fileno(fp));
        (void)ft_measure_commands(&r, &command, 1, &o, &err);
    }
    if (fp)
        fclose(fp);
    if (r)
        ran = r->run->timed_out                     ? RAN_LATE
              : r->run->exit_code || r->run->signal ? RAN_REFUSED
                                                    : RAN_GOOD;
    *out = strdup(r ? r->output : err.msg);
    ft_command_results_free(r, 1);
    return *out ? ran : RAN_NOT;
}

struct ptxas_kernel {
    const ft_ptx *module;
    const char *path, *name; /* the module's file; the kernel */
    bool asked, known;
    ft__ptxas_entry entry;
};

struct ft__ptxas {
    ft__cli *c;
    char program[FT__PATH_MAX];  /* "": there is none */
    int capability;              /* of the GPU, times 10; 0: it has none */
    double limit_s, left_s;      /* of all modules together */
    struct ptxas_kernel *kernel; /* in order */
    size_t n;
};

/* The first on PATH that can be executed. */
static void find_program(char *out)
{
    const char *at = getenv("PATH");
    struct stat s;

    for (; at && *at; at += *at == ':') {
        size_t len = strcspn(at, ":");
        int n = snprintf(out, FT__PATH_MAX, "%.*s/ptxas", (int)len, at);

        at += len;
        if (len && n < FT__PATH_MAX && stat(out, &s) == 0 && S_ISREG(s.st_mode) &&
            access(out, X_OK) == 0)
            return;
    }
    out[0] = '\0';
}

static int order(const void *a, const void *b)
{
    const struct ptxas_kernel *x = a, *y = b;

    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* NULL: out of memory. */
static ft__ptxas *new_ptxas(ft__cli *c, const ft_ptx_listed *v, size_t n,
                            double capability, double limit_s)
{
    ft__ptxas *p = calloc(1, sizeof(*p));
    size_t kept = 0;

    if (p)
        p->kernel = calloc(n + 1, sizeof(*p->kernel));
    if (!p || !p->kernel) {
        free(p);
        return NULL;
    }
    p->c = c;
    p->capability = capability > 0 ? (int)(capability * 10 + 0.5) : 0;
    p->limit_s = p->left_s = limit_s;
    find_program(p->program);
    for (size_t i = 0; i < n; i++)
        if (v[i].module && v[i].same == i)
            p->kernel[p->n++] = (struct ptxas_kernel){
                .module = v[i].module, .path = v[i].path, .name = v[i].kernel->name};
    qsort(p->kernel, p->n, sizeof(*p->kernel), order);
    for (size_t i = 0; i < p->n; i++)
        if (!i || order(&p->kernel[kept - 1], &p->kernel[i]) != 0)
            p->kernel[kept++] = p->kernel[i];
    p->n = kept;
    return p;
}

/* Of ptxas, for all kernels together. */
static const double LIMIT_S = 30;

int ft__ptxas_open(ft__cli *c, ft__ptxas **out, const ft_device *d,
                   const ft_ptx_listed *v, size_t n, const ft__ptx_options *o)
{
    *out = NULL;
    if (!d || o->registers || o->no_ptxas)
        return FT__EXIT_GOOD;
    *out = new_ptxas(c, v, n, ft_device_get(d)->compute_capability,
                     o->ptxas_s > 0 ? o->ptxas_s : LIMIT_S);
    return *out ? FT__EXIT_GOOD : ft__cli_done(c, false);
}

void ft__ptxas_free(ft__ptxas *p)
{
    if (p)
        free(p->kernel);
    free(p);
}

bool ft__ptxas_found(const ft__ptxas *p)
{
    return p->program[0] != '\0';
}

FT_PRINTF(2, 3)
static void note(const ft__ptxas *p, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    if (!p->c->log.message)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    p->c->log.message(p->c->log.user, FT_LOG_WARN, text);
}

/* The number in front of `unit` in a line, such as " registers"; 0: there is none. */
static uint64_t amount(const char *line, const char *unit)
{
    const char *at = strstr(line, unit);
    uint64_t n = 0, digit = 1;

    for (; at && at > line && at[-1] >= '0' && at[-1] <= '9' && digit < UINT64_MAX / 10;
         digit *= 10)
        n += digit * (uint64_t)(*--at - '0');
    return n;
}

static struct ptxas_kernel *named(struct ptxas_kernel *k, size_t n, const char *name,
                                  size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(k[i].name) == len && memcmp(k[i].name, name, len) == 0)
            return &k[i];
    return NULL;
}

/* "... entry function 'NAME' for 'sm_80'" begins a kernel; functions that it calls have
 * properties of their own, which come after those of the kernel. */
static struct ptxas_kernel *begin(struct ptxas_kernel *k, size_t n, const char *quoted)
{
    size_t len = strcspn(quoted, "'");
    struct ptxas_kernel *of = named(k, n, quoted, len);
    const char *arch = quoted[len] ? strchr(quoted + len + 1, '\'') : NULL;

    if (of && arch) /* it goes into what is printed */
        snprintf(of->entry.arch, sizeof(of->entry.arch), "%.*s",
                 (int)strspn(arch + 1, "_abcdefghijklmnopqrstuvwxyz0123456789"),
                 arch + 1);
    return of;
}

/* "72 registers, used 1 barriers, 512 bytes smem" */
static void use(struct ptxas_kernel *of, const char *line)
{
    uint64_t registers = amount(line, " registers");

    if (*line < '0' || *line > '9' || !registers || registers > 255)
        return;
    of->known = of->entry.arch[0] != '\0';
    of->entry.registers = (uint32_t)registers;
    of->entry.shared_bytes = amount(line, " bytes smem");
}

static void read_line(struct ptxas_kernel **of, bool *own, struct ptxas_kernel *k,
                      size_t n, const char *line)
{
    static const char entry[] = "Compiling entry function '",
                      about[] = "Function properties for ", used[] = ": Used ";
    const char *at;

    if ((at = strstr(line, entry))) {
        *of = begin(k, n, at + sizeof(entry) - 1);
        *own = false;
    } else if (*of && (at = strstr(line, about))) {
        *own = strcmp(at + sizeof(about) - 1, (*of)->name) == 0;
    } else if (*of && *own && strstr(line, " bytes stack frame")) {
        (*of)->entry.stack_bytes = amount(line, " bytes stack frame");
        (*of)->entry.spill_stores = amount(line, " bytes spill stores");
        (*of)->entry.spill_loads = amount(line, " bytes spill loads");
    } else if (*of && (at = strstr(line, used))) {
        use(*of, at + sizeof(used) - 1);
    }
}

/* Cuts the text into lines. */
static void read_report(struct ptxas_kernel *k, size_t n, char *text)
{
    struct ptxas_kernel *of = NULL;
    bool own = false;

    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        read_line(&of, &own, k, n, line);
    }
}

/* "error   :" or "fatal   :" in a line, not a name that has the word; NULL: neither. */
static char *complains(char *line)
{
    static const char *const words[] = {"error", "fatal"};

    for (size_t w = 0; w < 2; w++)
        for (char *at = line; (at = strstr(at, words[w])); at++)
            if (at[5 + strspn(at + 5, " ")] == ':')
                return at;
    return NULL;
}

/* The first line that complains, or the first: "line 12; Unknown symbol 'x'", without
 * the program, its standard input, and the word error. Cuts the text into lines. */
static const char *complaint(char *text)
{
    static const char input[] = "/dev/stdin, ";
    char *from = text, *at = NULL;

    for (char *line = text, *next; line && !at; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        at = complains(line);
        from = at ? line : from;
    }
    if (at) {
        const char *rest = at + strlen("error"); /* as long as fatal */

        rest += strspn(rest, " :");
        memmove(at, rest, strlen(rest) + 1);
    }
    if (strncmp(from, "ptxas ", 6) == 0)
        from += 6;
    if (strncmp(from, input, sizeof(input) - 1) == 0)
        from += sizeof(input) - 1;
    return *from ? from : "it does not say why";
}

enum {
    MOST_NAMED = 64, /* kernels by name; of more, all of the module are assembled */
    MOST_OF_NAMES = 1 << 16, /* of one argument: systems take 128 KiB at most */
};

/* "a,b,c" for --entry, for the caller to free; NULL: all. */
static char *names_of(const struct ptxas_kernel *k, size_t n)
{
    size_t len = 1;
    char *all;

    for (size_t i = 0; i < n; i++)
        len += strlen(k[i].name) + 1;
    all = n <= MOST_NAMED && len <= MOST_OF_NAMES ? malloc(len) : NULL;
    if (all)
        *all = '\0';
    for (size_t i = 0, at = 0; all && i < n; i++)
        at += (size_t)snprintf(all + at, len - at, "%s%s", i ? "," : "", k[i].name);
    return all;
}

static enum ran assemble(ft__ptxas *p, char **out, const struct ptxas_kernel *k,
                         size_t n, const char *arch)
{
    char option[32];
    char *names = names_of(k, n);
    const char *argv[9] = {p->program, "-v", option, "-o", "/dev/null"};
    const double began_s = ft__monotonic_s();
    const ft_ptx_facts *module = ft_ptx_get(k->module);
    size_t at = 5;
    enum ran ran;

    snprintf(option, sizeof(option), "-arch=%s", arch);
    if (names) {
        argv[at++] = "-e";
        argv[at++] = names;
    }
    argv[at] = "/dev/stdin";
    ran = run_program(out, argv, module->text, module->len, p->left_s);
    p->left_s -= ft__monotonic_s() - began_s;
    free(names);
    return ran;
}

static void explain(const ft__ptxas *p, const struct ptxas_kernel *k, enum ran ran,
                    const char *arch, char *text)
{
    const char *file = ft__path_name(k->path);

    switch (ran) {
    case RAN_GOOD:
        if (!k->known)
            note(p,
                 "ptxas says nothing of %s in %s; its registers are estimated from "
                 "the PTX",
                 k->name, file);
        break;
    case RAN_REFUSED:
        note(p, "ptxas refuses %s for %s: %s; registers are estimated from the PTX",
             file, arch, complaint(text));
        break;
    case RAN_LATE:
        note(p,
             "ptxas is not through with %s after %g s in all (--ptxas-time): what it "
             "has not said of registers is estimated from the PTX",
             file, p->limit_s);
        break;
    case RAN_NOT:
        note(p, "%s; registers of %s are estimated from the PTX",
             text ? text : "ptxas: out of memory", file);
        break;
    }
}

/* "sm_90a" of ".target sm_90a, debug" or "compute_90a"; the number, 0 where a suffix
 * ties it to that generation. */
static long target_of(char *out, size_t size, const ft_ptx *m)
{
    const char *target = ft_ptx_get(m)->target, *digits = strchr(target, '_');
    char *end = out;
    long number;

    snprintf(out, size, "sm%.*s", digits ? (int)strcspn(digits, ", ") : 0,
             digits ? digits : "");
    number = digits ? strtol(out + 3, &end, 10) : 0;
    return *end ? 0 : number;
}

/* For the GPU; where ptxas or the PTX does not go there, for what the PTX names. */
static void ask_module(ft__ptxas *p, struct ptxas_kernel *k, size_t n)
{
    char target[16], device[16], *text = NULL;
    const long own = target_of(target, sizeof(target), k->module);
    const char *arch = target;
    enum ran ran = RAN_REFUSED;

    snprintf(device, sizeof(device), "sm_%d", p->capability);
    if (own && own < p->capability) {
        ran = assemble(p, &text, k, n, arch = device);
        if (ran == RAN_REFUSED) {
            free(text);
            text = NULL;
            arch = target;
        }
    }
    if (arch == target)
        ran = assemble(p, &text, k, n, arch);
    if (ran == RAN_GOOD)
        read_report(k, n, text);
    else
        explain(p, k, ran, arch, text);
    for (size_t i = 0; i < n && ran == RAN_GOOD; i++)
        explain(p, &k[i], ran, arch, NULL);
    free(text);
}

const ft__ptxas_entry *ft__ptxas_ask(ft__ptxas *p, const ft_ptx_listed *launch)
{
    const struct ptxas_kernel wanted = {.module = launch->module,
                                        .name = launch->kernel->name};
    struct ptxas_kernel *k =
        bsearch(&wanted, p->kernel, p->n, sizeof(*p->kernel), order);

    if (!k || !ft__ptxas_found(p))
        return NULL;
    if (!k->asked && p->left_s > 0) {
        size_t first = (size_t)(k - p->kernel), end = first;

        while (first && p->kernel[first - 1].module == k->module)
            first--;
        while (end < p->n && p->kernel[end].module == k->module)
            p->kernel[end++].asked = true;
        for (size_t i = first; i < end; i++)
            p->kernel[i].asked = true;
        ask_module(p, &p->kernel[first], end - first);
    }
    return k->known ? &k->entry : NULL;
}

json_t *ft__ptxas_json(const ft__ptxas_entry *e)
{
    return e ? ft__json("arch:s registers:n stack_bytes:u spill_stores:u spill_loads:u "
                        "shared_bytes:u",
                        e->arch, e->registers, e->stack_bytes, e->spill_stores,
                        e->spill_loads, e->shared_bytes)
             : json_null();
}
