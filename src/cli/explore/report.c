/* foretell explore report: what came of it, for programs and for reading. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explore/explore.h"
#include "foretell/names.h"

/* {"threads": 2, "wait": "active"}; parameters that are not set are left out. */
static json_t *point_json(const ft__explored *e, const double *point)
{
    json_t *all = json_object();

    for (size_t k = 0; k < e->n_params; k++) {
        const ft_parameter *p = &e->param[k];

        if (!isnan(point[k]))
            ft__json_set_take(&all, p->name,
                              p->value ? ft__json_text(p->value[(size_t)point[k]])
                                       : ft__json_real(point[k]));
    }
    return all;
}

static json_t *by_objective(const ft__explored *e, const double *v)
{
    json_t *all = json_object();

    for (size_t k = 0; k < e->n_objectives; k++)
        ft__json_set_take(&all, e->objective[k].name, ft__json_real(v[k]));
    return all;
}

static json_t *trials_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (size_t i = 0; i < e->t.n; i++) {
        const ft_trial *t = &e->t.v[i];

        ft__json_append_take(
            &all, ft__json("workload:s point:o values:o errors:o runs:n front:b "
                           "within_limits:b failure:s output:s",
                           e->workload[t->workload], point_json(e, t->point),
                           by_objective(e, t->value), by_objective(e, t->error),
                           t->runs, e->front[i], ft_trial_keeps_limits(e->x, t),
                           t->failure, t->output));
    }
    return all;
}

static json_t *influence_json(const ft__explored *e, const ft__aspect *a)
{
    const ft_influence *in = &a->influence;
    json_t *main = json_object(), *pairs = json_array();

    for (size_t k = 0; k < e->n_params; k++)
        ft__json_set_take(&main, e->param[k].name, ft__json_real(in->main[k]));
    for (size_t x = 0; x < e->n_params; x++)
        for (size_t y = x + 1; y < e->n_params; y++)
            ft__json_append_take(&pairs, ft__json("a:s b:s share:g", e->param[x].name,
                                                  e->param[y].name,
                                                  in->pair[x * e->n_params + y]));
    return ft__json("main:o pairs:o r2:g", main, pairs, in->r2);
}

static json_t *model_json(const ft__explored *e, const ft_influence_model *m)
{
    json_t *all = json_array();

    for (size_t i = 0; i < m->n; i++) {
        const ft_influence_term *t = &m->term[i];
        json_t *factors = json_array();

        for (int k = 0; k < 2; k++) {
            const ft_parameter *p = t->param[k] < 0 ? NULL : &e->param[t->param[k]];

            if (!p)
                continue;
            ft__json_append_take(&factors,
                                 ft__json("parameter:s value:o power:d", p->name,
                                          t->category[k] < 0
                                              ? json_null()
                                              : ft__json_text(p->value[t->category[k]]),
                                          t->power[k]));
        }
        ft__json_append_take(
            &all, ft__json("coefficient:g factors:o", t->coefficient, factors));
    }
    return ft__json("terms:o r2:g", all, m->r2);
}

static json_t *aspects_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (size_t i = 0; e->t.n && i < e->n_workloads * e->n_objectives; i++) {
        const ft__aspect *a = &e->aspect[i];
        bool any = a->best < e->t.n;

        ft__json_append_take(
            &all,
            ft__json("workload:s objective:s points:u best:o best_value:g median:g "
                     "influence:o model:o",
                     e->workload[a->workload], e->objective[a->objective].name, a->n,
                     any ? point_json(e, e->t.v[a->best].point) : json_null(),
                     any ? e->t.v[a->best].value[a->objective] : NAN, a->median,
                     a->has_influence ? influence_json(e, a) : json_null(),
                     a->has_influence ? model_json(e, &a->model) : json_null()));
    }
    return all;
}

static json_t *correlation_json(const ft_correlation *c)
{
    return ft__json("r:g low:g high:g n:u", c->r, c->low, c->high, c->n);
}

