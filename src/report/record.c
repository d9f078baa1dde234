/* In: the description of a record and its values; out: JSON, CSV. */
#include "report/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/names.h"

/* A field as it is described; text points into the description. */
struct field {
    const char *name;
    int name_len;
    char type, unit[8];
};

/* Takes the next field from *fields; false: there is none. */
static bool next_field(struct field *f, const char **fields)
{
    const char *at = *fields + strspn(*fields, " ");

    if (!*at)
        return false;
    *f = (struct field){.name = at, .name_len = (int)strcspn(at, ":")};
    at += f->name_len + 1;
    f->type = *at++;
    if (*at == '(') {
        snprintf(f->unit, sizeof(f->unit), "%.*s", (int)strcspn(at, ")") - 1, at + 1);
        at += strcspn(at, ")") + 1;
    }
    *fields = at;
    return true;
}

json_t *ft__json_real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

json_t *ft__json_text(const char *s)
{
    json_t *v = s ? json_string(s) : json_null();
    char *copy;

    if (v)
        return v;
    copy = strdup(s);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    v = copy ? json_string(copy) : NULL;
    free(copy);
    return v;
}

json_t *ft__json_count(uint64_t n)
{
    return n <= INT64_MAX ? json_integer((json_int_t)n) : json_real((double)n);
}

json_t *ft__json_estimate(const ft_estimate *e, const char *unit)
{
    const bool known = e->basis != FT_BASIS_UNAVAILABLE;
    json_t *o = ft__json("value:g low:g high:g unit:s basis:s", known ? e->value : NAN,
                         known ? e->low : NAN, known ? e->high : NAN, unit,
                         ft_name(FT_NAMES_BASIS, e->basis));

    if (!known)
        ft__json_set_take(&o, "why", ft__json_text(e->why));
    return o;
}

static json_t *three_json(const uint32_t v[3])
{
    json_t *all = v[0] ? json_array() : json_null();

    for (int i = 0; v[0] && i < 3; i++)
        ft__json_append_take(&all, json_integer(v[i]));
    return all;
}

/* The next value; NULL: it was NULL, or out of memory. */
static json_t *value_json(const struct field *f, va_list *ap)
{
    const char *s;
    uint64_t n;
    int64_t i;

    switch (f->type) {
    case 's': return ft__json_text(va_arg(*ap, const char *));
    case 'z': s = va_arg(*ap, const char *); return ft__json_text(s && *s ? s : NULL);
    case 'g': return ft__json_real(va_arg(*ap, double));
    case 'b': return json_boolean(va_arg(*ap, int));
    case 'u': return ft__json_count(va_arg(*ap, uint64_t));
    case 'm':
        n = va_arg(*ap, uint64_t);
        return n == UINT64_MAX ? json_null() : ft__json_count(n);
    case 'n': return json_integer(va_arg(*ap, uint32_t));
    case 'd': return json_integer(va_arg(*ap, int));
    case 'i': return json_integer(va_arg(*ap, int64_t));
    case 'l': i = va_arg(*ap, int64_t); return i < 0 ? json_null() : json_integer(i);
    case 't': return three_json(va_arg(*ap, const uint32_t *));
    case 'e': return ft__json_estimate(va_arg(*ap, const ft_estimate *), f->unit);
    default: return va_arg(*ap, json_t *);
    }
}

/* All values are taken in any case: those of type `o` are the object's. */
static json_t *object_of(const char *fields, va_list *ap)
{
    json_t *o = json_object();
    struct field f;

    while (next_field(&f, &fields)) {
        char name[128];

        snprintf(name, sizeof(name), "%.*s", f.name_len, f.name);
        ft__json_set_take(&o, name, value_json(&f, ap));
    }
    return o;
}

json_t *ft__json(const char *fields, ...)
{
    json_t *o;
    va_list ap;

    va_start(ap, fields);
    o = object_of(fields, &ap);
    va_end(ap);
    return o;
}

json_t *ft__json_texts(const char *const *text, size_t n)
{
    json_t *all = json_array();

    for (size_t i = 0; i < n; i++)
        ft__json_append_take(&all, ft__json_text(text[i]));
    return all;
}

