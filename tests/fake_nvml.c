/* A small libnvidia-ml. As it comes it has three GPUs, of which 0 counts energy
 * and tells power, 1 tells power only, and 2 is lost; each look at the counter of
 * 0 moves it by 5 J.
 *
 * The file that the environment's FAKE_NVML names changes that, and keeps what is
 * set, across processes: lines "key=value", the last one of a key counts; setting
 * something adds a line. Keys:
 *
 *   gpus                              how many
 *   gpu0.name  gpu0.uuid              text
 *   gpu0.power_mw                     of nvmlDeviceGetPowerUsage and the fields
 *   gpu0.average_mw gpu0.instant_mw gpu0.memory_mw gpu0.module_mw   of fields
 *   gpu0.energy_step_mj               a look at the counter moves it by this
 *   gpu0.update_ms                    instead, it counts power_mw by the clock of
 *                                     fake_now.h, and
 *                                     moves this often; power then swings by 1 %
 *   gpu0.clock gpu0.memory_clock      MHz as it runs when nothing is locked
 *   gpu0.locked gpu0.memory_locked    MHz as locked, 0: not
 *   gpu0.app_clock gpu0.app_memory    application clocks
 *   gpu0.limit_mw                     power cap; default_limit_mw, least_limit_mw,
 *                                     most_limit_mw: what it may be
 *   gpu0.memory_clocks gpu0.clocks_at_810   MHz that can be chosen, largest first
 *   gpu0.temperature_c gpu0.throttle gpu0.mig
 *   gpu0.FUNCTION                     an error code that nvmlDeviceFUNCTION gives
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/nvml.h"
#include "fake_now.h"

enum { N_GPUS = 8 };

static int gpus[N_GPUS];
static unsigned long long counter[N_GPUS];

/* The text behind the last "key=" of the file; false: there is none. */
static int look(char *text, size_t size, const char *key)
{
    const char *path = getenv("FAKE_NVML");
    FILE *fp = path ? fopen(path, "r") : NULL;
    size_t len = strlen(key);
    char line[4096];
    int found = 0;

    while (fp && fgets(line, sizeof(line), fp))
        if (strncmp(line, key, len) == 0 && line[len] == '=') {
            line[strcspn(line, "\n")] = '\0';
            snprintf(text, size, "%s", line + len + 1);
            found = 1;
        }
    if (fp)
        fclose(fp);
    return found;
}

/* Exported functions are declared nowhere else. */
#define EXPORT(name, ...)                                                              \
    int name(__VA_ARGS__);                                                             \
    int name(__VA_ARGS__)

static int index_of(const void *device)
{
    return (int)((const int *)device - gpus);
}

static unsigned long long get(const void *device, const char *what,
                              unsigned long long usual)
{
    char key[64], text[128];

    snprintf(key, sizeof(key), "gpu%d.%s", index_of(device), what);
    return look(text, sizeof(text), key) ? strtoull(text, NULL, 0) : usual;
}

static int set(const void *device, const char *what, unsigned value)
{
    const char *path = getenv("FAKE_NVML");
    FILE *fp = path ? fopen(path, "a") : NULL;

    if (!fp)
        return FT__NVML_NO_PERMISSION;
    fprintf(fp, "gpu%d.%s=%u\n", index_of(device), what, value);
    fclose(fp);
    return 0;
}

/* The error that the file asks for; GPU 2 is lost unless it says otherwise. */
static int failure(const void *device, const char *function)
{
    unsigned long long lost = index_of(device) == 2 && !getenv("FAKE_NVML");

    return (int)get(device, function, lost ? FT__NVML_LOST : 0);
}

#define FAIL_IF_ASKED(function)                                                        \
    do {                                                                               \
        int asked = failure(device, function);                                         \
        if (asked)                                                                     \
            return asked;                                                              \
    } while (0)

static int answer(unsigned *v, const void *device, const char *what, unsigned usual)
{
    *v = (unsigned)get(device, what, usual);
    return 0;
}

EXPORT(nvmlInit_v2, void)
{
    return 0;
}

EXPORT(nvmlShutdown, void)
{
    return 0;
}

