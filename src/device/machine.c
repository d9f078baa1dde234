/* A machine written down: its files, what NVML says, and a stretch of power. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "device/nvml.h"
#include "device/power/meter.h"
#include "device/power/trace.h"
#include "device/sysfs.h"
#include "foretell/device.h"
#include "foretell/file.h"
#include "foretell/power.h"

static const char *const patterns[] = {
#define FT__RECORD(pattern) pattern,
#include "device/machine.def"
#undef FT__RECORD
};

struct recorder {
    const char *dir, *root;
    ft__buf files; /* files.txt: mode, outcome, path */
    ft_record *out;
};

static ft_status write_file(const struct recorder *r, const char *name,
                            const char *text, size_t len, ft_error *err)
{
    ft__buf path = {0};
    ft_status st;
    int code;

    ft__buf_fmt(&path, "%s/%s", r->dir, name);
    code = path.bad ? ENOMEM : ft__sys_make_folders(path.s);
    st = code ? ft_fail(err, FT_EIO, 0, "cannot write %s/%s: %s", r->dir, name,
                        strerror(code))
              : ft_file_write(path.s, text, len, err);
    ft__buf_free(&path);
    return st;
}

/* At most so much of one file: /proc/cpuinfo of a large server. */
enum { MOST_BYTES = 4 << 20 };

static int read_file(ft__buf *text, const char *path)
{
    char piece[4096];
    ssize_t n = 0;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), code = 0;

    if (fd < 0)
        return errno;
    while (text->len < MOST_BYTES && (n = read(fd, piece, sizeof(piece))) > 0)
        ft__buf_add(text, piece, (size_t)n);
    if (n < 0)
        code = errno;
    close(fd);
    return text->bad ? ENOMEM : code;
}

/* Boards of some makers tell their serial number among their processors. */
static void drop_serial_numbers(ft__buf *text)
{
    char *line = text->s, *end = text->s + text->len, *to = text->s;

    while (line < end) {
        char *next = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((next ? next + 1 : end) - line);

        if (len < 6 || memcmp(line, "Serial", 6) != 0) {
            memmove(to, line, len);
            to += len;
        }
        line += len;
    }
    text->len = (size_t)(to - text->s);
}

static ft_status record_file(struct recorder *r, const char *path, ft_error *err)
{
    const char *inside = path + strlen(r->root);
    ft__buf text = {0};
    struct stat s;
    ft_status st = FT_OK;
    int code;

    if (stat(path, &s) || !S_ISREG(s.st_mode))
        return FT_OK;
    code = read_file(&text, path);
    if (text.s && strcmp(inside, "/proc/cpuinfo") == 0)
        drop_serial_numbers(&text);
    ft__buf_fmt(&r->files, "%04o %s %s\n", (unsigned)s.st_mode & 07777,
                code ? strerror(code) : "read", inside);
    if (code) {
        r->out->unreadable++;
    } else {
        r->out->files++;
        st = write_file(r, inside + 1, text.s ? text.s : "", text.len, err);
    }
    ft__buf_free(&text);
    return st;
}

static ft_status record_files(struct recorder *r, ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns) && !st; i++) {
        ft__buf pattern = {0};
        glob_t found = {0};

        ft__buf_fmt(&pattern, "%s%s", r->root, patterns[i]);
        if (!pattern.bad && glob(pattern.s, 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc && !st; k++)
                st = record_file(r, found.gl_pathv[k], err);
        globfree(&found);
        if (pattern.bad)
            st = ft_fail(err, FT_ENOMEM, 0, "recording");
        ft__buf_free(&pattern);
    }
    return st;
}

/* One "gpuN.key=value" a line. */
static void number(ft__buf *b, unsigned gpu, const char *key, const char *function,
                   int code, unsigned long long value)
{
    if (code)
        ft__buf_fmt(b, "gpu%u.%s=%d\n", gpu, function, code);
    else
        ft__buf_fmt(b, "gpu%u.%s=%llu\n", gpu, key, value);
}

