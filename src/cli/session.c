/* What measures: engines as they are named, at one clock after the other, and the meter
 * of power. */
#include "cli/session.h"

#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Engines: the libraries below them may come as Python packages. Engines read no
 * environment: the command looks for the library and passes its path as an option. */
static const struct library {
    const char *engine;
    const char *variable; /* names the file, or the package's folder */
    const char *package;
    const char *file; /* within the package */
} libraries[] = {
    {"onnxruntime", "FORETELL_ONNXRUNTIME", "onnxruntime", "capi/libonnxruntime.so*"},
    {"torch", "FORETELL_TORCH", "torch", "lib/libtorch_cpu.so"},
    {"tvm", "FORETELL_TVM", "tvm", "lib/libtvm_runtime.so"},
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

/* Options of an engine, joined by commas; false: they do not fit. */
static bool add_option(ft__engine_choice *out, const char *name, const char *value)
{
    const size_t len = strlen(out->options);
    const size_t room = sizeof(out->options) - len;

    return !*value || (size_t)snprintf(out->options + len, room, "%s%s%s",
                                       len ? "," : "", name, value) < room;
}

bool ft__engine_choose(ft__engine_choice *out, const char *text)
{
    size_t len = strcspn(text, ",");
    const char *own = text + len + (text[len] == ',');
    char path[FT__PATH_MAX] = "", cache[FT__PATH_MAX] = "";

    out->given = *own != '\0';
    if ((size_t)snprintf(out->name, sizeof(out->name), "%.*s", (int)len, text) != len)
        return false;
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
        if (strcmp(out->name, libraries[i].engine) == 0 && !strstr(own, "lib="))
            find_library(path, &libraries[i]);
    if (strcmp(out->name, "tvm") == 0 && !strstr(own, "cache="))
        ft__path_cache(cache, "tvm");
    out->options[0] = '\0';
    return add_option(out, "lib=", path) && add_option(out, "cache=", cache) &&
           add_option(out, "", own);
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

const ft__option ft__clock_steps_table[] = {
    FT__TEXT(ft__clock_steps_options, clocks, "clocks", "MHZ,...",
             "at each of these core clocks in turn; put back afterwards"),
    FT__TEXT(ft__clock_steps_options, memory_clock, "memory-clock", "CLOCK",
             "with this memory clock of a GPU"),
    FT__TEXT(ft__clock_steps_options, power_cap, "power-cap", "WATTS",
             "with this power cap of a GPU"),
    FT__TEXT(ft__clock_steps_options, device, "clocks-of", "DEVICE",
             "whose clocks and cap: cpu, nvml:0; the engine's device"),
    {0},
};

/* "torch:device=cuda:1" -> "nvml:1" */
static void device_of(ft__clock_steps *w, const char *given, const char *engine)
{
    const char *cuda = engine ? strstr(engine, "device=cuda") : NULL;
    unsigned gpu = 0;

    if (cuda)
        (void)sscanf(cuda, "device=cuda:%u", &gpu);
    if (given)
        snprintf(w->device, sizeof(w->device), "%s", given);
    else if (cuda)
        snprintf(w->device, sizeof(w->device), "nvml:%u", gpu);
    else
        snprintf(w->device, sizeof(w->device), "cpu");
}

int ft__clock_steps_parse(ft__cli *c, ft__clock_steps *w,
                          const ft__clock_steps_options *o, const char *engine)
{
    const ft__settings_texts texts = {.memory = o->memory_clock,
                                      .power_cap = o->power_cap};
    int code = ft__settings_parse(c, &w->settings, &texts);

    w->n = 0;
    if (!code && o->clocks)
        code = ft__clock_list_parse(c, w->clock_hz, &w->n, o->clocks);
    w->any = w->n || o->memory_clock || o->power_cap;
    if (w->n == 0)
        w->clock_hz[w->n++] = NAN;
    device_of(w, o->device, engine);
    w->settings.device = w->device;
    ft__machine_open(&w->machine, c, NULL);
    return code;
}

int ft__session_open(ft__cli *c, ft_session **out, const char *engine, uint64_t threads,
                     ft__clock_steps *w, size_t i)
{
    char plugin_dir[FT__PATH_MAX], device[128];
    ft__engine_choice choice;
    ft_session_options how = {.engine = choice.name,
                              .engine_options = choice.options,
                              .plugin_dir = plugin_dir,
                              .threads = (uint32_t)threads,
                              .seed = 1,
                              .log = &c->log};
    ft_status st;

    if (!ft__engine_choose(&choice, engine ? engine : FT_DEFAULT_ENGINE))
        return ft__usage(c, "--engine %.60s...: too long", engine);
    how.device = gpu_of(device, sizeof(device), choice.options, &c->err);
    if (how.device && !*how.device)
        return ft__cli_check(c, FT_ENOTFOUND);
    if (strstr(choice.options, "tf32=1"))
        how.dtype_policy = "tf32";
    if (w && w->any) {
        w->settings.core_clock_hz = w->clock_hz[i];
        how.settings = &w->settings;
        how.settings_options = &w->machine.how;
    }
    ft__path_plugins(c, plugin_dir);
    st = ft_session_open(out, &how, &c->err);
    return choice.given ? ft__cli_check_asked(c, st) : ft__cli_check(c, st);
}

void ft__print_train(const ft__cli *c, const ft_session *s)
{
    const ft_session_facts *f = ft_session_get(s);
    uint64_t threads = 0;

    fputs("foretell train", stdout);
    if (strcmp(f->engine, FT_DEFAULT_ENGINE) != 0)
        ft__put_word(stdout, " --engine ", f->engine);
    if (strncmp(f->device, "cpu-", 4) != 0)
        ft__put_word(stdout, " --device ", f->device);
    if (strchr(f->setting, ' '))
        ft__put_word(stdout, " --setting ", f->setting);
    else if (sscanf(f->setting, "threads=%" SCNu64, &threads) == 1 && threads > 1)
        printf(" --threads %" PRIu64, threads);
    ft__put_store(c);
}

int ft__engine_needed(ft__cli *c, const char *engine)
{
    const size_t len = engine ? strcspn(engine, ",") : 0;
    char dir[FT__PATH_MAX], list[256] = "", **names;
    bool there = !engine;
    size_t n;

    ft__path_plugins(c, dir);
    if (there || ft_engine_names(&names, &n, dir, NULL))
        return FT__EXIT_GOOD;
    for (size_t i = 0; i < n; i++) {
        const size_t used = strlen(list);

        there = there || (strlen(names[i]) == len && !memcmp(names[i], engine, len));
        snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", names[i]);
    }
    free(names);
    return there ? FT__EXIT_GOOD
                 : ft__cli_exit(c, FT__EXIT_MISSING,
                                "no engine \"%.*s\" in %s; there %s %s", (int)len,
                                engine, dir, n == 1 ? "is" : "are", n ? list : "none");
}

void ft__clock_steps_part(const ft__cli *c, const ft__clock_steps *w, size_t i)
{
    if (w->n > 1 && c->json)
        puts(i == 0 ? "[" : i < w->n ? "," : "]");
    else if (i && i < w->n)
        putchar('\n');
}

int ft__power_open(ft__cli *c, ft_meter **out, const char *sources, ft_error *why)
{
    bool any = !sources || strcmp(sources, "all") == 0;
    const ft_meter_options how = {.sources = sources};
    ft_status st = ft_meter_open(out, &how, why);

    if (!st || any)
        return FT__EXIT_GOOD;
    return ft__cli_fail(c, st, why);
}
