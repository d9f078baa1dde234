/* The way out of commands, and engines as they are named. */
#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static int exit_code(ft_status st)
{
    switch (st) {
    case FT_OK: return FT__EXIT_GOOD;
    case FT_ENEEDED: return FT__EXIT_USAGE;
    case FT_EIO:
    case FT_EFORMAT: return FT__EXIT_INPUT;
    case FT_EUNSUPPORTED:
    case FT_ENOTFOUND:
    case FT_EBACKEND: return FT__EXIT_MISSING;
    case FT_ENOMEM:
    case FT_EINVAL: break;
    }
    return FT__EXIT_BUG;
}

/* A line may be followed by commands to type, each on a line of its own. */
static void put_message(const char *msg)
{
    static const char command[] = "\n  foretell ";
    char line[sizeof(((ft_error *)0)->msg)];
    const char *end;

    while ((end = strstr(msg, command))) {
        snprintf(line, sizeof(line), "%.*s", (int)(end - msg), msg);
        ft__put_clean(stderr, line);
        fputs("\n", stderr);
        msg = end + 1;
    }
    ft__put_clean(stderr, msg);
}

int ft__cli_fail(ft__cli *c, ft_status st, const ft_error *err)
{
    ft__bar_clear(&c->bar);
    fprintf(stderr, "foretell %s: ", c->command->name);
    put_message(err->msg);
    if (st == FT_EINVAL)
        fputs(" (a bug in foretell: please report it)", stderr);
    if (st == FT_ENOMEM)
        fputs(": out of memory", stderr);
    fputc('\n', stderr);
    return exit_code(st);
}

int ft__cli_check(ft__cli *c, ft_status st)
{
    return st ? ft__cli_fail(c, st, &c->err) : FT__EXIT_GOOD;
}

int ft__cli_check_asked(ft__cli *c, ft_status st)
{
    return st == FT_EINVAL ? ft__usage(c, "%s", c->err.msg) : ft__cli_check(c, st);
}

static void complain(ft__cli *c, const char *fmt, va_list ap)
{
    ft__bar_clear(&c->bar);
    fprintf(stderr, "foretell %s: ", c->command->name);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
}

int ft__cli_exit(ft__cli *c, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    complain(c, fmt, ap);
    va_end(ap);
    return code;
}

int ft__usage(ft__cli *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    complain(c, fmt, ap);
    va_end(ap);
    return FT__EXIT_USAGE;
}

int ft__cli_done(ft__cli *c, bool printed)
{
    if (!printed)
        return ft__cli_exit(c, FT__EXIT_BUG, "out of memory");
    if (fflush(stdout) || ferror(stdout))
        return ft__cli_exit(c, FT__EXIT_INPUT, "cannot write the result: %s",
                            strerror(errno));
    return FT__EXIT_GOOD;
}

/* ---- engines: the libraries below them may come as Python packages. Engines read no
 * environment: the command looks for the library and passes its path as an option. ----
 */

static const struct library {
    const char *engine;
    const char *variable; /* names the file, or the package's folder */
    const char *package;
    const char *file; /* within the package */
} libraries[] = {
    {"onnxruntime", "FORETELL_ONNXRUNTIME", "onnxruntime", "capi/libonnxruntime.so*"},
    {"torch", "FORETELL_TORCH", "torch", "lib/libtorch_cpu.so"},
};

/* The first line a program prints; "" where there is none. */
static void first_line(char *out, const char *command)
{
    FILE *fp = popen(command, "r");

    out[0] = '\0';
    if (!fp)
        return;
    if (!fgets(out, FT__PATH_MAX, fp))
        out[0] = '\0';
    pclose(fp);
    out[strcspn(out, "\n")] = '\0';
}

/* The package's folder; the package itself is not imported. */
static void ask_python(char *out, const char *package)
{
    char command[256];

    snprintf(command, sizeof(command),
             "python3 -c 'import importlib.util as u; s = u.find_spec(\"%s\"); "
             "print(s.submodule_search_locations[0] if s else \"\")' 2>/dev/null",
             package);
    first_line(out, command);
}