static json_t *correlations_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (size_t i = 0; e->t.n && i < e->n_workloads * e->n_relations; i++) {
        const ft__relation *r = &e->relation[i];

        ft__json_append_take(
            &all, ft__json("workload:s a:s b:s pearson:o spearman:o kendall:o",
                           e->workload[i / e->n_relations], r->a, r->b,
                           correlation_json(&r->r[FT_PEARSON]),
                           correlation_json(&r->r[FT_SPEARMAN]),
                           correlation_json(&r->r[FT_KENDALL])));
    }
    return all;
}

static json_t *transfers_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (size_t i = 0; e->t.n && i < e->n_objectives * e->n_transfers; i++) {
        const ft_transfer *f = &e->transfer[i];

        ft__json_append_take(
            &all,
            ft__json("objective:s from:s to:s rank:o regret:g regret_error:g "
                     "same_point:b few:u error_with:g error_without:g",
                     e->objective[i / e->n_transfers].name, e->workload[f->from],
                     e->workload[f->to], correlation_json(&f->rank), f->regret,
                     f->regret_error, !isnan(f->regret) && f->best == f->best_from,
                     f->few, f->with, f->without));
    }
    return all;
}

static json_t *parameters_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (size_t k = 0; k < e->n_params; k++) {
        const ft_parameter *p = &e->param[k];
        json_t *values =
            p->value ? ft__json_texts((const char *const *)p->value, p->n_values)
                     : json_null();

        ft__json_append_take(
            &all, ft__json("name:s type:s values:o low:g high:g log:b", p->name,
                           ft_name(FT_NAMES_PARAM_TYPE, p->type), values,
                           p->value ? NAN : p->low, p->value ? NAN : p->high, p->log));
    }
    return all;
}

static json_t *objectives_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (size_t k = 0; k < e->n_objectives; k++) {
        const ft_objective *o = &e->objective[k];

        ft__json_append_take(&all,
                             ft__json("name:s unit:s goal:s limit:g", o->name, o->unit,
                                      o->maximize ? "maximize" : "minimize", o->limit));
    }
    return all;
}

static json_t *volumes_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (uint32_t w = 0; e->t.n && w < e->n_workloads; w++)
        ft__json_append_take(&all, ft__json("workload:s hypervolume:g", e->workload[w],
                                            e->hypervolume[w]));
    return all;
}

static json_t *unknown_json(const ft__explored *e)
{
    json_t *all = json_array();

    for (size_t i = 0; i < e->n_unknown; i++) {
        const ft__unknown *u = &e->unknown[i];

        ft__json_append_take(
            &all, ft__json("workload:s objective:s points:u known:u which:s",
                           e->workload[u->workload], e->objective[u->objective].name,
                           u->points, u->known, u->which));
    }
    return all;
}

static json_t *document(const ft__explored *e)
{
    return ft__json("name:s points:u predicted:u runs:u failed:u parameters:o "
                    "objectives:o trials:o fronts:o aspects:o correlations:o "
                    "transfers:o in_short:o unknown:o warnings:o",
                    ft_exploration_get(e->x)->name, e->t.n, e->predicted, e->runs,
                    e->failed, parameters_json(e), objectives_json(e), trials_json(e),
                    volumes_json(e), aspects_json(e), correlations_json(e),
                    transfers_json(e), ft__explored_sentences(e), unknown_json(e),
                    ft__json_texts((const char *const *)e->warning, e->n_warnings));
}

static void print_csv(const ft__explored *e)
{
    fputs("workload,", stdout);
    for (size_t k = 0; k < e->n_params; k++)
        ft__record_csv_text(stdout, e->param[k].name, ',');
    for (size_t k = 0; k < e->n_objectives; k++)
        printf("%s,%s_error,", e->objective[k].name, e->objective[k].name);
    puts("runs,front,failure");
    for (size_t i = 0; i < e->t.n; i++) {
        const ft_trial *t = &e->t.v[i];

        ft__record_csv_text(stdout, e->workload[t->workload], ',');
        ft__point_csv(ft_exploration_get(e->x), t->point);
        for (size_t k = 0; k < e->n_objectives; k++) {
            ft__number_csv(t->value[k], ',');
            ft__number_csv(t->error[k], ',');
        }
        printf("%u,%d,", t->runs, e->front[i]);
        ft__record_csv_text(stdout, t->failure ? t->failure : "", '\n');
    }
}

