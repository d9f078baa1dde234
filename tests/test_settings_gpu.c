#include "device/clocks/hold.h"
#include "device/clocks/record.h"
#include "settings_rig.h"

static struct path gpu_file;

static void make_gpu(struct rig *r, const char *keys)
{
    make_rig(r, "bare-vm");
    gpu_file = path("%s.gpu", r->root.s);
    write_text(gpu_file.s, keys);
    setenv("FAKE_NVML", gpu_file.s, 1);
    r->how.nvml = fake_nvml;
}

/* The last value of a key of the fake library's file. */
static bool gpu_has(const char *key, const char *value)
{
    char text[4096], line[128];
    const char *last = NULL;

    read_text(text, sizeof(text), gpu_file.s);
    snprintf(line, sizeof(line), "gpu0.%s=", key);
    for (const char *p = text; (p = strstr(p, line)); p++)
        last = p + strlen(line);
    return last
               ? strncmp(last, value, strlen(value)) == 0 && last[strlen(value)] == '\n'
               : !*value;
}

TEST(a_gpu_is_locked_and_freed)
{
    ft_settings want = {.device = "nvml:0",
                        .core_clock_hz = 1.15e9,
                        .memory_clock_hz = 8.1e8,
                        .power_cap_w = 150};
    ft_held_settings *h;
    char text[128];
    struct rig r;

    make_gpu(&r, "gpus=1\n");
    CHECK_EQ(ft_settings_hold(&h, &want, &r.how, NULL), FT_OK);
    CHECK(gpu_has("locked", "1200") && gpu_has("memory_locked", "810"));
    CHECK(gpu_has("limit_mw", "150000"));
    ft_settings_print(ft_settings_held(h), text, sizeof(text));
    CHECK(SAME(text, "device=nvml:0 clock=1200MHz memory=810MHz power=150W"));
    CHECK_EQ(ft_settings_restore_take(h, NULL), FT_OK);
    CHECK(gpu_has("locked", "0") && gpu_has("memory_locked", "0"));
    CHECK(gpu_has("limit_mw", "300000"));
    CHECK(gpu_has("app_clock", "")); /* never touched */
}

TEST(a_gpu_that_cannot_lock_is_set_by_application_clocks)
{
    ft_settings want = {.device = "nvml:0", .core_clock_hz = 9e8};
    ft_held_settings *h;
    struct rig r;

    make_gpu(&r, "gpus=1\ngpu0.SetGpuLockedClocks=3\ngpu0.ResetGpuLockedClocks=3\n");
    CHECK_EQ(ft_settings_hold(&h, &want, &r.how, NULL), FT_OK);
    CHECK(gpu_has("app_clock", "900") && gpu_has("app_memory", "1215"));
    CHECK_EQ(ft_settings_restore_take(h, NULL), FT_OK);
    CHECK(gpu_has("app_clock", "1200"));
}

TEST(a_gpu_says_who_may_set_it)
{
    static const struct {
        const char *keys;
        ft_settings want;
        const char *says;
    } cases[] = {
        /* clang-format off */
        {"gpu0.SetGpuLockedClocks=4\ngpu0.SetApplicationsClocks=4\n",
         {.device = "nvml:0", .core_clock_hz = 9e8},
         "clocks may only be set by root; run with sudo, or: sudo nvidia-smi -i 0 -acp UNRESTRICTED"},
        {"gpu0.SetPowerManagementLimit=4\n", {.device = "nvml:0", .power_cap_w = 150},
         "power cap may only be set by root; run with sudo, or: sudo nvidia-smi -i 0 -pl 150"},
        {"", {.device = "nvml:0", .power_cap_w = 900}, "no power cap of 900 W; it goes from 100 to 300 W"},
        {"", {.device = "nvml:0", .core_clock_hz = 3e9}, "no core clock of 3000 MHz; it goes from 210 to 1410 MHz"},
        {"", {.device = "nvml:3", .core_clock_hz = 9e8}, "no device \"nvml:3\" here"},
        {"", {.device = "gpu", .core_clock_hz = 9e8}, "no device \"gpu\" here"},
        {"", {.device = "nvml:0", .governor = "x"}, "has no CPUs, governors and turbo"},
        {"gpu0.GetSupportedMemoryClocks=3\n", {.device = "nvml:0", .memory_clock_hz = 9e8}, "does not tell its memory clocks"},
        /* clang-format on */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_held_settings *h;
        ft_error err = {0};
        struct rig r;

        make_gpu(&r, path("gpus=1\n%s", cases[i].keys).s);
        CHECK(CMP(ft_settings_hold(&h, &cases[i].want, &r.how, &err), <, 0));
        if (!strstr(err.msg, cases[i].says))
            fprintf(stderr, "case %zu: %s\n", i, err.msg);
        CHECK(HAS(err.msg, cases[i].says));
        CHECK(gpu_has("locked", "") && gpu_has("limit_mw", ""));
        CHECK(!has_record(&r, FT__RECORD_HELD) && EQ(ft__state_holder(r.state.s), 0));
    }
}

TEST(what_a_gpu_took_before_it_failed_is_put_back)
{
    ft_settings want = {.device = "nvml:0", .core_clock_hz = 9e8, .power_cap_w = 150};
    ft_held_settings *h;
    ft_error err = {0};
    struct rig r;

    make_gpu(&r, "gpus=1\ngpu0.SetGpuLockedClocks=999\n");
    CHECK_EQ(ft_settings_hold(&h, &want, &r.how, &err), FT_EIO);
    CHECK(gpu_has("limit_mw", "300000") && !has_record(&r, FT__RECORD_HELD));
    make_gpu(&r, "gpus=1\ngpu0.SetGpuLockedClocks=999\n");
    CHECK_EQ(ft_settings_keep(NULL, &want, &r.how, &err), FT_EIO);
    CHECK(gpu_has("limit_mw", "300000") && !has_record(&r, FT__RECORD_KEPT));
}

int main(int argc, char **argv)
{
    set_up(argc, argv);

    check_all();

    remove_scratch();
    CHECK_DONE();
}
