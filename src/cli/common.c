/* What every command shares: the way out, where things lie, what lies there. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/session.h"
#include "foretell/file.h"
#include "foretell/store.h"

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

/* The first of the commands to type that follow a message, each on a line of its own.
 */
static const char *commands_of(const char *msg)
{
    return strstr(msg, "\n  foretell ");
}

static void put_text(const char *msg)
{
    char line[sizeof(((ft_error *)0)->msg)];
    const char *end;

    while ((end = commands_of(msg))) {
        snprintf(line, sizeof(line), "%.*s", (int)(end - msg), msg);
        ft__put_clean(stderr, line);
        fputs("\n", stderr);
        msg = end + 1;
    }
    ft__put_clean(stderr, msg);
    fputs("\n", stderr);
}

static int say(ft__cli *c, int code, const char *msg)
{
    const char *command = c->command ? c->command->name : "";

    if (c->reply) {
        snprintf(c->reply->message, sizeof(c->reply->message), "%s", msg);
        return code;
    }
    ft__bar_draw(&c->bar, 0, 0, "");
    if (c->json && ft__json_print_take(ft__json("command:s exit:u message:s", command,
                                                (uint64_t)code, msg),
                                       stderr))
        return code;
    fprintf(stderr, "foretell%s%s: ", *command ? " " : "", command);
    put_text(msg);
    return code;
}

int ft__cli_fail(ft__cli *c, ft_status st, const ft_error *err)
{
    return ft__cli_exit(c, exit_code(st), "%s%s", err->msg,
                        st == FT_EINVAL   ? " (a bug in foretell: please report it)"
                        : st == FT_ENOMEM ? ": out of memory"
                                          : "");
}

int ft__cli_check(ft__cli *c, ft_status st)
{
    return st ? ft__cli_fail(c, st, &c->err) : FT__EXIT_GOOD;
}

/* Of a device a clock above its highest is not found, as of one among several; who asks
 * about it has said what is wrong. */
static bool is_above_clocks(const ft_error *err)
{
    return err->status == FT_ENOTFOUND && strstr(err->msg, ": its highest ");
}

int ft__cli_check_asked(ft__cli *c, ft_status st)
{
    return st == FT_EINVAL || (st && is_above_clocks(&c->err))
               ? ft__usage(c, "%s", c->err.msg)
               : ft__cli_check(c, st);
}

static int exit_list(ft__cli *c, int code, const char *fmt, va_list ap)
{
    char msg[2 * sizeof(((ft_error *)0)->msg)];

    vsnprintf(msg, sizeof(msg), fmt, ap);
    return say(c, code, msg);
}

int ft__cli_exit(ft__cli *c, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    code = exit_list(c, code, fmt, ap);
    va_end(ap);
    return code;
}

int ft__usage(ft__cli *c, const char *fmt, ...)
{
    va_list ap;
    int code;

    va_start(ap, fmt);
    code = exit_list(c, FT__EXIT_USAGE, fmt, ap);
    va_end(ap);
    return code;
}

void ft__warn_damaged(ft__cli *c, const ft_remark *const *warning, size_t n)
{
    for (size_t i = 0; i < n && c->log.message && !c->damaged_said; i++)
        if (warning[i]->code == FT_REMARK_DAMAGED) {
            c->log.message(c->log.user, FT_LOG_WARN, warning[i]->text);
            c->damaged_said = true;
        }
}

int ft__cli_done(ft__cli *c, bool printed)
{
    errno = 0;
    if (!c->reply && (fflush(stdout) || ferror(stdout)))
        return ft__cli_exit(c, FT__EXIT_INPUT, "cannot write the result: %s",
                            errno ? strerror(errno) : "is the disk full?");
    if (!printed)
        return ft__cli_exit(c, FT__EXIT_BUG, "out of memory");
    return FT__EXIT_GOOD;
}

bool ft__cli_json_take(const ft__cli *c, json_t *v)
{
    if (!c->reply)
        return ft__json_print_take(v, stdout);
    json_decref(c->reply->value);
    c->reply->value = v;
    return v != NULL;
}

bool ft__text_file_open(ft__text_file *f)
{
    *f = (ft__text_file){0};
    f->fp = open_memstream(&f->text, &f->len);
    return f->fp != NULL;
}

