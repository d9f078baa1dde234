/* What a row of an import measured, and how that comes into the store. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "device/spec/device.h"
#include "foretell/device.h"
#include "graph/op_inside.h"
#include "measure/dataset_import.h"

static void out_of_memory(ft__import *im)
{
    if (!im->st)
        im->st = ft_fail(im->err, FT_ENOMEM, 0, "importing %s", im->source);
}

static const char *keep(ft__import *im, const char *text)
{
    const char *copy = ft__arena_strndup(&im->arena, text, strlen(text));

    if (!copy)
        out_of_memory(im);
    return copy ? copy : "";
}

/* ---- devices ---- */

/* As a device without a file is called: its title in lower case, blanks as '-'. */
static void plain_name(char *out, size_t size, const char *title)
{
    size_t n = 0;

    for (; title[n] && n + 1 < size; n++) {
        char c = title[n];

        out[n] = c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    out[n] = '\0';
}

static double tdp_of(const char *data_dir, const char *name)
{
    ft_device *d;
    double w = NAN;

    if (ft_device_load(&d, data_dir, name, NULL))
        return NAN;
    w = ft_device_get(d)->tdp_w;
    ft_device_free(d);
    return w;
}

/* Name what has no device file in the report, once. */
static void note_unknown(ft__import *im, const char *title)
{
    char *list = im->out->unknown_devices;
    size_t n = strlen(list), size = sizeof(im->out->unknown_devices);

    snprintf(list + n, size - n, "%s\"%s\"", n ? ", " : "", title);
}

static ft_status learn_device(ft__import *im, const char *title, ft__known_device *d)
{
    char name[256];
    ft_status st = FT_ENOTFOUND;

    if (im->data_dir)
        st = ft__device_find(name, sizeof(name), im->data_dir, title, im->err);
    if (st && st != FT_ENOTFOUND)
        return st;
    if (st) {
        plain_name(name, sizeof(name), title);
        note_unknown(im, title);
    }
    d->tdp_w = st ? NAN : tdp_of(im->data_dir, name);
    d->name = keep(im, name);
    return im->st;
}

void ft__device(ft__import *im, const char *title)
{
    ft__index_slot *slot =
        ft__index_at(&im->devices, ft__hash_text(FT__HASH_BEGIN, title), title);
    ft__known_device *known;

    im->device = NULL;
    if (im->st)
        return;
    if (!*title) {
        ft__wrong(im, FT__C_device, "a device is needed here");
        return;
    }
    if (slot && !slot->hash) {
        known = realloc(im->known, (im->n_known + 1) * sizeof(*known));
        if (!known) {
            out_of_memory(im);
            return;
        }
        im->known = known;
        im->st = learn_device(im, title, &known[im->n_known]);
        *slot = (ft__index_slot){ft__hash_text(FT__HASH_BEGIN, title), keep(im, title),
                                 (int64_t)im->n_known++};
        im->devices.n++;
    }
    if (slot)
        im->device = &im->known[slot->number];
    else
        out_of_memory(im);
}

double ft__device_tdp(const ft__import *im)
{
    return im->device ? im->device->tdp_w : NAN;
}

/* ---- the other parts of the key ---- */

/* A value within "name=value name=value": without blanks. */
static void add_value(ft__buf *b, const char *value)
{
    for (; *value; value++)
        ft__buf_add(b, *value == ' ' ? "_" : value, 1);
}

void ft__engine(ft__import *im, const char *name, const char *version)
{
    im->engine.len = im->version.len = 0;
    ft__buf_str(&im->engine, name);
    ft__buf_str(&im->version, version);
}

void ft__policy(ft__import *im, const char *policy)
{
    im->policy = policy;
}

void ft__setting(ft__import *im, const char *name, const char *value)
{
    if (!*value)
        return;
    ft__buf_fmt(&im->setting, "%s%s=", im->setting.len ? " " : "", name);
    add_value(&im->setting, value);
}

void ft__setting_unit(ft__import *im, const char *name, double value, const char *unit)
{
    char text[64];

    if (isnan(value))
        return;
    snprintf(text, sizeof(text), "%.10g%s", value, unit);
    ft__setting(im, name, text);
}

/* Days since 1970 of a date of the Gregorian calendar (Fliegel and Van Flandern). */
static int64_t days(int64_t y, int64_t m, int64_t d)
{
    int64_t a = (m - 14) / 12;

    return 1461 * (y + 4800 + a) / 4 + 367 * (m - 2 - 12 * a) / 12 -
           3 * ((y + 4900 + a) / 100) / 4 + d - 32075 - 2440588;
}

void ft__when(ft__import *im, const char *text)
{
    int y, mo, d, h, mi, s;

    if (sscanf(text, "%4d-%2d-%2d_%2d-%2d-%2d", &y, &mo, &d, &h, &mi, &s) == 6 &&
        y >= 1970 && mo >= 1 && mo <= 12)
        im->taken_at = days(y, mo, d) * 86400 + h * 3600 + mi * 60 + s;
}

/* ---- what it is about ---- */

ft_op ft__op(ft_kind k, ft_dtype t, const ft_shape *x)
{
    ft_op op;

    ft__op_init(&op, k, t);
    if (x)
        ft__op_set_shape(&op, FT_K_x, x);
    return op;
}

static void about(ft__import *im, const char *spec, ft_phase phase)
{
    im->spec = im->text.len;
    ft__buf_str(&im->text, spec);
    ft__buf_add(&im->text, "", 1);
    im->phase = phase;
    if (im->text.bad)
        out_of_memory(im);
}

void ft__about(ft__import *im, const ft_op *op)
{
    char spec[FT__MAX_SPEC];
    ft_error why = {0};

    if (im->st)
        return;
    if (ft_op_check(op, &why))
        im->st = ft__rows_bad(im->rows, -1, why.msg, im->err);
    else if (ft_op_print(op, spec, sizeof(spec)) >= sizeof(spec))
        im->st =
            ft__rows_bad(im->rows, -1, "the operation's spec is too long", im->err);
    else
        about(im, spec, op->phase);
}

void ft__about_whole(ft__import *im, const char *kind, const char *name,
                     const char *rest, ft_phase phase)
{
    ft__buf spec = {0};

    if (im->st)
        return;
    ft__buf_fmt(&spec, "%s name=", kind);
    add_value(&spec, name);
    if (*rest)
        ft__buf_fmt(&spec, " %s", rest);
    if (spec.bad)
        out_of_memory(im);
    else
        about(im, spec.s, phase);
    ft__buf_free(&spec);
}

const char *ft__spec(const ft__import *im)
{
    return im->st || !im->text.len ? "" : im->text.s + im->spec;
}

void ft__value(ft__import *im, const char *metric, const char *unit, double value,
               double std, uint64_t iterations)
{
    if (isnan(value) || im->st)
        return;
    if (im->n_waiting == FT__MAX_WAITING) {
        im->st = ft__rows_bad(im->rows, -1, "too many values", im->err);
        return;
    }
    im->waiting[im->n_waiting++] = (ft__waiting){.spec = im->spec,
                                                 .phase = im->phase,
                                                 .metric = metric,
                                                 .unit = unit,
                                                 .m = {.unit = unit,
                                                       .value = value,
                                                       .error = NAN,
                                                       .mad = NAN,
                                                       .mean = NAN,
                                                       .std = std,
                                                       .n = 1,
                                                       .iterations = iterations,
                                                       .calibration_s = NAN}};
}

void ft__count_unknown(ft__import *im)
{
    im->out->unknown_ops += !im->unknown;
    im->unknown = true;
}

/* ---- members ---- */

/* Whose list of this whole counts: that of the first who had one. */
static bool is_list_of(ft__import *im, uint64_t whole)
{
    ft__index_slot *slot = ft__index_at(&im->wholes, whole, NULL);
    int64_t who = im->device ? im->device - im->known : -1;

    if (!slot) {
        out_of_memory(im);
        return false;
    }
    if (!slot->hash) {
        *slot = (ft__index_slot){whole, NULL, who};
        im->wholes.n++;
    }
    return slot->number == who;
}

static ft__listed *new_member(ft__import *im)
{
    ft__listed *more;

    if ((im->n_listed & (im->n_listed - 1)) == 0) { /* 0, 1, 2, 4, ... are full */
        more =
            realloc(im->listed, (im->n_listed ? 2 * im->n_listed : 1) * sizeof(*more));
        if (!more) {
            out_of_memory(im);
            return NULL;
        }
        im->listed = more;
    }
    return &im->listed[im->n_listed++];
}

void ft__member(ft__import *im, const char *source, const char *whole, ft_phase phase,
                double count, const char *note)
{
    uint64_t h =
        ft__hash_text(ft__hash_text(ft__hash_text(FT__HASH_BEGIN, source), whole),
                      ft_phase_name(phase));
    const char *part = im->text.s + im->spec;
    ft__index_slot *slot;
    ft__listed *l;

    if (im->st || !is_list_of(im, h))
        return;
    h = ft__hash_text(h, part);
    slot = ft__index_at(&im->parts, h, NULL);
    if (!slot) {
        out_of_memory(im);
        return;
    }
    if (slot->hash) {
        im->listed[slot->number].member.count += count;
        return;
    }
    l = new_member(im);
    if (!l)
        return;
    l->member = (ft_member){.source = keep(im, source),
                            .whole = keep(im, whole),
                            .phase = ft_phase_name(phase),
                            .part = keep(im, part),
                            .count = count,
                            .note = keep(im, note)};
    *slot = (ft__index_slot){h, NULL, l - im->listed};
    im->parts.n++;
}

ft_status ft__import_members_done(ft__import *im)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < im->n_listed && !st; i++)
        st = ft__store_add_member(im->store, &im->listed[i].member, im->err);
    im->out->members = im->n_listed;
    return st;
}

