/* The libraries below engines, where they come as Python packages. Engines read no
 * environment: the command looks for them and passes a path as an option. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

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