enum { POINT_TEXT = 4096, SHOWN_INFLUENCES = 8, SHOWN_FAILURES = 5, LAST_WORDS = 320 };

/* " of image" */
static const char *of_workload(const ft__explored *e, uint32_t w, char *buf,
                               size_t size)
{
    snprintf(buf, size, "%s%s", *e->workload[w] ? " of " : "", e->workload[w]);
    return buf;
}

static const ft__aspect *aspect_of(const ft__explored *e, uint32_t w, size_t k)
{
    return &e->aspect[w * e->n_objectives + k];
}

static void value_cells(ft__table *t, const ft__explored *e, const ft_trial *trial)
{
    for (size_t k = 0; k < e->n_objectives; k++) {
        double v = trial->value[k], error = trial->error[k];

        if (error > 0 && v != 0)
            ft__table_cell(t, "%s +-%s", ft__objective_text(&e->objective[k], v).s,
                           ft__text_percent(fabs(1.96 * error / v)).s);
        else
            ft__table_cell(t, "%s", ft__objective_text(&e->objective[k], v).s);
    }
}

static ft__table *table_of(const ft__explored *e, const char *first)
{
    char columns[POINT_TEXT];
    size_t len = (size_t)snprintf(columns, sizeof(columns), "%s<", first);

    for (size_t k = 0; k < e->n_objectives && len < sizeof(columns); k++)
        len += (size_t)snprintf(columns + len, sizeof(columns) - len, "|%s>",
                                e->objective[k].name);
    return ft__table_new(columns);
}

static ft__table *front_table(const ft__explored *e, const size_t *at, size_t n)
{
    ft__table *t = table_of(e, "best settings");
    char text[POINT_TEXT];

    for (size_t k = 0; k < n; k++) {
        const ft_trial *trial = &e->t.v[at[k]];

        ft_point_print(e->x, trial->point, text, sizeof(text));
        ft__table_cell(t, "%s", text);
        value_cells(t, e, trial);
    }
    return t;
}

static bool all_failed(const ft__explored *e, uint32_t w)
{
    for (size_t i = 0; i < e->t.n; i++)
        if (e->t.v[i].workload == w && !e->t.v[i].failure)
            return false;
    return e->failed > 0;
}

static void front_line(const ft__explored *e, uint32_t w, size_t n)
{
    printf("\n%s%s: ", e->workload[w], *e->workload[w] ? "" : "front");
    if (n)
        fputs(ft__text_counted(n, "Pareto-optimal point").s, stdout);
    else
        fputs(all_failed(e, w) ? "every point failed"
                               : "no point is known that is within the limits",
              stdout);
    if (!isnan(e->hypervolume[w]))
        printf(", hypervolume %.3f", e->hypervolume[w]);
    putchar('\n');
}

static void print_unknown(const ft__explored *e, uint32_t w)
{
    for (size_t i = 0; i < e->n_unknown; i++) {
        const ft__unknown *u = &e->unknown[i];
        const char *name = e->objective[u->objective].name;

        if (u->workload != w)
            continue;
        if (u->known == 0)
            printf("%s is known of no point: the front is of the other objectives\n",
                   name);
        else
            printf("not compared, because %s is not known: %s, %s\n", name,
                   ft__text_counted(u->points, "point").s, u->which);
    }
}

static bool print_front(const ft__explored *e, uint32_t w, uint64_t top)
{
    unsigned char *may = calloc(e->t.n + 1, 1);
    size_t *at = calloc(e->t.n + 1, sizeof(*at)), n = 0, shown;
    bool printed = may && at;

    for (size_t i = 0; i < e->t.n && printed; i++) {
        may[i] = e->t.v[i].workload == w && e->front[i];
        n += may[i];
    }
    if (printed) {
        shown = ft__explored_spread(at, e, may, top < n ? (size_t)top : n);
        front_line(e, w, n);
        printed = n == 0 || ft__table_print_take(front_table(e, at, shown), stdout);
        if (n > shown)
            printf("and %zu more between these; --top shows them\n", n - shown);
        print_unknown(e, w);
    }
    free(may);
    free(at);
    return printed;
}

