#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/text.h"

enum { MAX_COLUMNS = 16, GAP = 2, LEAST_FLEXIBLE = 20 };

struct cell {
    char *text; /* NULL: a rule across all columns, only in a row's first cell */
    size_t width;
};

struct ft__table {
    size_t n_columns;
    bool right[MAX_COLUMNS];
    size_t width[MAX_COLUMNS];
    size_t flexible; /* MAX_COLUMNS: none */
    struct cell *cell;
    size_t n;
    size_t cap;
    size_t next; /* column of the next cell */
    bool bad;
};

void ft__put_clean(FILE *fp, const char *s)
{
    for (; *s; s++)
        fputc((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s, fp);
}

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
    if (c->width > t->width[t->next])
        t->width[t->next] = c->width;
    t->next = (t->next + 1) % t->n_columns;
}

ft__table *ft__table_new(const char *columns)
{
    ft__table *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->n_columns = 1;
    for (const char *s = columns; *s; s++)
        t->n_columns += *s == '|';
    t->flexible = MAX_COLUMNS;
    for (size_t i = 0; i < t->n_columns; i++) {
        size_t len = strcspn(columns, "<>|");

        t->right[i] = columns[len] == '>';
        if (columns[len] == '<')
            t->flexible = i;
        add_take(t, strndup(columns, len));
        columns += strcspn(columns, "|") + 1;
    }
    return t;
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

/* Columns of the terminal behind fp; 0: not a terminal. */
static size_t terminal_width(FILE *fp)
{
    struct winsize w;

    if (!isatty(fileno(fp)) || ioctl(fileno(fp), TIOCGWINSZ, &w))
        return 0;
    return w.ws_col;
}

static size_t total_width(const ft__table *t)
{
    size_t sum = GAP * (t->n_columns - 1);

    for (size_t i = 0; i < t->n_columns; i++)
        sum += t->width[i];
    return sum;
}

static void fit(ft__table *t, FILE *fp)
{
    size_t room = terminal_width(fp), total = total_width(t), least;

    if (room == 0 || total <= room || t->flexible == MAX_COLUMNS)
        return;
    least = t->width[t->flexible] < LEAST_FLEXIBLE ? t->width[t->flexible]
                                                   : (size_t)LEAST_FLEXIBLE;
    t->width[t->flexible] = total - room + least > t->width[t->flexible]
                                ? least
                                : t->width[t->flexible] - (total - room);
}

static void print_rule(size_t width, FILE *fp)
{
    while (width--)
        fputc('-', fp);
    fputc('\n', fp);
}

static void pad(size_t n, FILE *fp)
{
    while (n--)
        fputc(' ', fp);
}

/* `blank` columns are owed to the line; at its end they are not paid. */
static void print_cell(const ft__table *t, size_t column, const struct cell *c,
                       size_t *blank, FILE *fp)
{
    size_t width = t->width[column];
    size_t shown = c->width > width ? width : c->width;

    if (t->right[column])
        *blank += width - shown;
    if (shown) {
        pad(*blank, fp);
        *blank = 0;
    }
    if (c->width > width)
        fprintf(fp, "%.*s...", (int)width - 3, c->text);
    else
        ft__put_clean(fp, c->text);
    if (!t->right[column])
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