static bool file_in(char *out, const char *folder, const char *pattern)
{
    char path[FT__PATH_MAX + 64];
    glob_t found;
    bool good;

    snprintf(path, sizeof(path), "%s/%s", folder, pattern);
    good = glob(path, 0, NULL, &found) == 0;
    if (good) {
        snprintf(out, FT__PATH_MAX, "%s", found.gl_pathv[0]);
        globfree(&found);
    }
    return good;
}

/* The library's file; "" leaves it to the system. */
static void find_library(char *out, const struct library *l)
{
    const char *given = getenv(l->variable);
    char folder[FT__PATH_MAX];

    out[0] = '\0';
    if (given && *given) {
        if (!file_in(out, given, l->file))
            snprintf(out, FT__PATH_MAX, "%s", given);
        return;
    }
    ask_python(folder, l->package);
    if (*folder)
        file_in(out, folder, l->file);
}

bool ft__engine_choose(ft__engine_choice *out, const char *text)
{
    size_t len = strcspn(text, ",");
    const char *own = text + len + (text[len] == ',');
    char path[FT__PATH_MAX] = "";

    out->given = *own != '\0';
    if ((size_t)snprintf(out->name, sizeof(out->name), "%.*s", (int)len, text) != len)
        return false;
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
        if (strcmp(out->name, libraries[i].engine) == 0 && !strstr(own, "lib="))
            find_library(path, &libraries[i]);
    return (size_t)snprintf(out->options, sizeof(out->options), "%s%s%s%s",
                            *path ? "lib=" : "", path, *path && *own ? "," : "",
                            own) < sizeof(out->options);
}

/* What runs on a GPU is the GPU's: its name, from the engine option device=cuda[:N].
 * NULL: this machine's own. */
static const char *gpu_of(char *name, size_t size, const char *options, ft_error *err)
{
    static const char cuda[] = "device=cuda";
    const char *at = strstr(options, cuda);
    unsigned long index = 0;

    if (!at)
        return NULL;
    at += strlen(cuda);
    if (*at == ':')
        index = strtoul(at + 1, NULL, 10);
    (void)ft_device_gpu_name(name, size, (uint32_t)index, NULL, err);
    return name;
}

int ft__session_open(ft__cli *c, ft_session **out, const char *engine, uint64_t threads)
{
    return ft__session_open_held(c, out, engine, threads, NULL, NULL);
}

int ft__session_open_held(ft__cli *c, ft_session **out, const char *engine,
                          uint64_t threads, const ft_settings *settings,
                          const ft_settings_options *settings_options)
{
    char plugin_dir[FT__PATH_MAX], device[128];
    ft__engine_choice choice;
    ft_session_options how = {.engine = choice.name,
                              .engine_options = choice.options,
                              .plugin_dir = plugin_dir,
                              .threads = (uint32_t)threads,
                              .seed = 1,
                              .log = &c->log,
                              .settings = settings,
                              .settings_options = settings_options};
    ft_status st;

    if (!ft__engine_choose(&choice, engine ? engine : FT__DEFAULT_ENGINE))
        return ft__usage(c, "--engine %.60s...: too long", engine);
    how.device = gpu_of(device, sizeof(device), choice.options, &c->err);
    if (how.device && !*how.device)
        return ft__cli_check(c, FT_ENOTFOUND);
    if (strstr(choice.options, "tf32=1"))
        how.dtype_policy = "tf32";
    ft__path_plugins(c, plugin_dir);
    st = ft_session_open(out, &how, &c->err);
    return choice.given ? ft__cli_check_asked(c, st) : ft__cli_check(c, st);
}

int ft__home_needed(ft__cli *c, const char *given)
{
    if (given || ft__path_make_home())
        return FT__EXIT_GOOD;
    return ft__cli_exit(c, FT__EXIT_INPUT, "cannot make a folder in HOME: %s",
                        strerror(errno));
}

int ft__store_needed(ft__cli *c, const char *path)
{
    if (c->store || ft__path_exists(path))
        return FT__EXIT_GOOD;
    return ft__cli_exit(c, FT__EXIT_MISSING,
                        "nothing is measured yet, there is no %s; first: foretell "
                        "collect --quick",
                        path);
}