/* ---- the end of a row ---- */

static void add_json_text(ft__buf *b, const char *s)
{
    ft__buf_str(b, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            ft__buf_fmt(b, "\\%c", *s);
        else if ((unsigned char)*s < 0x20)
            ft__buf_fmt(b, "\\u%04x", (unsigned)(unsigned char)*s);
        else
            ft__buf_add(b, s, 1);
    }
    ft__buf_str(b, "\"");
}

/* A number as JSON writes it (RFC 8259, section 6). */
static bool is_json_number(const char *s)
{
    const char *digits = "0123456789";
    size_t n;

    s += *s == '-';
    n = strspn(s, digits);
    if (n == 0 || (n > 1 && *s == '0'))
        return false;
    s += n;
    if (*s == '.') {
        n = strspn(++s, digits);
        if (n == 0)
            return false;
        s += n;
    }
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '+' || *s == '-';
        n = strspn(s, digits);
        if (n == 0)
            return false;
        s += n;
    }
    return !*s;
}

/* What the row says besides: {"grid": "42x1x1", "layers": 24}. */
static void add_conditions(ft__import *im)
{
    ft__buf *b = &im->conditions;

    for (size_t i = 0; i < ft__rows_n_columns(im->rows); i++) {
        const char *text = ft__rows_text(im->rows, i);

        if (im->used[i] || !*text)
            continue;
        ft__buf_str(b, b->len ? ", " : "{");
        add_json_text(b, ft__rows_column_name(im->rows, i));
        ft__buf_str(b, ": ");
        if (is_json_number(text))
            ft__buf_str(b, text);
        else
            add_json_text(b, text);
    }
    if (b->len)
        ft__buf_str(b, "}");
}