static void print_influence(const ft__explored *e, const ft__aspect *a)
{
    const ft__effect *v = a->effect;
    size_t shown = 0, width = 0;
    char of[128], name[256];

    printf("\nwhat decides %s%s (%zu points, R2 %.2f out of fold%s)\n",
           e->objective[a->objective].name, of_workload(e, a->workload, of, sizeof(of)),
           a->n, a->influence.r2,
           a->influence.r2 > 0 ? "" : ": worse than the mean, do not rely on it");
    while (shown < a->n_effects && shown < SHOWN_INFLUENCES && v[shown].share >= 0.01) {
        ft__effect_print(name, sizeof(name), e, &v[shown++]);
        width = strlen(name) > width ? strlen(name) : width;
    }
    for (size_t i = 0; i < shown; i++) {
        char padded[256];

        ft__effect_print(name, sizeof(name), e, &v[i]);
        snprintf(padded, sizeof(padded), "%-*s", (int)width, name);
        ft__bar_print(stdout, padded, v[i].share, ft__text_percent(v[i].share).s);
    }
}

static ft__formatted correlation_text(const ft_correlation *c)
{
    ft__formatted t = {"-"};

    if (!isnan(c->r))
        snprintf(t.s, sizeof(t.s), "%+.2f (%+.2f..%+.2f)", c->r, c->low, c->high);
    return t;
}

static bool print_correlations(const ft__explored *e, uint32_t w)
{
    ft__table *t = ft__table_new("correlation<|Pearson>|Spearman>|Kendall>");
    char of[128];
    size_t n = 0;

    for (size_t i = 0; i < e->n_relations; i++) {
        const ft__relation *r = &e->relation[w * e->n_relations + i];
        char name[256];

        if (isnan(r->r[FT_SPEARMAN].r))
            continue;
        snprintf(name, sizeof(name), "%s, %s", r->a, r->b);
        ft__table_row(t, name, correlation_text(&r->r[FT_PEARSON]).s,
                      correlation_text(&r->r[FT_SPEARMAN]).s,
                      correlation_text(&r->r[FT_KENDALL]).s);
        n++;
    }
    if (n)
        putchar('\n');
    if (n && e->n_workloads > 1)
        printf("what goes together%s\n", of_workload(e, w, of, sizeof(of)));
    return ft__table_print_take(t, n ? stdout : NULL);
}

static bool print_transfers(const ft__explored *e, size_t k)
{
    ft__table *t = ft__table_new("best of<|used for<|ranks>|worse than its own "
                                 "best>|learned from few>%|with the other's>%");

    for (size_t i = 0; i < e->n_transfers; i++) {
        const ft_transfer *f = &e->transfer[k * e->n_transfers + i];
        char worse[128] = "not known";

        if (f->best == f->best_from && !isnan(f->regret))
            snprintf(worse, sizeof(worse), "the same point");
        else if (!isnan(f->regret))
            snprintf(worse, sizeof(worse), "%s%s%s", ft__text_percent(f->regret).s,
                     isnan(f->regret_error) ? "" : " +-",
                     isnan(f->regret_error)
                         ? ""
                         : ft__text_percent(1.96 * f->regret_error).s);
        ft__table_row(t, e->workload[f->from], e->workload[f->to],
                      correlation_text(&f->rank).s, worse, f->without, f->with);
    }
    printf("\ndoes the best of one workload suit another? %s\n", e->objective[k].name);
    if (!ft__table_print_take(t, stdout))
        return false;
    printf("learned from few: median error of the rest, learned from %zu points of the "
           "workload at random;\nthen with all points of the other one as well\n",
           e->n_transfers ? e->transfer[k * e->n_transfers].few : 0);
    return true;
}

static bool print_summary(const ft__explored *e)
{
    json_t *all = ft__explored_sentences(e), *one;
    bool made = all != NULL;
    size_t i;

    if (json_array_size(all))
        puts("\nin short");
    json_array_foreach(all, i, one) ft__put_line(stdout, "- ", json_string_value(one));
    json_decref(all);
    return made;
}

static bool has_words(const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isalnum((unsigned char)line[i]) || (unsigned char)line[i] >= 0x80)
            return true;
    return false;
}

/* The last line with a word in it, which mostly says why: a shell's, a traceback's, a
 * message in JSON, behind which only brackets close. "" where there is none. */