EXPORT(nvmlDeviceGetCount_v2, unsigned *n)
{
    char text[32];

    *n = look(text, sizeof(text), "gpus") ? (unsigned)strtoul(text, NULL, 10) : 3;
    return 0;
}

EXPORT(nvmlDeviceGetHandleByIndex_v2, unsigned index, void **device)
{
    *device = &gpus[index % N_GPUS];
    return 0;
}

EXPORT(nvmlSystemGetDriverVersion, char *text, unsigned size)
{
    snprintf(text, size, "570.00");
    return 0;
}

static int text_of(const void *device, const char *what, char *text, unsigned size)
{
    char key[64];

    snprintf(key, sizeof(key), "gpu%d.%s", index_of(device), what);
    if (!look(text, size, key))
        snprintf(text, size, strcmp(what, "name") ? "GPU-%08d" : "Fake GPU %d",
                 index_of(device));
    return 0;
}

EXPORT(nvmlDeviceGetName, void *device, char *text, unsigned size)
{
    return text_of(device, "name", text, size);
}

EXPORT(nvmlDeviceGetUUID, void *device, char *text, unsigned size)
{
    return text_of(device, "uuid", text, size);
}

EXPORT(nvmlDeviceGetHandleByUUID, const char *uuid, void **device)
{
    char text[96];

    for (int i = 0; i < N_GPUS; i++) {
        text_of(&gpus[i], "uuid", text, sizeof(text));
        *device = &gpus[i];
        if (strcmp(text, uuid) == 0)
            return 0;
    }
    return FT__NVML_NOT_FOUND;
}

EXPORT(nvmlDeviceGetPciInfo_v3, void *device, ft__nvml_pci *pci)
{
    memset(pci, 0, sizeof(*pci));
    pci->bus = (unsigned)index_of(device) + 1;
    snprintf(pci->id, sizeof(pci->id), "00000000:%02X:00.0", pci->bus);
    return 0;
}

EXPORT(nvmlDeviceGetMigMode, void *device, unsigned *now, unsigned *next)
{
    FAIL_IF_ASKED("GetMigMode");
    answer(next, device, "mig", 0);
    return answer(now, device, "mig", 0);
}

/* Values change every update_ms; 0: at every look. */
static unsigned long long updates(const void *device)
{
    unsigned long long ms = get(device, "update_ms", 0);

    return ms ? (unsigned long long)(now_s() * 1e3) / ms : 0;
}

static unsigned milliwatts_of(const void *device, const char *what)
{
    unsigned long long usual = get(device, "power_mw", 61500);
    unsigned long long mw = get(device, what, usual), at = updates(device);

    return (unsigned)(at % 2 ? mw + mw / 100 : mw);
}

EXPORT(nvmlDeviceGetPowerUsage, void *device, unsigned *milliwatts)
{
    FAIL_IF_ASKED("GetPowerUsage");
    *milliwatts = milliwatts_of(device, "power_mw");
    return 0;
}

EXPORT(nvmlDeviceGetTotalEnergyConsumption, void *device,
       unsigned long long *millijoules)
{
    int which = index_of(device);
    unsigned long long ms = get(device, "update_ms", 0), at = updates(device);
    unsigned long long mw = get(device, "power_mw", 61500);

    FAIL_IF_ASKED("GetTotalEnergyConsumption");
    if (!getenv("FAKE_NVML") && which != 0)
        return FT__NVML_NOT_SUPPORTED;
    if (ms)
        *millijoules = at * ms * mw / 1000;
    else
        *millijoules =
            1000000 + (counter[which] += get(device, "energy_step_mj", 5000));
    return 0;
}

static void fill_field(const void *device, ft__nvml_field *f)
{
    static const char *const part[] = {"", "module_mw", "memory_mw"};
    const char *what = f->field == FT__NVML_POWER_AVERAGE ? "average_mw" : "instant_mw";

    f->code = FT__NVML_NOT_SUPPORTED;
    if ((f->field != FT__NVML_POWER_AVERAGE && f->field != FT__NVML_POWER_INSTANT) ||
        f->scope > FT__NVML_SCOPE_MEMORY || !getenv("FAKE_NVML"))
        return;
    what = f->scope ? part[f->scope] : what;
    if (f->scope && !get(device, what, 0))
        return;
    f->code = failure(device, "GetFieldValues");
    f->type = 1;
    f->value.ui = milliwatts_of(device, what);
}