json_t *ft__json_errors(const ft_errors *e)
{
    return ft__json("n:u mape:g median_ape:g p90_ape:g within_10:g max_ape:g bias:g "
                    "r2:g adjusted_r2:g mae:g median_ae:g max_ae:g",
                    e->n, e->mape, e->median_ape, e->p90_ape, e->within_10, e->max_ape,
                    e->bias, e->r2, e->adjusted_r2, e->mae, e->median_ae, e->max_ae);
}

void ft__json_set_take(json_t **object, const char *name, json_t *value)
{
    if (json_object_set_new(*object, name, value)) {
        json_decref(*object);
        *object = NULL;
    }
}

void ft__json_append_take(json_t **array, json_t *value)
{
    if (json_array_append_new(*array, value)) {
        json_decref(*array);
        *array = NULL;
    }
}

bool ft__json_print_take(json_t *v, FILE *fp)
{
    bool good = v && json_dumpf(v, fp, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0;

    if (good)
        fputc('\n', fp);
    json_decref(v);
    return good;
}

char *ft__json_compact(const json_t *v)
{
    return json_dumps(v, JSON_COMPACT | JSON_REAL_PRECISION(15));
}

json_t *ft__json_join_take(json_t *a, json_t *b)
{
    bool good = a && b && json_object_update(a, b) == 0;

    json_decref(b);
    if (good)
        return a;
    json_decref(a);
    return NULL;
}

void ft__record_csv_text(FILE *fp, const char *s, char end)
{
    const bool quoted = s[strcspn(s, ",\"\r\n")];

    if (quoted)
        fputc('"', fp);
    for (; *s; s++) {
        if (*s == '"')
            fputc('"', fp);
        fputc(*s, fp);
    }
    if (quoted)
        fputc('"', fp);
    fputc(end, fp);
}

static void csv_real(FILE *fp, double v, char end)
{
    char text[32] = "";

    for (int digits = 15; digits <= 17 && !isnan(v); digits++) {
        double back;

        snprintf(text, sizeof(text), "%.*g", digits, v);
        if (sscanf(text, "%lf", &back) == 1 && !(back < v) && !(back > v))
            break;
    }
    fprintf(fp, "%s%c", text, end);
}

static void put_count(FILE *fp, uint64_t n, char end)
{
    fprintf(fp, "%" PRIu64 "%c", n, end);
}

static void put_value(FILE *fp, char type, va_list *ap, char end)
{
    const char *s;
    uint64_t n;
    int64_t i;

    switch (type) {
    case 'g': csv_real(fp, va_arg(*ap, double), end); break;
    case 'b':
    case 'd': fprintf(fp, "%d%c", va_arg(*ap, int), end); break;
    case 'n': put_count(fp, va_arg(*ap, uint32_t), end); break;
    case 'u': put_count(fp, va_arg(*ap, uint64_t), end); break;
    case 'i':
    case 'l':
        i = va_arg(*ap, int64_t);
        if (type == 'l' && i < 0)
            fputc(end, fp);
        else
            fprintf(fp, "%" PRId64 "%c", i, end);
        break;
    case 'm':
        n = va_arg(*ap, uint64_t);
        if (n == UINT64_MAX)
            fputc(end, fp);
        else
            put_count(fp, n, end);
        break;
    default:
        s = va_arg(*ap, const char *);
        ft__record_csv_text(fp, s ? s : "", end);
        break;
    }
}

static void put_row(FILE *fp, const char *fields, va_list *ap)
{
    struct field f;

    while (next_field(&f, &fields))
        put_value(fp, f.type, ap, *fields ? ',' : '\n');
}

void ft__csv_row(FILE *fp, const char *fields, ...)
{
    va_list ap;

    va_start(ap, fields);
    put_row(fp, fields, &ap);
    va_end(ap);
}

void ft__csv_head(FILE *fp, const char *fields)
{
    struct field f;

    while (next_field(&f, &fields))
        fprintf(fp, "%.*s%c", f.name_len, f.name, *fields ? ',' : '\n');
}

ft__records ft__records_begin(const char *fields, FILE *csv)
{
    if (csv)
        ft__csv_head(csv, fields);
    return (ft__records){fields, csv, csv ? NULL : json_array()};
}

void ft__records_add(ft__records *r, ...)
{
    va_list ap;

    va_start(ap, r);
    if (r->csv)
        put_row(r->csv, r->fields, &ap);
    else
        ft__json_append_take(&r->array, object_of(r->fields, &ap));
    va_end(ap);
}
