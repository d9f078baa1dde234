/* A report as a Jupyter notebook (nbformat 4.5): the JSON document in, text, code,
 * tables and a figure out. What is stored under a cell is what its code prints:
 * tests/cli/explore-notebook runs the cells without Jupyter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explore/explore.h"

static const char text_code[] =
    "def text(v):\n"
    "    return v if isinstance(v, str) else \"-\" if v is None else format(v, "
    "\".4g\")\n"
    "\n"
    "def table(head, rows):\n"
    "    rows = [head] + [[text(v) for v in row] for row in rows]\n"
    "    wide = [max(map(len, column)) for column in zip(*rows)]\n"
    "    for row in rows:\n"
    "        print(\"  \".join(v.ljust(w) for v, w in zip(row, wide)).rstrip())\n"
    "\n";

static const char front_code[] =
    "params = [p[\"name\"] for p in report[\"parameters\"]]\n"
    "objectives = [o[\"name\"] for o in report[\"objectives\"]]\n"
    "table([\"workload\", *params, *objectives],\n"
    "      [[t[\"workload\"], *(t[\"point\"].get(p) for p in params),\n"
    "        *(t[\"values\"][o] for o in objectives)] for t in trials if "
    "t[\"front\"]])";

static const char influence_code[] =
    "table([\"workload\", \"objective\", \"R2\", *params],\n"
    "      [[a[\"workload\"], a[\"objective\"], a[\"influence\"][\"r2\"],\n"
    "        *(a[\"influence\"][\"main\"].get(p) for p in params)]\n"
    "       for a in report[\"aspects\"] if a[\"influence\"]])";

static const char transfer_code[] =
    "table([\"objective\", \"best of\", \"used for\", \"costs\", \"+-\", \"learned "
    "from "
    "few\", \"with the other's\"],\n"
    "      [[t[k] for k in (\"objective\", \"from\", \"to\", \"regret\", "
    "\"regret_error\",\n"
    "                       \"error_without\", \"error_with\")] for t in "
    "report[\"transfers\"]])";

static const char figure_code[] =
    "import matplotlib.pyplot as plt\n"
    "\n"
    "names = [o[\"name\"] for o in report[\"objectives\"]]\n"
    "up, across = names[0], names[1] if len(names) > 1 else None\n"
    "for workload in dict.fromkeys(t[\"workload\"] for t in trials):\n"
    "    some = [(i, t) for i, t in enumerate(trials)\n"
    "            if t[\"workload\"] == workload and t[\"values\"][up] is not None\n"
    "            and (not across or t[\"values\"][across] is not None)]\n"
    "    plt.errorbar([t[\"values\"][across] if across else i for i, t in some],\n"
    "                 [t[\"values\"][up] for _, t in some],\n"
    "                 yerr=[1.96 * (t[\"errors\"][up] or 0) for _, t in some],\n"
    "                 fmt=\"o\", label=workload)\n"
    "plt.xlabel(across or \"point\")\n"
    "plt.ylabel(up)\n"
    "plt.legend()\n"
    "plt.show()";

static const char *text_at(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? s : "";
}

static void print_value(FILE *fp, const json_t *v)
{
    if (json_is_string(v))
        fputs(json_string_value(v), fp);
    else if (json_is_number(v))
        fprintf(fp, "%.4g", json_number_value(v));
    else
        fputc('-', fp);
}

/* Printed below each other, as the code's table() does: characters, not bytes, count.
 */
typedef struct table {
    json_t *rows; /* of texts; the first is the head */
    json_t *row;  /* the one that is being filled, borrowed */
} table;

static void begin_row(table *t)
{
    t->row = json_array();
    ft__json_append_take(&t->rows, t->row);
}

static void add_cell(table *t, const json_t *v)
{
    char number[32];

    snprintf(number, sizeof(number), "%.4g", json_number_value(v));
    json_array_append_new(t->row, json_is_string(v)
                                      ? ft__json_text(json_string_value(v))
                                  : json_is_number(v) ? ft__json_text(number)
                                                      : ft__json_text("-"));
}

static void add_names(table *t, const json_t *list)
{
    size_t i;
    json_t *one;

    json_array_foreach(list, i, one) add_cell(t, json_object_get(one, "name"));
}