/* A getter of one unsigned number, where the library has it. */
static void ask(ft__buf *b, unsigned gpu, void *device, const char *key,
                const char *function, int (*get)(void *, unsigned *))
{
    unsigned v = 0;
    int code = get ? get(device, &v) : 0;

    if (get)
        number(b, gpu, key, function, code, v);
}

static void ask_type(ft__buf *b, unsigned gpu, void *device, const char *key,
                     const char *function, int (*get)(void *, int, unsigned *),
                     int type)
{
    unsigned v = 0;
    int code = get ? get(device, type, &v) : 0;

    if (get)
        number(b, gpu, key, function, code, v);
}

static void ask_watts(ft__buf *b, const ft__nvml *n, unsigned gpu, void *device,
                      const char *key, unsigned field, unsigned scope)
{
    double watts = ft__nvml_field_watts(n, device, field, scope);

    if (isfinite(watts))
        ft__buf_fmt(b, "gpu%u.%s=%.0f\n", gpu, key, watts * 1e3);
}

static void numbers(ft__buf *b, const unsigned *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        ft__buf_fmt(b, "%s%u", i ? " " : "", v[i]);
    ft__buf_str(b, "\n");
}

static void supported(ft__buf *b, const ft__nvml *n, unsigned gpu, void *device)
{
    unsigned memory[64], core[512], n_memory = 64, n_core;

    if (!n->memory_clocks || !n->core_clocks ||
        n->memory_clocks(device, &n_memory, memory))
        return;
    ft__buf_fmt(b, "gpu%u.memory_clocks=", gpu);
    numbers(b, memory, n_memory);
    for (unsigned i = 0; i < n_memory; i++) {
        n_core = 512;
        if (n->core_clocks(device, memory[i], &n_core, core))
            continue;
        ft__buf_fmt(b, "gpu%u.clocks_at_%u=", gpu, memory[i]);
        numbers(b, core, n_core);
    }
}

static void limits(ft__buf *b, const ft__nvml *n, unsigned gpu, void *d)
{
    unsigned least, most;

    ask(b, gpu, d, "limit_mw", "GetPowerManagementLimit", n->power_limit);
    ask(b, gpu, d, "default_limit_mw", "GetPowerManagementDefaultLimit",
        n->power_limit_default);
    if (FT__NVML_CALL(n, power_limit_range, d, &least, &most) == 0)
        ft__buf_fmt(b, "gpu%u.least_limit_mw=%u\ngpu%u.most_limit_mw=%u\n", gpu, least,
                    gpu, most);
    ask_type(b, gpu, d, "slowdown_c", "GetTemperatureThreshold",
             n->temperature_threshold, FT__NVML_THRESHOLD_SLOWDOWN);
    ask_type(b, gpu, d, "shutdown_c", "GetTemperatureThreshold",
             n->temperature_threshold, FT__NVML_THRESHOLD_SHUTDOWN);
}

static void record_gpu(ft__buf *b, const ft__nvml *n, unsigned gpu)
{
    unsigned long long v = 0;
    unsigned now = 0, next;
    char name[96] = "";
    void *d;

    if (n->handle_by_index(gpu, &d))
        return;
    if (FT__NVML_CALL(n, name, d, name, sizeof(name)) == 0)
        ft__buf_fmt(b, "gpu%u.name=%s\n", gpu, name);
    ask(b, gpu, d, "power_mw", "GetPowerUsage", n->power_usage);
    ask_watts(b, n, gpu, d, "average_mw", FT__NVML_POWER_AVERAGE, FT__NVML_SCOPE_GPU);
    ask_watts(b, n, gpu, d, "instant_mw", FT__NVML_POWER_INSTANT, FT__NVML_SCOPE_GPU);
    ask_watts(b, n, gpu, d, "memory_mw", FT__NVML_POWER_AVERAGE, FT__NVML_SCOPE_MEMORY);
    ask_watts(b, n, gpu, d, "module_mw", FT__NVML_POWER_AVERAGE, FT__NVML_SCOPE_MODULE);
    if (n->total_energy) {
        int code = n->total_energy(d, &v);

        number(b, gpu, "energy_mj", "GetTotalEnergyConsumption", code, v);
    }
    limits(b, n, gpu, d);
    ask_type(b, gpu, d, "clock", "GetClockInfo", n->clock, FT__NVML_CLOCK_SM);
    ask_type(b, gpu, d, "memory_clock", "GetClockInfo", n->clock,
             FT__NVML_CLOCK_MEMORY);
    ask_type(b, gpu, d, "app_clock", "GetApplicationsClock", n->clock_application,
             FT__NVML_CLOCK_SM);
    ask_type(b, gpu, d, "app_memory", "GetApplicationsClock", n->clock_application,
             FT__NVML_CLOCK_MEMORY);
    ask_type(b, gpu, d, "temperature_c", "GetTemperature", n->temperature, 0);
    if (FT__NVML_CALL(n, throttle_reasons, d, &v) == 0)
        ft__buf_fmt(b, "gpu%u.throttle=%#llx\n", gpu, v);
    if (FT__NVML_CALL(n, mig_mode, d, &now, &next) == 0)
        ft__buf_fmt(b, "gpu%u.mig=%u\n", gpu, now);
    supported(b, n, gpu, d);
}

