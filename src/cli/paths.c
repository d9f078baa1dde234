/* Where things lie: what was said, else what is installed, else the build tree. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

bool ft__path_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

FT_PRINTF(2, 3)
static bool join(char *out, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(out, FT__PATH_MAX, fmt, ap);
    va_end(ap);
    if (n >= 0 && n < FT__PATH_MAX)
        return true;
    out[0] = '\0';
    return false;
}

/* "" when the system does not say. */
void ft__path_self(char *out)
{
    ssize_t n = readlink("/proc/self/exe", out, FT__PATH_MAX - 1);

    out[n > 0 ? n : 0] = '\0';
}

/* The folder this program lies in; "" when the system does not say. */
static void own_folder(char *out)
{
    char *slash;

    ft__path_self(out);
    slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
}

void ft__path_data(const ft__cli *c, char *out)
{
    const char *given = c->data_dir ? c->data_dir : getenv("FORETELL_DATA");
    char own[FT__PATH_MAX];

    own_folder(own);
    if (given && *given)
        join(out, "%s", given);
    else if (!join(out, "%s/../share/foretell", own) || !ft__path_exists(out))
        join(out, "%s", FT__SOURCE_DATA);
}

void ft__path_plugins(const ft__cli *c, char *out)
{
    const char *given = c->plugin_dir ? c->plugin_dir : getenv("FORETELL_PLUGINS");
    char own[FT__PATH_MAX];

    own_folder(own);
    if (given && *given)
        join(out, "%s", given);
    else if (!join(out, "%s/../" FT__PLUGINS_FROM_PREFIX, own) || !ft__path_exists(out))
        join(out, "%s/engines", own);
}

bool ft__path_user(char *out)
{
    const char *xdg = getenv("XDG_DATA_HOME"), *user = getenv("HOME");

    if (xdg && *xdg == '/')
        return join(out, "%s/foretell", xdg);
    return join(out, "%s/.local/share/foretell", user && *user ? user : ".");
}

void ft__path_state(char *out, const char *root)
{
    const char *xdg = getenv("XDG_STATE_HOME"), *user = getenv("HOME");

    if (root && *root)
        join(out, "%s/.foretell", root);
    else if (xdg && *xdg == '/')
        join(out, "%s/foretell", xdg);
    else
        join(out, "%s/.local/state/foretell", user && *user ? user : ".");
}

void ft__path_store(const ft__cli *c, char *out)
{
    char folder[FT__PATH_MAX];

    if (c->store)
        join(out, "%s", c->store);
    else if (ft__path_user(folder))
        join(out, "%s/measurements.db", folder);
}

void ft__path_predictor(char *out, const char *engine, uint64_t threads)
{
    char folder[FT__PATH_MAX];

    *out = '\0';
    if (ft__path_user(folder) &&
        ft_data_predictor_path(out, FT__PATH_MAX, folder, engine, threads) >=
            FT__PATH_MAX)
        *out = '\0';
}

void ft__path_family(char *out)
{
    ft__path_predictor(out, NULL, 0);
}

ft_status ft__data_make(const ft__cli *c, ft_data **out, ft_error *err)
{
    char data_dir[FT__PATH_MAX], user_dir[FT__PATH_MAX];

    ft__path_data(c, data_dir);
    return ft_data_open(out, data_dir, ft__path_user(user_dir) ? user_dir : NULL, err);
}

int ft__data_open(ft__cli *c, ft_data **out)
{
    ft_status st = ft__data_make(c, out, &c->err);

    return ft__cli_check(c, st);
}

bool ft__path_make_home(void)
{
    char path[FT__PATH_MAX];

    if (!ft__path_user(path))
        return false;
    for (char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
        *s = '\0';
        if (mkdir(path, 0777) && errno != EEXIST)
            return false;
        *s = '/';
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

int ft__lists_open(ft__cli *c, ft_network_lists **out, const char *path, bool families)
{
    char own[FT__PATH_MAX + 32];
    ft_status st;

    ft__path_data(c, own);
    strcat(own, families ? "/workloads/timm.csv.gz" : "/workloads/networks");
    st = ft_network_lists_open(out, path ? path : own, &c->err);
    return ft__cli_check(c, st);
}