EXPORT(nvmlDeviceGetFieldValues, void *device, int n, ft__nvml_field *f)
{
    FAIL_IF_ASKED("GetFieldValues");
    for (int i = 0; i < n; i++)
        fill_field(device, &f[i]);
    return 0;
}

EXPORT(nvmlDeviceGetPowerManagementLimit, void *device, unsigned *mw)
{
    FAIL_IF_ASKED("GetPowerManagementLimit");
    return answer(mw, device, "limit_mw", 300000);
}

EXPORT(nvmlDeviceGetPowerManagementDefaultLimit, void *device, unsigned *mw)
{
    FAIL_IF_ASKED("GetPowerManagementDefaultLimit");
    return answer(mw, device, "default_limit_mw", 300000);
}

EXPORT(nvmlDeviceGetPowerManagementLimitConstraints, void *device, unsigned *least,
       unsigned *most)
{
    FAIL_IF_ASKED("GetPowerManagementLimitConstraints");
    answer(least, device, "least_limit_mw", 100000);
    return answer(most, device, "most_limit_mw", 300000);
}

EXPORT(nvmlDeviceSetPowerManagementLimit, void *device, unsigned mw)
{
    FAIL_IF_ASKED("SetPowerManagementLimit");
    return mw < get(device, "least_limit_mw", 100000) ||
                   mw > get(device, "most_limit_mw", 300000)
               ? FT__NVML_BAD_ARGUMENT
               : set(device, "limit_mw", mw);
}

/* The largest first. */
static int list(unsigned *n, unsigned *out, const void *device, const char *what,
                const char *usual)
{
    char key[64], text[4096], *end = text;
    unsigned count = 0, v[512];

    snprintf(key, sizeof(key), "gpu%d.%s", index_of(device), what);
    if (!look(text, sizeof(text), key))
        snprintf(text, sizeof(text), "%s", usual);
    while (*end && count < 512)
        v[count++] = (unsigned)strtoul(end, &end, 10);
    if (*n < count) {
        *n = count;
        return FT__NVML_INSUFFICIENT_SIZE;
    }
    *n = count;
    memcpy(out, v, count * sizeof(*v));
    return 0;
}

static int memory_clocks(const void *device, unsigned *n, unsigned *mhz)
{
    return list(n, mhz, device, "memory_clocks", "1215 810");
}

static int core_clocks(const void *device, unsigned memory, unsigned *n, unsigned *mhz)
{
    char what[32];

    snprintf(what, sizeof(what), "clocks_at_%u", memory);
    return list(n, mhz, device, what, "1410 1200 900 600 210");
}

/* The k-th clock at the largest memory clock. */
static unsigned clock_of(const void *device, int memory, int k)
{
    unsigned v[512] = {0}, n = 512, largest;

    memory_clocks(device, &n, v);
    largest = v[0];
    n = 512;
    if (!memory)
        core_clocks(device, largest, &n, v);
    return v[k];
}

EXPORT(nvmlDeviceGetSupportedMemoryClocks, void *device, unsigned *n, unsigned *mhz)
{
    FAIL_IF_ASKED("GetSupportedMemoryClocks");
    return memory_clocks(device, n, mhz);
}

EXPORT(nvmlDeviceGetSupportedGraphicsClocks, void *device, unsigned memory, unsigned *n,
       unsigned *mhz)
{
    FAIL_IF_ASKED("GetSupportedGraphicsClocks");
    return core_clocks(device, memory, n, mhz);
}

EXPORT(nvmlDeviceGetClockInfo, void *device, int type, unsigned *mhz)
{
    int memory = type == FT__NVML_CLOCK_MEMORY;
    unsigned locked;

    FAIL_IF_ASKED("GetClockInfo");
    answer(&locked, device, memory ? "memory_locked" : "locked", 0);
    *mhz = locked;
    if (!locked && memory)
        return answer(mhz, device, "memory_clock", clock_of(device, 1, 0));
    return locked ? 0 : answer(mhz, device, "clock", clock_of(device, 0, 0));
}