static ft_status record_nvml(struct recorder *r, const char *library, ft_error *err)
{
    ft__nvml n = {0};
    ft__buf text = {0};
    char driver[96] = "";
    ft_status st;

    if (!ft__nvml_open(&n, library, false)) {
        snprintf(r->out->no_nvml, sizeof(r->out->no_nvml), "%s", n.reason);
        return FT_OK;
    }
    if (FT__NVML_CALL(&n, driver_version, driver, sizeof(driver)) == 0)
        ft__buf_fmt(&text, "driver=%s\n", driver);
    ft__buf_fmt(&text, "gpus=%u\n", n.n_devices);
    for (unsigned i = 0; i < n.n_devices; i++)
        record_gpu(&text, &n, i);
    r->out->gpus = n.n_devices;
    ft__nvml_close(&n);
    st = text.bad ? ft_fail(err, FT_ENOMEM, 0, "recording")
                  : write_file(r, "nvml.txt", text.s, text.len, err);
    ft__buf_free(&text);
    return st;
}

static ft_status record_trace(struct recorder *r, const ft_record_options *opt,
                              ft_error *err)
{
    ft_meter_options how = {.root = opt->root, .nvml = opt->nvml};
    ft_error why = {0};
    ft__buf path = {0};
    ft_meter *m;
    ft_trace t = {0};
    ft_status st;

    if (ft_meter_open(&m, &how, &why)) {
        snprintf(r->out->no_trace, sizeof(r->out->no_trace), "%s", why.msg);
        return FT_OK;
    }
    st = ft__meter_start(m, err);
    if (!st) {
        ft__sleep_s(opt->trace_s);
        st = ft__meter_stop(m, &t, err);
    }
    ft__buf_fmt(&path, "%s/trace.csv", r->dir);
    if (!st)
        st = path.bad ? ft_fail(err, FT_ENOMEM, 0, "recording")
                      : ft__trace_write(&t, path.s, err);
    for (uint32_t i = 0; i < t.n_domains; i++)
        r->out->readings += t.n[i];
    ft_trace_free(&t);
    ft_meter_close(m);
    ft__buf_free(&path);
    return st;
}

ft_status ft_machine_record(ft_record *out, const char *dir,
                            const ft_record_options *opt, ft_error *err)
{
    struct recorder r = {.dir = dir, .root = opt->root ? opt->root : "", .out = out};
    ft_status st;

    *out = (ft_record){0};
    if (mkdir(dir, 0777))
        return ft_fail(err, FT_EIO, 0, "cannot make the folder %s: %s", dir,
                       strerror(errno));
    st = record_files(&r, err);
    if (!st)
        st = r.files.bad ? ft_fail(err, FT_ENOMEM, 0, "recording")
                         : write_file(&r, "files.txt", r.files.s ? r.files.s : "",
                                      r.files.len, err);
    if (!st && (!*r.root || opt->nvml))
        st = record_nvml(&r, opt->nvml, err);
    if (!st && opt->trace_s > 0)
        st = record_trace(&r, opt, err);
    ft__buf_free(&r.files);
    return st;
}