ft_status ft__import_row_done(ft__import *im)
{
    if (im->st)
        return im->st;
    if (!im->device && im->n_waiting)
        return ft__rows_bad(im->rows, im->place[FT__C_device],
                            "a device is needed here", im->err);
    add_conditions(im);
    ft__buf_str(&im->setting, ""); /* terminated, also when nothing was added */
    if (im->conditions.bad || im->setting.bad || im->engine.bad || im->version.bad)
        return ft_fail(im->err, FT_ENOMEM, 0, "importing %s", im->source);
    for (size_t i = 0; i < im->n_waiting; i++) {
        const ft__waiting *w = &im->waiting[i];
        ft__bulk_row row = {
            .command = im->command,
            .taken_at = im->taken_at,
            .key = {.device = im->device->name,
                    .setting = im->setting.len ? im->setting.s : "",
                    .engine = im->engine.s,
                    .engine_version = im->version.s,
                    .spec = im->text.s + w->spec,
                    .phase = ft_phase_name(w->phase),
                    .dtype_policy = im->policy,
                    .metric = w->metric},
            .m = w->m,
        };
        bool fresh;
        ft_status st;

        row.m.conditions = im->conditions.len ? im->conditions.s : "";
        st = ft__bulk_put(im->bulk, &row, &fresh, im->err);
        if (st)
            return st;
        im->out->measurements += fresh;
        im->out->present += !fresh;
    }
    return FT_OK;
}
