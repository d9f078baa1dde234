/* Modules by what they were made from: out of the cache, or compiled there by a Python
 * process that has TVM. It is started once and asked one line at a time; what makes it
 * end costs one module. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tvm.h"

/* The program: networks, what operations compute, how it is scheduled, the loop. */
static const unsigned char script[] = {
#include "networks.inc"
    ,
#include "kinds.inc"
    ,
#include "schedules.inc"
    ,
#include "compile.inc"
    , 0};

/* Its beginning, on which no module of a single operation depends. */
enum {
    OF_NETWORKS = sizeof((const unsigned char[]){
#include "networks.inc"
    })
};

extern char **environ;

/* The longest that one module may take: tuning a network. */
enum { ANSWER_WAIT_MS = 3600 * 1000 };

struct ft__compiler {
    pid_t pid;
    int line; /* both ways */
};

uint64_t ft__hash(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

/* What a module for "host" depends on: the first processor's names and features. */
static uint64_t hash_processor(uint64_t h)
{
    static const char *const fields[] = {"model name", "flags", "Features", "CPU part"};
    char line[8192];
    FILE *f = fopen("/proc/cpuinfo", "rb");

    while (f && fgets(line, sizeof(line), f) && line[0] != '\n')
        for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
            if (strncmp(line, fields[i], strlen(fields[i])) == 0)
                h = ft__hash(h, line, strlen(line));
    if (f)
        fclose(f);
    return h;
}

uint32_t ft__tvm_program(void)
{
    return (uint32_t)ft__hash(FT__HASH_BEGIN, script + OF_NETWORKS,
                              sizeof(script) - OF_NETWORKS - 1);
}

/* Named by all that makes it: the program, TVM, what is asked for. */
static ft_status name_module(const ft_engine_context *c, char path[FT__TVM_PATH],
                             const ft__request *r, ft_error *err)
{
    const char *const parts[] = {ft__tvm_version(),
                                 r->verb,
                                 c->target,
                                 c->schedule,
                                 c->threads > 1 ? "shared" : "",
                                 r->id,
                                 r->operands};
    const size_t from = strcmp(r->verb, "op") == 0 ? OF_NETWORKS : 0;
    uint64_t h[] = {FT__HASH_BEGIN, 0x9e3779b97f4a7c15u};

    for (int i = 0; i < 2; i++) {
        h[i] = ft__hash(h[i], script + from, sizeof(script) - from);
        if (strcmp(c->target, "host") == 0)
            h[i] = hash_processor(h[i]);
        for (size_t k = 0; k < sizeof(parts) / sizeof(*parts); k++)
            h[i] = ft__hash(h[i], parts[k], strlen(parts[k]) + 1);
    }
    if ((size_t)snprintf(path, FT__TVM_PATH, "%s/%016llx%016llx.so", c->cache,
                         (unsigned long long)h[0],
                         (unsigned long long)h[1]) >= FT__TVM_PATH)
        return ft_fail(err, FT_EINVAL, 0, "tvm: cache=%.200s...: too long", c->cache);
    return FT_OK;
}

/* The Python of the environment that holds the library ("ENV/lib/python3.11/
 * site-packages/tvm/lib/..."), else that of the path, which gets the package's folder.
 */
static void find_python(const ft_engine_context *c, char python[FT__TVM_PATH],
                        char packages[FT__TVM_PATH])
{
    const char *at = c->lib + strlen(c->lib);
    size_t len;

    for (int slashes = 0; at > c->lib && slashes < 3; at--)
        slashes += at[-1] == '/';
    len = (size_t)(at - c->lib);
    snprintf(packages, FT__TVM_PATH, "%.*s", (int)len, c->lib);
    snprintf(python, FT__TVM_PATH, "%.4000s/../../../bin/python3", packages);
    if (*c->python)
        snprintf(python, FT__TVM_PATH, "%s", c->python);
    else if (!len || access(python, X_OK))
        snprintf(python, FT__TVM_PATH, "python3");
}

/* The environment with the packages' folder in front; NULL: out of memory. */
static char **environment(char setting[FT__TVM_PATH + 16])
{
    size_t n = 0;
    char **all;

    while (environ[n])
        n++;
    all = malloc((n + 2) * sizeof(*all));
    if (!all)
        return NULL;
    all[0] = setting;
    for (size_t i = 0, k = 1; i <= n; i++) {
        all[k] = environ[i];
        k += environ[i] && strncmp(environ[i], "PYTHONPATH=", 11) != 0;
    }
    return all;
}

static int spawn_python(pid_t *pid, char *python, char **env, int line)
{
    char option[] = "-c";
    char *argv[] = {python, option, (char *)(uintptr_t)script, NULL};
    posix_spawn_file_actions_t files;
    int rc = posix_spawn_file_actions_init(&files);

    if (rc)
        return rc;
    rc = posix_spawn_file_actions_adddup2(&files, line, 0);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(&files, line, 1);
    if (!rc)
        rc = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    if (!rc)
        rc = posix_spawnp(pid, python, &files, NULL, argv, env);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

static ft_status start(ft_engine_context *c, ft_error *err)
{
    char python[FT__TVM_PATH], packages[FT__TVM_PATH], setting[FT__TVM_PATH + 16];
    ft__compiler *p = calloc(1, sizeof(*p));
    char **env;
    int pair[2], rc;

    find_python(c, python, packages);
    snprintf(setting, sizeof(setting), "PYTHONPATH=%s", packages);
    env = environment(setting);
    if (!p || !env || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        free(p);
        free(env);
        return ft_fail(err, FT_ENOMEM, 0, "tvm: no memory to start a compiler");
    }
    rc = spawn_python(&p->pid, python, env, pair[1]);
    close(pair[1]);
    free(env);
    if (rc) {
        close(pair[0]);
        free(p);
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "tvm: the module is not in %s, and %s, which would compile it, "
                       "does not start: %s",
                       c->cache, python, strerror(rc));
    }
    p->line = pair[0];
    c->compiler = p;
    return FT_OK;
}

void ft__compiler_stop(ft__compiler *p)
{
    if (!p)
        return;
    close(p->line);
    kill(p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
    free(p);
}

static bool put(int to, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t k = send(to, text, n, MSG_NOSIGNAL);

        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        text += k;
        n -= (size_t)k;
    }
    return true;
}

/* A line, its newline cut off; false: none came. */
static bool get_line(int from, char *out, size_t size)
{
    struct pollfd p = {.fd = from, .events = POLLIN};
    size_t n = 0;

    while (n + 1 < size) {
        ssize_t k;
        int ready = poll(&p, 1, ANSWER_WAIT_MS);

        if (ready < 0 && errno == EINTR)
            continue;
        k = ready > 0 ? read(from, out + n, 1) : 0;
        if (k <= 0)
            return false;
        if (out[n] == '\n')
            break;
        n++;
    }
    out[n] = '\0';
    return true;
}

void ft__put_operand(char *text, size_t size, const char *role, const ft_shape *s,
                     ft_dtype t)
{
    size_t n = strlen(text);

    n += (size_t)snprintf(text + n, size - n, "\t%s %s %s", role, ft_dtype_name(t),
                          s->rank ? "" : "-");
    for (uint32_t d = 0; d < s->rank && n < size; d++)
        n += (size_t)snprintf(text + n, size - n, "%s%lld", d ? "x" : "",
                              (long long)s->dim[d]);
}

static ft_status understand(const char *answer, const char *what, ft_error *err)
{
    if (strcmp(answer, "ok") == 0)
        return FT_OK;
    if (strncmp(answer, "refused ", 8) == 0)
        return ft_fail(err, FT_EUNSUPPORTED, 0, "tvm: %s is not run: %s", what,
                       answer + 8);
    return ft_fail(err, FT_EUNSUPPORTED, 0, "tvm: %s is not compiled: %s", what,
                   strchr(answer, ' ') ? strchr(answer, ' ') + 1 : answer);
}

static ft_status ask(ft_engine_context *c, const char *request, const char *what,
                     ft_error *err)
{
    char answer[600];
    ft_status st = c->compiler ? FT_OK : start(c, err);

    if (st)
        return st;
    if (put(c->compiler->line, request, strlen(request)) &&
        get_line(c->compiler->line, answer, sizeof(answer)))
        return understand(answer, what, err);
    ft__compiler_stop(c->compiler);
    c->compiler = NULL;
    return ft_fail(err, FT_EUNSUPPORTED, 0,
                   "tvm: %s: the compiler ended without an answer; is apache-tvm "
                   "whole, with Python and its packages?",
                   what);
}

ft_status ft__tvm_compile(ft_engine_context *c, char path[FT__TVM_PATH],
                          const ft__request *r, ft_error *err)
{
    const size_t size = strlen(r->subject) + strlen(r->operands) + FT__TVM_PATH + 512;
    ft_status st = name_module(c, path, r, err);
    char *text;

    if (st || access(path, R_OK) == 0)
        return st;
    text = malloc(size);
    if (!text)
        return ft__no_memory(err);
    snprintf(text, size, "%s\t%s\t%s\t%s\t%d\t%s%s\n", r->verb, path, c->target,
             c->schedule, c->threads > 1, r->subject, r->operands);
    st = ask(c, text, r->what, err);
    free(text);
    return st;
}
