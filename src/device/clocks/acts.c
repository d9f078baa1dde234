/* Writing values to files and GPUs, and putting them back. */
#include "device/clocks/acts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/sysfs.h"

/* The word in a record, and the option of nvidia-smi that does the same. */
static const struct {
    const char *word, *option;
} verbs[] = {
    [FT__ACT_PUT] = {"put", NULL},
    [FT__ACT_CORE] = {"core", "-lgc"},
    [FT__ACT_MEMORY] = {"memory", "-lmc"},
    [FT__ACT_APPLICATIONS] = {"applications", "-acp"},
    [FT__ACT_POWER] = {"power", "-pl"},
};

static void append(ft__acts *a, ft__verb verb, const char *target, const char *value)
{
    ft__act *act = ft__list_grow(a->act, a->n, &a->cap, sizeof(*act));

    if (act) {
        a->act = act;
        act += a->n;
        act->verb = verb;
        act->target = ft__arena_strndup(&a->arena, target, strlen(target));
        act->value = ft__arena_strndup(&a->arena, value, strlen(value));
    }
    if (act && act->target && act->value)
        a->n++;
    else
        a->bad = true;
}

void ft__acts_add(ft__acts *a, ft__verb verb, const char *target, const char *fmt, ...)
{
    char value[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(value, sizeof(value), fmt, ap);
    va_end(ap);
    append(a, verb, target, value);
}

void ft__acts_free(ft__acts *a)
{
    free(a->act);
    ft__arena_free(&a->arena);
    *a = (ft__acts){0};
}

void ft__plan_free(ft__settings_plan *p)
{
    ft__acts_free(&p->apply);
    ft__acts_free(&p->instead);
    ft__acts_free(&p->restore);
}

void ft__acts_print(const ft__acts *a, ft__buf *out)
{
    for (size_t i = 0; i < a->n; i++)
        ft__buf_fmt(out, "%s\t%s\t%s\n", verbs[a->act[i].verb].word, a->act[i].target,
                    a->act[i].value);
}

/* A record may be read with more rights than wrote it. */
static bool is_safe(ft__verb verb, const char *target)
{
    static const char folder[] = "/sys/devices/system/cpu/";

    if (verb == FT__ACT_PUT)
        return strncmp(target, folder, sizeof(folder) - 1) == 0 &&
               !strstr(target, "..");
    return *target && strspn(target, "0123456789") == strlen(target);
}

static bool parse_line(ft__acts *a, const char *line, size_t len)
{
    char text[PATH_MAX + 512], *target, *value;
    unsigned verb = 0;

    if (len >= sizeof(text))
        return false;
    memcpy(text, line, len);
    text[len] = '\0';
    target = strchr(text, '\t');
    value = target ? strchr(target + 1, '\t') : NULL;
    if (!value)
        return false;
    *target++ = *value++ = '\0';
    while (verb < FT__N_VERBS && strcmp(verbs[verb].word, text) != 0)
        verb++;
    if (verb == FT__N_VERBS || !is_safe((ft__verb)verb, target))
        return false;
    append(a, (ft__verb)verb, target, value);
    return true;
}

ft_status ft__acts_parse(ft__acts *a, const char *text, ft_error *err)
{
    while (*text) {
        size_t len = strcspn(text, "\n");

        if (!parse_line(a, text, len))
            return ft_fail(err, FT_EFORMAT, 0, "\"%.*s\" is no setting",
                           (int)(len < 100 ? len : 100), text);
        text += len + (text[len] == '\n');
    }
    return a->bad ? ft_fail(err, FT_ENOMEM, 0, "settings") : FT_OK;
}

ft__machine ft__machine_of(const ft_settings_options *opt)
{
    return (ft__machine){.root = opt && opt->root ? opt->root : "",
                         .nvml = opt ? opt->nvml : NULL};
}

ft_status ft__machine_gpus(ft__machine *m, ft_error *err)
{
    if (m->gpus.dl)
        return FT_OK;
    if (*m->root && !m->nvml)
        return ft_fail(err, FT_ENOTFOUND, 0, "a recorded machine has no GPU to set");
    if (ft__nvml_open(&m->gpus, m->nvml, false))
        return FT_OK;
    return ft_fail(err, FT_ENOTFOUND, 0, "no NVIDIA GPU can be asked: %s%s%s",
                   m->gpus.reason, *m->gpus.remedy ? "; try: " : "", m->gpus.remedy);
}

void ft__machine_close(ft__machine *m)
{
    ft__nvml_close(&m->gpus);
}

/* A file of a recorded machine has a length; sysfs knows none. */
static int open_for_writing(const char *root, const char *path, int flags)
{
    char full[PATH_MAX];

    if ((size_t)snprintf(full, sizeof(full), "%s%s", root, path) >= sizeof(full)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(full, O_WRONLY | O_CLOEXEC | flags);
}

/* Write a value, a line end behind it. Returns 0 or an errno. */
static int write_file(const char *root, const char *path, const char *value)
{
    int fd = open_for_writing(root, path, O_TRUNC), code = 0;
    char line[512];
    int len = snprintf(line, sizeof(line), "%s\n", value);

    if (fd < 0)
        return errno;
    if (len >= (int)sizeof(line))
        code = EINVAL;
    else if (write(fd, line, (size_t)len) != len)
        code = errno ? errno : EIO;
    if (close(fd) && !code)
        code = errno;
    return code;
}

/* Whether that could be: 0 or an errno. Nothing is written. */
static int may_write(const char *root, const char *path)
{
    int fd = open_for_writing(root, path, 0);

    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* The path with "cpu*" for every "cpuN". */
static void any_cpu(char *out, size_t size, const char *path)
{
    size_t len = 0;

    while (*path && len + 1 < size) {
        bool number = isdigit((unsigned char)*path) && len >= 4 &&
                      strncmp(out + len - 4, "/cpu", 4) == 0;

        out[len++] = number ? '*' : *path;
        path += number ? strspn(path, "0123456789") : 1;
    }
    out[len] = '\0';
}

/* "sudo chmod o+w FILES", each kind of file once. */
static void chmod_for(const ft__acts *a, const char *root, char *text, size_t size)
{
    char kind[PATH_MAX];
    size_t len = (size_t)snprintf(text, size, "sudo chmod o+w");

    for (size_t i = 0; i < a->n && len < size; i++) {
        any_cpu(kind, sizeof(kind), a->act[i].target);
        if (a->act[i].verb == FT__ACT_PUT && !strstr(text, kind))
            len += (size_t)snprintf(text + len, size - len, " %s%s", root, kind);
    }
}

/* `all` are written together; why->code: of the file at `path`. */
static ft_status refused(ft__refusal *why, const char *root, const ft__acts *all,
                         const char *path, ft_error *err)
{
    int code = why->code;

    why->remedy[0] = '\0';
    if (code == EROFS)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s%s cannot be set: it is mounted read-only here; set it on "
                       "the host",
                       root, path);
    if (code != EACCES && code != EPERM)
        return ft_fail(err, FT_EIO, 0, "%s%s: %s", root, path, strerror(code));
    chmod_for(all, root, why->remedy, sizeof(why->remedy));
    return ft_fail(err, FT_EUNSUPPORTED, 0,
                   "%s%s may only be set by root; run with sudo, or: %s", root, path,
                   why->remedy);
}

ft_status ft__acts_allowed(ft__refusal *why, const char *root, const ft__acts *a,
                           ft_error *err)
{
    ft__refusal own;

    why = why ? why : &own;
    *why = (ft__refusal){0};
    for (size_t i = 0; i < a->n; i++) {
        why->code =
            a->act[i].verb == FT__ACT_PUT ? may_write(root, a->act[i].target) : 0;
        if (why->code)
            return refused(why, root, a, a->act[i].target, err);
    }
    return FT_OK;
}

static ft_status put(const ft__machine *m, const ft__act *a, ft_error *err)
{
    const ft__acts only = {.act = (ft__act *)a, .n = 1};
    char now[256];
    int code = ft__sys_text(now, sizeof(now), m->root, "%s", a->target);

    if (code == 0 && strcmp(now, a->value) == 0)
        return FT_OK;
    code = write_file(m->root, a->target, a->value);
    if (code == EACCES || code == EPERM || code == EROFS)
        return refused(&(ft__refusal){.code = code}, m->root, &only, a->target, err);
    if (code)
        return ft_fail(err, FT_EIO, 0, "%s%s does not take \"%s\": %s", m->root,
                       a->target, a->value, strerror(code));
    return FT_OK;
}

/* Whether the device is as it shall be: then putting back needs no rights. A lock
 * cannot be asked for. */
static bool is_so(const ft__nvml *g, void *handle, const ft__act *a)
{
    unsigned first, second;
    char now[64] = "";

    if (a->verb == FT__ACT_POWER && FT__NVML_CALL(g, power_limit, handle, &first) == 0)
        snprintf(now, sizeof(now), "%u", first);
    if (a->verb == FT__ACT_APPLICATIONS &&
        FT__NVML_CALL(g, clock_application, handle, FT__NVML_CLOCK_MEMORY, &first) ==
            0 &&
        FT__NVML_CALL(g, clock_application, handle, FT__NVML_CLOCK_GRAPHICS, &second) ==
            0)
        snprintf(now, sizeof(now), "%u,%u", first, second);
    return strcmp(now, a->value) == 0;
}

static int tell_gpu(const ft__nvml *g, void *handle, const ft__act *a)
{
    unsigned first = 0, second = 0;
    bool is_free = strcmp(a->value, "free") == 0;

    if (!is_free && sscanf(a->value, "%u,%u", &first, &second) < 1)
        return FT__NVML_NOT_SUPPORTED;
    switch (a->verb) {
    case FT__ACT_CORE:
        return is_free ? FT__NVML_CALL(g, unlock_core_clock, handle)
                       : FT__NVML_CALL(g, lock_core_clock, handle, first, second);
    case FT__ACT_MEMORY:
        return is_free ? FT__NVML_CALL(g, unlock_memory_clock, handle)
                       : FT__NVML_CALL(g, lock_memory_clock, handle, first, second);
    case FT__ACT_APPLICATIONS:
        return FT__NVML_CALL(g, set_application_clocks, handle, first, second);
    case FT__ACT_POWER: return FT__NVML_CALL(g, set_power_limit, handle, first);
    case FT__ACT_PUT:
    case FT__N_VERBS: break;
    }
    return FT__NVML_NOT_SUPPORTED;
}

/* The command of NVIDIA's own tool for the same. */
static void nvidia_smi(char *text, size_t size, const ft__act *a)
{
    char watts[32];

    snprintf(watts, sizeof(watts), "%lu", strtoul(a->value, NULL, 10) / 1000);
    snprintf(text, size, "sudo nvidia-smi -i %s %s %s", a->target,
             verbs[a->verb].option,
             a->verb == FT__ACT_POWER          ? watts
             : a->verb == FT__ACT_APPLICATIONS ? "UNRESTRICTED"
                                               : a->value);
}

static ft_status set_gpu(ft__machine *m, const ft__act *a, bool back, ft_error *err)
{
    char device[32], remedy[128];
    unsigned index;
    void *handle;
    int code;
    ft_status st = ft__machine_gpus(m, err);

    snprintf(device, sizeof(device), "nvml:%.20s", a->target);
    if (!st)
        st = ft__nvml_find(&handle, &index, &m->gpus, device, err);
    if (st)
        return st;
    code = back && is_so(&m->gpus, handle, a) ? 0 : tell_gpu(&m->gpus, handle, a);
    /* What cannot be locked needs no freeing. */
    if (code == FT__NVML_NOT_SUPPORTED && strcmp(a->value, "free") == 0)
        code = 0;
    if (code == FT__NVML_NO_PERMISSION) {
        nvidia_smi(remedy, sizeof(remedy), a);
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s: its %s may only be set by root; run with sudo, or: %s",
                       device, a->verb == FT__ACT_POWER ? "power cap" : "clocks",
                       remedy);
    }
    if (code)
        return ft_fail(err, code == FT__NVML_NOT_SUPPORTED ? FT_EUNSUPPORTED : FT_EIO,
                       0, "%s: %s %s: %s", device, verbs[a->verb].word, a->value,
                       m->gpus.error_string(code));
    return FT_OK;
}

/* Write a value; back: put it back, where it is not so. */
static ft_status act(ft__machine *m, const ft__act *a, bool back, ft_error *err)
{
    return a->verb == FT__ACT_PUT ? put(m, a, err) : set_gpu(m, a, back, err);
}

ft_status ft__acts_undo_all(ft__machine *m, const ft__acts *a, ft_error *err)
{
    ft_status first = FT_OK;

    for (size_t i = 0; i < a->n; i++) {
        ft_status st = act(m, &a->act[i], true, first ? NULL : err);

        if (!first)
            first = st;
    }
    return first;
}

/* Write values in order; the first failure ends it. *done: how many were written. */
static ft_status do_all(size_t *done, ft__machine *m, const ft__acts *a, ft_error *err)
{
    for (*done = 0; *done < a->n; ++*done) {
        ft_status st = act(m, &a->act[*done], false, err);

        if (st)
            return st;
    }
    return FT_OK;
}

/* Whether one of the first n of `a` writes what `act` does. */
static bool touches(const ft__acts *a, size_t n, const ft__act *act)
{
    for (size_t i = 0; i < n; i++)
        if (a->act[i].verb == act->verb && strcmp(a->act[i].target, act->target) == 0)
            return true;
    return false;
}

/* After a failure: put back what was written, and what may half have been. */
static ft_status undo_done(ft__machine *m, const ft__settings_plan *p, size_t done,
                           size_t done_instead)
{
    ft_status first = FT_OK;

    for (size_t i = 0; i < p->restore.n; i++) {
        const ft__act *a = &p->restore.act[i];
        ft_status st = FT_OK;

        if (a->verb == FT__ACT_PUT || touches(&p->apply, done, a) ||
            touches(&p->instead, done_instead, a))
            st = act(m, a, true, NULL);
        if (!first)
            first = st;
    }
    return first;
}

ft_status ft__plan_apply(bool *clean, ft__machine *m, const ft__settings_plan *p,
                         ft_error *err)
{
    size_t done, done_instead = 0;
    ft_status st = do_all(&done, m, &p->apply, err);

    if (st == FT_EUNSUPPORTED && p->instead.n &&
        p->apply.act[done].verb != FT__ACT_POWER)
        st = do_all(&done_instead, m, &p->instead, err);
    *clean = !st || undo_done(m, p, done, done_instead) == FT_OK;
    return st;
}