int ft__text_file_save(ft__text_file *f, ft__cli *c, const char *path, bool good)
{
    bool whole = f->fp && fclose(f->fp) == 0 && good;
    ft_status st = whole ? ft_file_write(path, f->text, f->len, &c->err)
                         : ft_fail(&c->err, FT_ENOMEM, 0, "%s", path);

    free(f->text);
    return ft__cli_check(c, st);
}

int ft__page_save_take(ft__cli *c, const char *path, ft__page page, json_t *data)
{
    ft__text_file file;
    bool good = ft__text_file_open(&file);

    if (good)
        good = ft__page_write_take(file.fp, page, data);
    else
        json_decref(data);
    return ft__text_file_save(&file, c, path, good);
}

int ft__record_save_take(ft__cli *c, const char *path, json_t *record)
{
    char title[64];

    snprintf(title, sizeof(title), "foretell %s", c->command->name);
    ft__json_set_take(&record, "page", ft__json("title:s lead:s", title, c->line));
    return ft__page_save_take(c, path, FT__PAGE_RECORD, record);
}

/* Files lie where an option said, else where they were installed, else in the build
 * tree. */
bool ft__path_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

const char *ft__path_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
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

/* "" where the system does not say. */
void ft__path_self(char *out)
{
    ssize_t n = readlink("/proc/self/exe", out, FT__PATH_MAX - 1);

    out[n > 0 ? n : 0] = '\0';
}

/* The folder of this program; "" likewise. */
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

/* `variable`/foretell, else HOME/`below`/foretell; false, and "": neither is set. */
static bool folder_of_user(char *out, const char *variable, const char *below)
{
    const char *xdg = getenv(variable), *home = getenv("HOME");

    *out = '\0';
    if (xdg && *xdg == '/')
        return join(out, "%s/foretell", xdg);
    return home && *home && join(out, "%s/%s/foretell", home, below);
}

static bool user_folder(char *out)
{
    return folder_of_user(out, "XDG_DATA_HOME", ".local/share");
}

void ft__path_store(const ft__cli *c, char *out)
{
    char folder[FT__PATH_MAX];

    *out = '\0';
    if (c->store)
        join(out, "%s", c->store);
    else if (user_folder(folder))
        join(out, "%s/measurements.db", folder);
}

void ft__path_store_shown(const ft__cli *c, char *out)
{
    char path[FT__PATH_MAX];

    ft__path_store(c, path);
    ft_store_shown(out, FT__PATH_MAX, path);
}

void ft__put_store(const ft__cli *c)
{
    char shown[FT__PATH_MAX];

    if (!c->store)
        return;
    ft__path_store_shown(c, shown);
    ft__put_word(stdout, " --db ", shown);
}

void ft__path_cache(char *out, const char *what)
{
    char folder[FT__PATH_MAX];

    *out = '\0';
    if (folder_of_user(folder, "XDG_CACHE_HOME", ".cache"))
        join(out, "%s/%s", folder, what);
}

void ft__path_predictor(char *out, const char *engine, uint64_t threads)
{
    char folder[FT__PATH_MAX];

    *out = '\0';
    if (user_folder(folder) && ft_data_predictor_path(out, FT__PATH_MAX, folder, engine,
                                                      threads) >= FT__PATH_MAX)
        *out = '\0';
}