static void last_words(char *out, size_t size, const char *output)
{
    size_t n = 0;

    for (; *output; output += strcspn(output, "\r\n")) {
        output += strspn(output, " \t\r\n");
        if (has_words(output, strcspn(output, "\r\n")))
            n = (size_t)snprintf(out, size, ": %.*s", (int)strcspn(output, "\r\n"),
                                 output);
    }
    if (n >= size) { /* no half of a character */
        for (n = size - 1; ((unsigned char)out[n - 1] & 0xC0) == 0x80; n--)
            ;
        n -= (unsigned char)out[n - 1] >= 0xC0;
    }
    out[n] = '\0';
}

static void print_failures(const ft__explored *e)
{
    size_t shown = 0;
    char text[POINT_TEXT], words[LAST_WORDS];

    if (e->failed == 0)
        return;
    printf("\n%zu failed\n", e->failed);
    for (size_t i = 0; i < e->t.n && shown < SHOWN_FAILURES; i++) {
        if (!e->t.v[i].failure)
            continue;
        ft_point_print(e->x, e->t.v[i].point, text, sizeof(text));
        printf("  %s%s%s: ", e->workload[e->t.v[i].workload],
               *e->workload[e->t.v[i].workload] ? " " : "", text);
        ft__put_clean(stdout, e->t.v[i].failure);
        last_words(words, sizeof(words), e->t.v[i].output ? e->t.v[i].output : "");
        ft__put_line(stdout, "", words);
        shown++;
    }
    if (e->failed > shown)
        printf("  and %zu more; --json has them all, with what they wrote\n",
               e->failed - shown);
}

static void print_predicted(const ft__explored *e)
{
    printf("%s: %zu points predicted in %s, none was run\n",
           ft_exploration_get(e->x)->name, e->predicted,
           ft__text_seconds(e->seconds).s);
    if (e->t.n < e->predicted)
        puts("effects and medians below are of randomly drawn points");
    for (size_t i = 0; i < e->n_warnings; i++)
        printf("warning: %s\n", e->warning[i]);
}

static bool print_text(const ft__explored *e, uint64_t top)
{
    const bool compared = e->n_workloads > 1 && e->failed < e->t.n;
    bool printed = true;

    if (e->predicted)
        print_predicted(e);
    else
        printf("%s: %s (points and workloads), %s, %zu failed\n",
               ft_exploration_get(e->x)->name, ft__text_counted(e->t.n, "result").s,
               ft__text_counted(e->runs, "good run").s, e->failed);
    for (uint32_t w = 0; w < e->n_workloads && printed; w++)
        printed = print_front(e, w, top);
    for (uint32_t w = 0; w < e->n_workloads && printed; w++) {
        for (size_t k = 0; k < e->n_objectives; k++)
            if (aspect_of(e, w, k)->has_influence)
                print_influence(e, aspect_of(e, w, k));
        printed = print_correlations(e, w);
    }
    for (size_t k = 0; k < e->n_objectives && compared && printed; k++)
        printed = print_transfers(e, k);
    print_failures(e);
    return printed && print_summary(e);
}

static bool write_notebook(const ft__explored *e, FILE *fp)
{
    json_t *doc = document(e), *book = doc ? ft__notebook(doc) : NULL;
    bool good = book && json_dumpf(book, fp, JSON_INDENT(1)) == 0;

    fputc('\n', fp);
    json_decref(book);
    json_decref(doc);
    return good && !ferror(fp);
}

static int save_notebook(ft__cli *c, const ft__explored *e, const char *path)
{
    ft__text_file file;
    bool good = ft__text_file_open(&file) && write_notebook(e, file.fp);

    return ft__text_file_save(&file, c, path, good);
}

int ft__explored_show(ft__cli *c, const ft__explored *e, uint64_t top, const char *html,
                      const char *notebook)
{
    bool printed = true;
    int code;

    if (c->json)
        printed = ft__json_print_take(document(e), stdout);
    else if (c->csv)
        print_csv(e);
    else
        printed = print_text(e, top);
    code = ft__cli_done(c, printed);
    if (!code && html)
        code = ft__page_save_take(c, html, FT__PAGE_EXPLORE, document(e));
    return !code && notebook ? save_notebook(c, e, notebook) : code;
}
