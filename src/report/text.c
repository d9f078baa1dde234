/* Text for terminals. In: texts, columns and values, shares; out: clean lines, ruled
 * tables, bars. */
#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "report/units.h"

void ft__put_clean(FILE *fp, const char *s)
{
    for (; *s; s++)
        fputc((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s, fp);
}

void ft__put_word(FILE *fp, const char *lead, const char *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=.,:/@%";
    const bool quoted = !*s || s[strspn(s, plain)];

    fprintf(fp, "%s%s", lead, quoted ? "'" : "");
    for (; *s; s++)
        if (*s == '\'')
            fputs("'\\''", fp);
        else
            fputc((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s, fp);
    fputs(quoted ? "'" : "", fp);
}

void ft__put_line(FILE *fp, const char *lead, const char *s)
{
    fputs(lead, fp);
    ft__put_clean(fp, s);
    fputc('\n', fp);
}

size_t ft__text_width(FILE *fp)
{
    const char *said = getenv("COLUMNS");
    const unsigned long columns = said ? strtoul(said, NULL, 10) : 0;
    struct winsize w;

    if (columns)
        return columns;
    if (!isatty(fileno(fp)) || ioctl(fileno(fp), TIOCGWINSZ, &w))
        return 0;
    return w.ws_col;
}

/* Is the end of a line in s an end of a paragraph as well? */
static bool ends_paragraph(const char *s)
{
    return s[0] != '\n' || s[1] == '\n' || s[1] == ' ' || s[1] == '\0';
}

void ft__put_wrapped(FILE *fp, const char *s, size_t width, size_t indent, size_t at)
{
    bool verbatim = width == 0 || *s == ' ';
    bool begins = true; /* the line has no word yet */

    while (*s) {
        const size_t len = strcspn(s, verbatim ? "\n" : " \n");

        if (!verbatim && !begins && at + 1 + len > width) {
            fprintf(fp, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!verbatim && !begins) {
            fputc(' ', fp);
            at++;
        }
        fprintf(fp, "%.*s", (int)len, s);
        at += len;
        begins = false;
        s += len;
        if (*s == '\n' && (verbatim || ends_paragraph(s))) {
            fputc('\n', fp);
            verbatim = width == 0 || s[1] == ' ';
            begins = true;
            at = 0;
        }
        s += *s != '\0';
    }
    fputs(begins ? "" : "\n", fp);
}

enum { MAX_COLUMNS = 24, GAP = 2, LEAST_FLEXIBLE = 20 };

struct cell {
    char *text; /* NULL: a rule across all columns, only in a row's first cell */
    size_t width;
};

struct column {
    char type[8];
    bool right, hidden;
    size_t width;
};

struct ft__table {
    struct column column[MAX_COLUMNS]; /* n_all, as they are described */
    struct column *shown[MAX_COLUMNS]; /* n_columns of them */
    size_t n_all, n_columns;
    size_t flexible; /* of those shown; MAX_COLUMNS: none */
    struct cell *cell;
    size_t n, cap;
    size_t next; /* column of the next cell */
    bool bad;
};

/* Characters on the screen: UTF-8 continuation bytes take no room. */
static size_t columns_of(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static struct cell *new_cell(ft__table *t)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 64;
        struct cell *grown = realloc(t->cell, cap * sizeof(*grown));

        if (!grown) {
            t->bad = true;
            return NULL;
        }
        t->cell = grown;
        t->cap = cap;
    }
    t->cell[t->n] = (struct cell){0};
    return &t->cell[t->n++];
}

/* The text becomes the cell's; NULL is a failed allocation. */
static void add_take(ft__table *t, char *text)
{
    struct cell *c = text ? new_cell(t) : NULL;

    if (!c) {
        t->bad = true;
        free(text);
        return;
    }
    c->text = text;
    c->width = columns_of(text);
    if (c->width > t->shown[t->next]->width)
        t->shown[t->next]->width = c->width;
    t->next = (t->next + 1) % t->n_columns;
}

/* "?name>type": a column that is shown only if the next int of ap is not 0. */
static bool read_column(ft__table *t, const char **columns, va_list *ap)
{
    const char *at = *columns;
    const bool shown = *at != '?' || va_arg(*ap, int);
    const size_t len = strcspn(at += *at == '?', "<>|");
    struct column *c = &t->column[t->n_all++];

    *c = (struct column){.right = at[len] == '>', .hidden = !shown};
    if (at[len] == '<' && shown)
        t->flexible = t->n_columns;
    if (shown) {
        t->next = t->n_columns;
        t->shown[t->n_columns++] = c;
        add_take(t, strndup(at, len));
    }
    at += len + (at[len] == '<' || at[len] == '>');
    snprintf(c->type, sizeof(c->type), "%.*s", (int)strcspn(at, "|"), at);
    at += strcspn(at, "|");
    *columns = at + 1;
    return *at == '|' && t->n_all < MAX_COLUMNS;
}

ft__table *ft__table_new(const char *columns, ...)
{
    ft__table *t = calloc(1, sizeof(*t));
    va_list ap;

    if (!t)
        return NULL;
    t->flexible = MAX_COLUMNS;
    va_start(ap, columns);
    while (read_column(t, &columns, &ap))
        ;
    va_end(ap);
    return t;
}

/* The next value as its type has it. */
static ft__formatted value_text(const char *type, va_list *ap)
{
    ft__formatted t;

    switch (*type) {
    case 'u': snprintf(t.s, sizeof(t.s), "%" PRIu64, va_arg(*ap, uint64_t)); break;
    case 'n': snprintf(t.s, sizeof(t.s), "%" PRIu32, va_arg(*ap, uint32_t)); break;
    case 'i': snprintf(t.s, sizeof(t.s), "%" PRId64, va_arg(*ap, int64_t)); break;
    case '.':
        snprintf(t.s, sizeof(t.s), "%.*f", type[1] - '0', va_arg(*ap, double));
        break;
    case '~': return ft__text_plain(va_arg(*ap, double));
    default: return ft__text_in(type, va_arg(*ap, double));
    }
    return t;
}

void ft__table_row(ft__table *t, ...)
{
    va_list ap;

    va_start(ap, t);
    for (size_t i = 0; t && i < t->n_all; i++) {
        const struct column *c = &t->column[i];
        const char *s = *c->type ? NULL : va_arg(ap, const char *);
        ft__formatted value = {""};

        if (*c->type)
            value = value_text(c->type, &ap);
        if (!c->hidden && !t->bad)
            add_take(t, strdup(*c->type ? value.s : s ? s : "-"));
    }
    va_end(ap);
}

void ft__table_cell(ft__table *t, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    int len;

    if (!t || t->bad)
        return;
    va_start(ap, fmt);
    len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    text = len < 0 ? NULL : malloc((size_t)len + 1);
    if (text) {
        va_start(ap, fmt);
        vsnprintf(text, (size_t)len + 1, fmt, ap);
        va_end(ap);
    }
    add_take(t, text);
}

void ft__table_rule(ft__table *t)
{
    if (t && !t->bad)
        (void)new_cell(t);
}

static size_t total_width(const ft__table *t)
{
    size_t sum = GAP * (t->n_columns - 1);

    for (size_t i = 0; i < t->n_columns; i++)
        sum += t->shown[i]->width;
    return sum;
}

static void fit(ft__table *t, FILE *fp)
{
    size_t room = isatty(fileno(fp)) ? ft__text_width(fp) : 0, total = total_width(t),
           least, *width;

    if (room == 0 || total <= room || t->flexible == MAX_COLUMNS)
        return;
    width = &t->shown[t->flexible]->width;
    least = *width < LEAST_FLEXIBLE ? *width : (size_t)LEAST_FLEXIBLE;
    *width = total - room + least > *width ? least : *width - (total - room);
}

static void print_rule(size_t width, FILE *fp)
{
    while (width--)
        fputc('-', fp);
    fputc('\n', fp);
}

/* `blank` columns are owed to the line; at its end they are not paid. */
static void print_cell(const ft__table *t, size_t column, const struct cell *c,
                       size_t *blank, FILE *fp)
{
    size_t width = t->shown[column]->width;
    size_t shown = c->width > width ? width : c->width;

    if (t->shown[column]->right)
        *blank += width - shown;
    for (; shown && *blank; --*blank)
        fputc(' ', fp);
    if (c->width > width)
        fprintf(fp, "%.*s...", (int)width - 3, c->text);
    else
        ft__put_clean(fp, c->text);
    if (!t->shown[column]->right)
        *blank += width - shown;
    *blank += GAP;
    if (column + 1 == t->n_columns) {
        fputc('\n', fp);
        *blank = 0;
    }
}

bool ft__table_print_take(ft__table *t, FILE *fp)
{
    size_t column = 0, blank = 0;
    bool good = t && !t->bad;

    if (good && fp)
        fit(t, fp);
    for (size_t i = 0; good && fp && i < t->n; i++) {
        if (!t->cell[i].text) {
            print_rule(total_width(t), fp);
            continue;
        }
        print_cell(t, column, &t->cell[i], &blank, fp);
        column = (column + 1) % t->n_columns;
        if (i + 1 == t->n_columns)
            print_rule(total_width(t), fp);
    }
    for (size_t i = 0; t && i < t->n; i++)
        free(t->cell[i].text);
    if (t)
        free(t->cell);
    free(t);
    return good;
}

/* One is this wide, and what passes the right end ends in '>'. */
enum { ONE = 30, MOST = 45 };

void ft__bar_print(FILE *fp, const char *name, double ratio, const char *value)
{
    int n = ratio * ONE < MOST ? (int)lround(ratio * ONE) : MOST;

    fprintf(fp, "  %-10s ", name);
    for (int i = 0; i < n; i++)
        fputc(i + 1 == MOST && ratio * ONE > MOST ? '>' : '#', fp);
    fprintf(fp, "%*s %s\n", n < ONE ? ONE - n : 0, "", value);
}

enum { BAR_WIDTH = 30 };

double ft__monotonic_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void ft__bar_draw(ft__bar *b, uint64_t done, uint64_t total, const char *what)
{
    double now = ft__monotonic_s();
    int filled;

    if (!isatty(STDERR_FILENO))
        return;
    if (done >= total) {
        fputs(b->shown ? "\r\033[K" : "", stderr);
        b->shown = false;
        return;
    }
    if (b->shown && now - b->last_s < 0.1)
        return;
    filled = (int)((double)done / (double)total * BAR_WIDTH);
    fputs("\r\033[K[", stderr);
    for (int i = 0; i < BAR_WIDTH; i++)
        fputc(i < filled ? '#' : '.', stderr);
    fprintf(stderr, "] %" PRIu64 "/%" PRIu64 " ", done, total);
    ft__put_clean(stderr, what);
    fflush(stderr);
    b->shown = true;
    b->last_s = now;
}