static void add_named(table *t, const json_t *list, const json_t *values)
{
    size_t i;
    json_t *one;

    json_array_foreach(list, i, one)
        add_cell(t, json_object_get(values, text_at(one, "name")));
}

static void add_texts(table *t, const char *const *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_array_append_new(t->row, ft__json_text(text[i]));
}

static size_t characters(const char *s)
{
    size_t n = 0;

    for (; s && *s; s++)
        n += (*s & 0xc0) != 0x80;
    return n;
}

static size_t width_of(const table *t, size_t column)
{
    size_t i, wide = 0;
    json_t *row;

    json_array_foreach(t->rows, i, row)
    {
        const size_t n = characters(json_string_value(json_array_get(row, column)));

        wide = n > wide ? n : wide;
    }
    return wide;
}

static void print_table_take(FILE *fp, table *t)
{
    size_t i, k;
    json_t *row, *cell;

    json_array_foreach(t->rows, i, row)
    {
        size_t missing = 0; /* blanks are printed where something follows */

        json_array_foreach(row, k, cell)
        {
            const char *text = json_string_value(cell);

            if (!text) /* out of memory, which the notebook is then, too */
                continue;
            fprintf(fp, "%*s%s", *text ? (int)missing : 0, "", text);
            missing = (*text ? 0 : missing) + width_of(t, k) - characters(text) + 2;
        }
        fputc('\n', fp);
    }
    json_decref(t->rows);
}

static void print_data(FILE *fp, json_t *doc)
{
    size_t i, n = 0;
    json_t *t;

    json_array_foreach(json_object_get(doc, "trials"), i, t) n +=
        !json_is_string(json_object_get(t, "failure"));
    fprintf(fp, "%zu points\n", n);
}

static void print_front(FILE *fp, json_t *doc)
{
    const json_t *params = json_object_get(doc, "parameters"),
                 *objectives = json_object_get(doc, "objectives");
    table t = {json_array(), NULL};
    size_t i;
    json_t *trial;

    begin_row(&t);
    add_texts(&t, (const char *const[]){"workload"}, 1);
    add_names(&t, params);
    add_names(&t, objectives);
    json_array_foreach(json_object_get(doc, "trials"), i, trial)
    {
        if (!json_is_true(json_object_get(trial, "front")))
            continue;
        begin_row(&t);
        add_cell(&t, json_object_get(trial, "workload"));
        add_named(&t, params, json_object_get(trial, "point"));
        add_named(&t, objectives, json_object_get(trial, "values"));
    }
    print_table_take(fp, &t);
}

static void print_influence(FILE *fp, json_t *doc)
{
    static const char *const head[] = {"workload", "objective", "R2"};
    const json_t *params = json_object_get(doc, "parameters");
    table t = {json_array(), NULL};
    size_t i;
    json_t *a;

    begin_row(&t);
    add_texts(&t, head, 3);
    add_names(&t, params);
    json_array_foreach(json_object_get(doc, "aspects"), i, a)
    {
        json_t *influence = json_object_get(a, "influence");

        if (!json_is_object(influence))
            continue;
        begin_row(&t);
        add_cell(&t, json_object_get(a, "workload"));
        add_cell(&t, json_object_get(a, "objective"));
        add_cell(&t, json_object_get(influence, "r2"));
        add_named(&t, params, json_object_get(influence, "main"));
    }
    print_table_take(fp, &t);
}

static void print_transfer(FILE *fp, json_t *doc)
{
    static const char *const head[] = {"objective",       "best of", "used for",
                                       "costs",           "+-",      "learned from few",
                                       "with the other's"},
                             *const key[] = {
                                 "objective",    "from",          "to",        "regret",
                                 "regret_error", "error_without", "error_with"};
    enum { COLUMNS = sizeof(key) / sizeof(*key) };
    table t = {json_array(), NULL};
    size_t i;
    json_t *one;

    begin_row(&t);
    add_texts(&t, head, COLUMNS);
    json_array_foreach(json_object_get(doc, "transfers"), i, one)
    {
        begin_row(&t);
        for (size_t k = 0; k < COLUMNS; k++)
            add_cell(&t, json_object_get(one, key[k]));
    }
    print_table_take(fp, &t);
}