EXPORT(nvmlDeviceGetMaxClockInfo, void *device, int type, unsigned *mhz)
{
    FAIL_IF_ASKED("GetMaxClockInfo");
    *mhz = clock_of(device, type == FT__NVML_CLOCK_MEMORY, 0);
    return 0;
}

EXPORT(nvmlDeviceGetApplicationsClock, void *device, int type, unsigned *mhz)
{
    int memory = type == FT__NVML_CLOCK_MEMORY;

    FAIL_IF_ASKED("GetApplicationsClock");
    return answer(mhz, device, memory ? "app_memory" : "app_clock",
                  clock_of(device, memory, !memory));
}

EXPORT(nvmlDeviceGetDefaultApplicationsClock, void *device, int type, unsigned *mhz)
{
    FAIL_IF_ASKED("GetDefaultApplicationsClock");
    *mhz =
        clock_of(device, type == FT__NVML_CLOCK_MEMORY, type != FT__NVML_CLOCK_MEMORY);
    return 0;
}

EXPORT(nvmlDeviceSetGpuLockedClocks, void *device, unsigned least, unsigned most)
{
    FAIL_IF_ASKED("SetGpuLockedClocks");
    (void)least;
    return set(device, "locked", most);
}

EXPORT(nvmlDeviceResetGpuLockedClocks, void *device)
{
    FAIL_IF_ASKED("ResetGpuLockedClocks");
    return set(device, "locked", 0);
}

EXPORT(nvmlDeviceSetMemoryLockedClocks, void *device, unsigned least, unsigned most)
{
    FAIL_IF_ASKED("SetMemoryLockedClocks");
    (void)least;
    return set(device, "memory_locked", most);
}

EXPORT(nvmlDeviceResetMemoryLockedClocks, void *device)
{
    FAIL_IF_ASKED("ResetMemoryLockedClocks");
    return set(device, "memory_locked", 0);
}

EXPORT(nvmlDeviceSetApplicationsClocks, void *device, unsigned memory, unsigned core)
{
    int code;

    FAIL_IF_ASKED("SetApplicationsClocks");
    code = set(device, "app_memory", memory);
    return code ? code : set(device, "app_clock", core);
}

EXPORT(nvmlDeviceResetApplicationsClocks, void *device)
{
    int code;

    FAIL_IF_ASKED("ResetApplicationsClocks");
    code = set(device, "app_memory", clock_of(device, 1, 0));
    return code ? code : set(device, "app_clock", clock_of(device, 0, 1));
}

EXPORT(nvmlDeviceGetTemperature, void *device, int sensor, unsigned *celsius)
{
    FAIL_IF_ASKED("GetTemperature");
    (void)sensor;
    return answer(celsius, device, "temperature_c", 40);
}

EXPORT(nvmlDeviceGetTemperatureThreshold, void *device, int which, unsigned *celsius)
{
    FAIL_IF_ASKED("GetTemperatureThreshold");
    return answer(celsius, device,
                  which == FT__NVML_THRESHOLD_SHUTDOWN ? "shutdown_c" : "slowdown_c",
                  which == FT__NVML_THRESHOLD_SHUTDOWN ? 95 : 90);
}

EXPORT(nvmlDeviceGetCurrentClocksThrottleReasons, void *device,
       unsigned long long *reasons)
{
    FAIL_IF_ASKED("GetCurrentClocksThrottleReasons");
    *reasons = get(device, "throttle", 0);
    return 0;
}

const char *nvmlErrorString(int code);
const char *nvmlErrorString(int code)
{
    switch (code) {
    case FT__NVML_BAD_ARGUMENT: return "Invalid Argument";
    case FT__NVML_NO_PERMISSION: return "Insufficient Permissions";
    case FT__NVML_LOST: return "GPU is lost";
    default: return "Not Supported";
    }
}
