/* A device file: YAML to facts. */
#include "device/spec/device.h"

#include <cyaml/cyaml.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* One list of keys. TEXT: as it stands, required or not. NUMBER: the unit of
 * the key, as a factor, and the fact it gives. */
#define KEYS(TEXT, NUMBER)                                                             \
    TEXT(title, 0)                                                                     \
    TEXT(vendor, 0)                                                                    \
    TEXT(type, 0)                                                                      \
    TEXT(chip, CYAML_FLAG_OPTIONAL)                                                    \
    TEXT(source, 0)                                                                    \
    TEXT(note, CYAML_FLAG_OPTIONAL)                                                    \
    NUMBER(cores, 1, cores)                                                            \
    NUMBER(base_clock_mhz, 1e6, base_clock_hz)                                         \
    NUMBER(boost_clock_mhz, 1e6, boost_clock_hz)                                       \
    NUMBER(load_clock_mhz, 1e6, load_clock_hz)                                         \
    NUMBER(memory_clock_mhz, 1e6, memory_clock_hz)                                     \
    NUMBER(peak_fp64_tflops, 1e12, peak_fp64)                                          \
    NUMBER(peak_fp32_tflops, 1e12, peak_fp32)                                          \
    NUMBER(peak_tf32_tflops, 1e12, peak_tf32)                                          \
    NUMBER(peak_fp16_tflops, 1e12, peak_fp16)                                          \
    NUMBER(peak_bf16_tflops, 1e12, peak_bf16)                                          \
    NUMBER(peak_fp8_tflops, 1e12, peak_fp8)                                            \
    NUMBER(peak_fp4_tflops, 1e12, peak_fp4)                                            \
    NUMBER(peak_int8_tops, 1e12, peak_int8)                                            \
    NUMBER(bandwidth_gb_s, 1e9, bandwidth_bytes_per_s)                                 \
    NUMBER(memory_gib, 0x1p30, memory_bytes)                                           \
    NUMBER(inline_ecc, 1, inline_ecc)                                                  \
    NUMBER(l2_mib, 0x1p20, l2_bytes)                                                   \
    NUMBER(l3_mib, 0x1p20, l3_bytes)                                                   \
    NUMBER(shared_memory_kib, 0x1p10, shared_memory_per_core_bytes)                    \
    NUMBER(tdp_w, 1, tdp_w)                                                            \
    NUMBER(drawing_tdp_w, 1, drawing_tdp_w)                                            \
    NUMBER(process_nm, 1, process_nm)                                                  \
    NUMBER(compute_capability, 1, compute_capability)                                  \
    NUMBER(year, 1, year)                                                              \
    NUMBER(link_gb_s, 1e9, link_bytes_per_s)                                           \
    NUMBER(link_devices, 1, link_devices)                                              \
    NUMBER(launch_factor, 1, launch_factor)

/* Numbers are taken as text: libcyaml would read "40 GB" as 40. */
struct yaml {
#define TEXT(key, flags) char *key;
#define NUMBER(key, factor, fact) char *key;
    KEYS(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
    char **aliases;
    unsigned aliases_count;
};

enum { MAX_VALUE = 1000, MAX_ALIASES = 100 };

static const cyaml_schema_value_t alias = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, MAX_VALUE)};

static const cyaml_schema_field_t fields[] = {
#define TEXT(key, flags)                                                               \
    CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER | (flags), struct yaml, key, 1,    \
                           MAX_VALUE),
#define NUMBER(key, factor, fact) TEXT(key, CYAML_FLAG_OPTIONAL)
    KEYS(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
        CYAML_FIELD_SEQUENCE("aliases", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                             struct yaml, aliases, &alias, 0, MAX_ALIASES),
    CYAML_FIELD_END};

static const cyaml_schema_value_t schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct yaml, fields)};

/* What libcyaml says while it loads: first the reason, then a backtrace, of
 * which the innermost line is kept. */
struct complaint {
    char what[200], key[64];
    unsigned long line;
};

static void listen(cyaml_log_t level, void *user, const char *fmt, va_list args)
{
    static const char unknown[] = "Load: Unexpected key: ";
    struct complaint *c = user;
    char text[256];

    (void)level;
    vsnprintf(text, sizeof(text), fmt, args);
    text[strcspn(text, "\n")] = '\0';
    if (strncmp(text, unknown, sizeof(unknown) - 1) == 0) {
        snprintf(c->key, sizeof(c->key), "%.63s", text + sizeof(unknown) - 1);
        snprintf(c->what, sizeof(c->what), "there is no such key");
    } else if (strncmp(text, "  in ", 5) == 0) {
        if (!c->line && !c->key[0])
            (void)sscanf(text, "  in mapping field '%63[^']' (line: %lu", c->key,
                         &c->line);
        if (!c->line)
            (void)sscanf(text, "  in mapping (line: %lu", &c->line);
    } else if (!c->what[0]) {
        snprintf(c->what, sizeof(c->what), "%.199s",
                 text + (strncmp(text, "Load: ", 6) == 0 ? 6 : 0));
    }
}

/* The line that begins with "key:"; `otherwise` when there is none. */
static unsigned long line_of(const char *key, const char *bytes, size_t len,
                             unsigned long otherwise)
{
    const char *p = bytes, *end = bytes + len;
    size_t n = strlen(key);

    for (unsigned long line = 1; n && p < end; line++) {
        const char *next = memchr(p, '\n', (size_t)(end - p));

        if ((size_t)(end - p) > n && memcmp(p, key, n) == 0 && p[n] == ':')
            return line;
        if (!next)
            break;
        p = next + 1;
    }
    return otherwise;
}