enum { WIDTH = 640, HEIGHT = 400, LEFT = 70, RIGHT = 20, TOP = 20, BOTTOM = 45 };

static const char *const colors[] = {"#2f6f9f", "#c8501e", "#3d8b4f",
                                     "#8a5fa8", "#8b6d2f", "#4a4a4a"};

/* What is drawn of a trial; NaN: it is not. */
struct dot {
    double x, y, range; /* half an interval */
    size_t color;
};

struct figure {
    json_t *doc;
    const char *up, *across; /* across NULL: the number of the point */
    double low[2], high[2];  /* across, up */
};

static double real_at(const json_t *trial, const char *of, const char *name)
{
    const json_t *v = json_object_get(json_object_get(trial, of), name);

    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static struct dot dot_of(const struct figure *f, const json_t *trial, size_t i)
{
    const double error = real_at(trial, "errors", f->up);

    return (struct dot){.x =
                            f->across ? real_at(trial, "values", f->across) : (double)i,
                        .y = json_is_string(json_object_get(trial, "failure"))
                                 ? (double)NAN
                                 : real_at(trial, "values", f->up),
                        .range = error > 0 ? 1.96 * error : 0};
}

static void widen(struct figure *f, size_t axis, double low, double high)
{
    f->low[axis] = fmin(f->low[axis], low);
    f->high[axis] = fmax(f->high[axis], high);
}

static void find_limits(struct figure *f)
{
    size_t i;
    json_t *t;

    for (size_t k = 0; k < 2; k++) {
        f->low[k] = INFINITY;
        f->high[k] = -INFINITY;
    }
    json_array_foreach(json_object_get(f->doc, "trials"), i, t)
    {
        const struct dot d = dot_of(f, t, i);

        if (isnan(d.x) || isnan(d.y))
            continue;
        widen(f, 0, d.x, d.x);
        widen(f, 1, d.y - d.range, d.y + d.range);
    }
    for (size_t k = 0; k < 2; k++)
        if (!(f->high[k] > f->low[k])) {
            f->low[k] = isfinite(f->low[k]) ? f->low[k] - 1 : 0;
            f->high[k] = f->low[k] + 2;
        }
}

static double place_x(const struct figure *f, double x)
{
    return LEFT + (x - f->low[0]) / (f->high[0] - f->low[0]) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct figure *f, double y)
{
    return HEIGHT - BOTTOM -
           (y - f->low[1]) / (f->high[1] - f->low[1]) * (HEIGHT - TOP - BOTTOM);
}

static void put_text(FILE *fp, double x, double y, const char *anchor, const char *s)
{
    fprintf(fp, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    for (; *s; s++)
        if (strchr("<>&\"", *s))
            fprintf(fp, "&#%d;", *s);
        else
            fputc(*s, fp);
    fputs("</text>\n", fp);
}

static void draw_axes(FILE *fp, const struct figure *f)
{
    char text[32];

    for (int i = 0; i <= 4; i++) {
        const double x = f->low[0] + i / 4.0 * (f->high[0] - f->low[0]);
        const double y = f->low[1] + i / 4.0 * (f->high[1] - f->low[1]);

        snprintf(text, sizeof(text), "%.4g", x);
        put_text(fp, place_x(f, x), HEIGHT - BOTTOM + 16, "middle", text);
        snprintf(text, sizeof(text), "%.4g", y);
        put_text(fp, LEFT - 6, place_y(f, y) + 4, "end", text);
    }
    put_text(fp, WIDTH - RIGHT, HEIGHT - 8, "end", f->across ? f->across : "point");
    put_text(fp, 4, 12, "start", f->up);
}

/* Numbers of workloads in the order in which they appear. */
static size_t color_of(const json_t *trials, const char *workload)
{
    const char *last = NULL;
    size_t i, n = 0;
    json_t *t;

    json_array_foreach(trials, i, t)
    {
        const char *own = text_at(t, "workload");

        n += last && strcmp(last, own) != 0;
        last = own;
        if (strcmp(own, workload) == 0)
            break;
    }
    return n % (sizeof(colors) / sizeof(*colors));
}

static void draw_dots(FILE *fp, const struct figure *f)
{
    json_t *trials = json_object_get(f->doc, "trials"), *t;
    const char *last = NULL;
    size_t i, color = 0, n = 0;

    json_array_foreach(trials, i, t)
    {
        const struct dot d = dot_of(f, t, i);
        const double x = place_x(f, d.x), y = place_y(f, d.y);
        const char *workload = text_at(t, "workload");

        if (!last || strcmp(last, workload) != 0) {
            color = color_of(trials, workload);
            fprintf(fp, "<g fill=\"%s\">", colors[color]);
            put_text(fp, WIDTH - RIGHT, TOP + 14 * (double)n++, "end", workload);
            fputs("</g>\n", fp);
        }
        last = workload;
        if (isnan(d.x) || isnan(d.y))
            continue;
        if (d.range > 0)
            fprintf(
                fp,
                "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\" stroke-opacity=\".5\"/>\n",
                x, place_y(f, d.y - d.range), place_y(f, d.y + d.range), colors[color]);
        fprintf(fp, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x, y,
                colors[color]);
    }
}

static void print_figure(FILE *fp, json_t *doc)
{
    const json_t *objectives = json_object_get(doc, "objectives");
    struct figure f = {.doc = doc,
                       .up = text_at(json_array_get(objectives, 0), "name")};

    if (json_array_size(objectives) > 1)
        f.across = text_at(json_array_get(objectives, 1), "name");
    find_limits(&f);
    fprintf(fp,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"%d\" "
            "height=\"%d\" fill=\"white\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    draw_axes(fp, &f);
    draw_dots(fp, &f);
    fputs("</svg>\n", fp);
}

/* What a function prints of the document; NULL: out of memory. */
static json_t *printed(void (*print)(FILE *fp, json_t *doc), json_t *doc)
{
    char *text = NULL;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    json_t *out = NULL;

    if (!fp)
        return NULL;
    print(fp, doc);
    if (fclose(fp) == 0)
        out = ft__json_text(text);
    free(text);
    return out;
}

static void add_text(json_t **cells, const char *id, json_t *source)
{
    ft__json_append_take(cells, ft__json("cell_type:s id:s metadata:o source:o",
                                         "markdown", id, json_object(), source));
}

static void add_code(json_t **cells, const char *id, json_t *source, json_t *output)
{
    json_t *outputs = json_array();

    ft__json_append_take(&outputs, output);
    ft__json_append_take(
        cells, ft__json("cell_type:s id:s metadata:o execution_count:d source:o "
                        "outputs:o",
                        "code", id, json_object(), (int)json_array_size(*cells) + 1,
                        source, outputs));
}

static void add_printing(json_t **cells, const char *id, const char *code,
                         void (*print)(FILE *fp, json_t *doc), json_t *doc)
{
    add_code(cells, id, ft__json_text(code),
             ft__json("output_type:s name:s text:o", "stream", "stdout",
                      printed(print, doc)));
}

static void add_figure(json_t **cells, json_t *doc)
{
    json_t *data = json_object();

    ft__json_set_take(&data, "image/svg+xml", printed(print_figure, doc));
    ft__json_set_take(&data, "text/plain", ft__json_text("<figure>"));
    add_code(cells, "figure", ft__json_text(figure_code),
             ft__json("output_type:s data:o metadata:o", "display_data", data,
                      json_object()));
}

static void print_title(FILE *fp, json_t *doc)
{
    size_t i;
    json_t *one;

    fprintf(fp, "# %s\n\n", text_at(doc, "name"));
    json_array_foreach(json_object_get(doc, "warnings"), i, one)
        fprintf(fp, "- **Warning:** %s.\n", json_string_value(one));
    json_array_foreach(json_object_get(doc, "in_short"), i, one)
        fprintf(fp, "- %s\n", json_string_value(one));
}

static void print_marked(FILE *fp, const char *text)
{
    for (; *text; text++)
        fprintf(fp, strchr("|\\`*_<>[]#", *text) ? "\\%c" : "%c",
                *text == '\n' ? ' ' : *text);
}

static void print_values(FILE *fp, const json_t *param)
{
    const json_t *values = json_object_get(param, "values");
    size_t i;
    json_t *v;

    json_array_foreach(values, i, v)
    {
        fputs(i ? ", " : "", fp);
        print_marked(fp, json_string_value(v));
    }
    if (!json_is_array(values))
        fprintf(fp, "%.9g to %.9g%s", json_number_value(json_object_get(param, "low")),
                json_number_value(json_object_get(param, "high")),
                json_is_true(json_object_get(param, "log")) ? ", by orders of magnitude"
                                                            : "");
}

static void print_space(FILE *fp, json_t *doc)
{
    const long long predicted = json_integer_value(json_object_get(doc, "predicted"));
    size_t i;
    json_t *one;

    fputs("## The space\n\n| parameter | type | values |\n|---|---|---|\n", fp);
    json_array_foreach(json_object_get(doc, "parameters"), i, one)
    {
        fputs("| ", fp);
        print_marked(fp, text_at(one, "name"));
        fprintf(fp, " | %s | ", text_at(one, "type"));
        print_values(fp, one);
        fputs(" |\n", fp);
    }
    fputs("\n| objective | unit | goal | limit |\n|---|---|---|---|\n", fp);
    json_array_foreach(json_object_get(doc, "objectives"), i, one)
    {
        fputs("| ", fp);
        print_marked(fp, text_at(one, "name"));
        fputs(" | ", fp);
        print_marked(fp, text_at(one, "unit"));
        fprintf(fp, " | %s | ", text_at(one, "goal"));
        print_value(fp, json_object_get(one, "limit"));
        fputs(" |\n", fp);
    }
    if (predicted)
        fprintf(fp, "\n%lld points were predicted, none was run.\n", predicted);
    else
        fprintf(fp,
                "\n%lld runs; %lld points failed. Values are medians of a point's "
                "runs, their errors widened for few.\n",
                (long long)json_integer_value(json_object_get(doc, "runs")),
                (long long)json_integer_value(json_object_get(doc, "failed")));
}

/* The document as a Python text, in which every escape of JSON is one of Python, too.
 */
static void print_loading(FILE *fp, json_t *doc)
{
    char *text = json_dumps(doc, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_t *quoted = text ? json_string(text) : NULL;
    char *literal =
        quoted ? json_dumps(quoted, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;

    fprintf(fp,
            "import json\n\nreport = json.loads(%s)\ntrials = [t for t in "
            "report[\"trials\"] if t[\"failure\"] is None]\n\n%sprint(len(trials), "
            "\"points\")",
            literal ? literal : "", text_code);
    free(literal);
    json_decref(quoted);
    free(text);
}

json_t *ft__notebook(json_t *doc)
{
    json_t *cells = json_array(), *metadata = json_object();

    add_text(&cells, "title", printed(print_title, doc));
    add_text(&cells, "space", printed(print_space, doc));
    add_code(&cells, "data", printed(print_loading, doc),
             ft__json("output_type:s name:s text:o", "stream", "stdout",
                      printed(print_data, doc)));
    add_text(
        &cells, "about-front",
        ft__json_text("## The front\n\nPareto-optimal points within the limits; units "
                      "are SI."));
    add_printing(&cells, "front", front_code, print_front, doc);
    add_text(
        &cells, "about-figure",
        ft__json_text("Every point, with 95 % intervals. foretell drew the figure "
                      "that is stored; running the cell draws it with matplotlib."));
    add_figure(&cells, doc);
    add_text(
        &cells, "about-influence",
        ft__json_text("## What decides\n\nShare of an objective's variance by "
                      "parameter (functional ANOVA of a forest). An R2 out of fold "
                      "that is not above 0 says that the shares mean nothing."));
    add_printing(&cells, "influence", influence_code, print_influence, doc);
    add_text(&cells, "about-transfer",
             ft__json_text("## Does the best of one workload suit another?\n\nExcess "
                           "over its own best (0.1 is 10 %) and its standard error; "
                           "median error of a workload learned from few of its points, "
                           "without and with the other's."));
    add_printing(&cells, "transfer", transfer_code, print_transfer, doc);
    ft__json_set_take(
        &metadata, "kernelspec",
        ft__json("display_name:s language:s name:s", "Python 3", "python", "python3"));
    ft__json_set_take(&metadata, "language_info", ft__json("name:s", "python"));
    return ft__json("cells:o metadata:o nbformat:d nbformat_minor:d", cells, metadata,
                    4, 5);
}