/* False: errno says why. */
static bool make_folders(char *path)
{
    for (char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
        *s = '\0';
        if (mkdir(path, 0777) && errno != EEXIST)
            return false;
        *s = '/';
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

static const char no_home[] = "HOME is not set, so there is no folder for measurements "
                              "and predictors: name files "
                              "with --db and --out";

int ft__home_needed(ft__cli *c, const char *given)
{
    char path[FT__PATH_MAX];

    if (given)
        return FT__EXIT_GOOD;
    if (!user_folder(path))
        return ft__cli_exit(c, FT__EXIT_INPUT, no_home);
    return make_folders(path) ? FT__EXIT_GOOD
                              : ft__cli_exit(c, FT__EXIT_INPUT, "cannot make %s: %s",
                                             path, strerror(errno));
}

void ft__collect_hint(const ft__cli *c, char *buf, size_t size, const char *engine,
                      uint64_t threads)
{
    char shown[FT__PATH_MAX];
    FILE *fp = fmemopen(buf, size, "w");

    *buf = '\0';
    if (!fp)
        return;
    fputs("foretell collect --quick", fp);
    if (engine)
        ft__put_word(fp, " --engine ", engine);
    if (threads > 1)
        fprintf(fp, " --threads %" PRIu64, threads);
    if (c->store) {
        ft__path_store_shown(c, shown);
        ft__put_word(fp, " --db ", shown);
    }
    fclose(fp);
}

bool ft__store_is_there(const ft__cli *c, const char *path)
{
    return (c->store && strstr(path, "://")) || ft__path_exists(path);
}

int ft__store_needed(ft__cli *c, const char *path, const char *engine, uint64_t threads)
{
    char hint[2 * FT__PATH_MAX];
    int code;

    if (ft__store_is_there(c, path))
        return FT__EXIT_GOOD;
    if (!*path)
        return ft__cli_exit(c, FT__EXIT_INPUT, no_home);
    code = ft__engine_needed(c, engine);
    if (code)
        return code;
    ft__collect_hint(c, hint, sizeof(hint), engine, threads);
    if (c->store)
        return ft__cli_exit(c, FT__EXIT_INPUT,
                            "there is no store %s; name another with --db, or fill "
                            "this one: %s",
                            path, hint);
    return ft__cli_exit(c, FT__EXIT_MISSING,
                        "nothing is measured yet, there is no %s; first: %s", path,
                        hint);
}

int ft__data_open(ft__cli *c, ft_data **out)
{
    char data_dir[FT__PATH_MAX], user_dir[FT__PATH_MAX];
    ft_status st;

    if (c->reply) {
        *out = c->reply->data;
        return FT__EXIT_GOOD;
    }
    ft__path_data(c, data_dir);
    st = ft_data_open(out, data_dir, user_folder(user_dir) ? user_dir : NULL, &c->err);
    return ft__cli_check(c, st);
}

void ft__data_close(const ft__cli *c, ft_data *data)
{
    if (!c->reply)
        ft_data_close(data);
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

int ft__device_resolve(ft__cli *c, char *name, size_t size, bool say)
{
    char data_dir[FT__PATH_MAX], note[512];
    ft_status st;

    ft__path_data(c, data_dir);
    st = ft_device_resolve(name, size, note, sizeof(note), data_dir, &c->err);
    if (!st && *note && say && c->log.message)
        c->log.message(c->log.user, FT_LOG_WARN, note);
    return ft__cli_check(c, st);
}

bool ft__device_is_there(ft__cli *c, const char *name, double *memory_bytes)
{
    char data_dir[FT__PATH_MAX];
    ft_device *d;
    bool is;

    ft__path_data(c, data_dir);
    is = !ft_device_load(&d, data_dir, name, NULL);
    if (is && memory_bytes)
        *memory_bytes = ft_device_get(d)->memory_bytes;
    ft_device_free(d);
    return is;
}

/* The folder for who holds settings and what to put back; a recorded machine has
 * its own. */
static void state_folder(char *out, const char *root)
{
    if (root && *root)
        join(out, "%s/.foretell", root);
    else if (!folder_of_user(out, "XDG_STATE_HOME", ".local/state"))
        join(out, "/run/foretell"); /* a service of root's has no HOME */
}

void ft__machine_open(ft__this_machine *m, const ft__cli *c, const char *root)
{
    *m = (ft__this_machine){
        .how = {.root = root, .state_dir = m->state_dir, .log = &c->log}};
    state_folder(m->state_dir, root);
    ft__path_self(m->self);
    if (!*m->self)
        return;
    m->guard[0] = m->self;
    m->guard[1] = "clocks";
    m->guard[2] = "guard";
    m->how.guard = m->guard;
}

const char *ft__no_hardware_name(ft_dtype t)
{
    return t == FT_DTYPE_fp32 ? "tf32" : ft_dtype_name(t);
}

void ft__on_cores(void *(*work)(void *), void *user, size_t most)
{
    enum { MOST_THREADS = 16 };
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t thread[MOST_THREADS];
    size_t n = 0;

    while ((long)n + 1 < cores && n + 1 < most && n < MOST_THREADS &&
           !pthread_create(&thread[n], NULL, work, user))
        n++;
    work(user);
    while (n)
        pthread_join(thread[--n], NULL);
}