/* The file being read, for messages. */
struct device_text {
    const char *file, *bytes;
    size_t len;
    ft_error *err;
};

static ft_status bad_key(const struct device_text *in, const char *key,
                         unsigned long line, const char *what)
{
    line = line_of(key, in->bytes, in->len, line);
    return ft_fail(in->err, FT_EFORMAT, 0, "%s, line %lu, key %s: %s", in->file,
                   line ? line : 1, *key ? key : "(none)", what);
}

static ft_status load(struct yaml **y, cyaml_config_t *config,
                      const struct device_text *in)
{
    struct complaint c = {{0}, {0}, 0};
    cyaml_err_t rc;

    config->log_ctx = &c;
    rc = cyaml_load_data((const uint8_t *)in->bytes, in->len, config, &schema,
                         (cyaml_data_t **)y, NULL);
    if (rc == CYAML_ERR_OOM)
        return ft_fail(in->err, FT_ENOMEM, 0, "%s", in->file);
    /* Also when libcyaml only warned, as of a second document. */
    if (rc != CYAML_OK || c.what[0])
        return bad_key(in, c.key, c.line, c.what[0] ? c.what : cyaml_strerror(rc));
    if (!*y)
        return bad_key(in, "title", 1, "missing, the file is empty");
    return FT_OK;
}

static ft_status number(double *v, const char *text, double factor, const char *key,
                        const struct device_text *in)
{
    if (!text)
        return FT_OK;
    if (!ft__number_parse(text, v) || !(*v > 0))
        return bad_key(in, key, 0,
                       "a plain number above 0 is wanted; leave the key out where it "
                       "is not known");
    *v *= factor;
    return FT_OK;
}

static ft_status take_aliases(ft_device *d, const struct yaml *y,
                              const struct device_text *in)
{
    const char **names =
        ft__arena_array(&d->arena, y->aliases_count + 1, sizeof(*names));

    for (unsigned i = 0; names && i < y->aliases_count; i++) {
        names[i] = ft__arena_strndup(&d->arena, y->aliases[i], strlen(y->aliases[i]));
        if (!names[i])
            names = NULL;
    }
    if (!names)
        return ft_fail(in->err, FT_ENOMEM, 0, "%s", in->file);
    d->facts.aliases = names;
    d->facts.n_aliases = y->aliases_count;
    return FT_OK;
}

static ft_status take_facts(ft_device *d, const struct yaml *y,
                            const struct device_text *in)
{
    ft_device_facts *f = &d->facts;
    ft_status st = FT_OK;

#define TEXT(key, flags)                                                               \
    if (y->key)                                                                        \
        f->key = ft__arena_strndup(&d->arena, y->key, strlen(y->key));                 \
    if (!f->key)                                                                       \
        return ft_fail(in->err, FT_ENOMEM, 0, "%s", in->file);
#define NUMBER(key, factor, fact)                                                      \
    if (st == FT_OK)                                                                   \
        st = number(&f->fact, y->key, factor, #key, in);
    KEYS(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
    f->chip = *f->chip ? f->chip : f->name;
    if (st == FT_OK && strcmp(f->type, "gpu") != 0 && strcmp(f->type, "cpu") != 0)
        st = bad_key(in, "type", 0, "gpu or cpu is wanted");
    return st ? st : take_aliases(d, y, in);
}

ft_device *ft__device_new(void)
{
    ft_device *d = calloc(1, sizeof(*d));
    ft_device_facts *f = d ? &d->facts : NULL;

    if (!d)
        return NULL;
    f->name = f->title = f->vendor = f->type = f->chip = f->source = f->note =
        f->fingerprint = "";
#define TEXT(key, flags)
#define NUMBER(key, factor, fact) f->fact = NAN;
    KEYS(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
    return d;
}

void ft_device_free(ft_device *d)
{
    if (!d)
        return;
    ft__arena_free(&d->arena);
    free(d);
}

const ft_device_facts *ft_device_get(const ft_device *d)
{
    return &d->facts;
}

ft_status ft__device_parse(ft_device **out, const char *name, const void *bytes,
                           size_t len, const char *file, ft_error *err)
{
    cyaml_config_t config = {.log_fn = listen,
                             .log_level = CYAML_LOG_WARNING,
                             .mem_fn = cyaml_mem,
                             .flags = CYAML_CFG_NO_ALIAS};
    const struct device_text in = {file, bytes, len, err};
    ft_device *d = ft__device_new();
    struct yaml *y = NULL;
    ft_status st;

    *out = NULL;
    if (!d || !(d->facts.name = ft__arena_strndup(&d->arena, name, strlen(name)))) {
        st = ft_fail(err, FT_ENOMEM, 0, "%s", file);
        goto fail;
    }
    d->facts.fingerprint = d->facts.name;
    st = load(&y, &config, &in);
    if (st == FT_OK)
        st = take_facts(d, y, &in);
    if (st != FT_OK)
        goto fail;
    cyaml_free(&config, &schema, y, 0);
    *out = d;
    return FT_OK;

fail:
    cyaml_free(&config, &schema, y, 0);
    ft_device_free(d);
    return st;
}
