/* foretell evaluate: how well held-out operations are predicted. */
#include "cli/evaluate.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "foretell/names.h"
#include "report/record.h"

struct evaluate_options {
    const char *where, *metric;
    uint64_t folds;
    const char *share, *leave_out;
    uint64_t correct;
    bool chosen;
    const char *test, *methods;
    bool mix, single, curve;
    const char *choose;
    uint64_t seeds;
    const char *by, *rank;
    bool clocks;
    const char *kernels, *networks, *lists, *rows, *html;
    bool siblings;
    uint64_t size, seed;
};

static const ft__option options[] = {
    FT__TEXT(struct evaluate_options, where, "where", "NAME=VALUE,...",
             "which measurements: \"device=a30 phase=forward kind=conv2d\"; names are "
             "device, engine, version, policy, phase, kind, class, and those of "
             "settings and specs"),
    FT__TEXT(struct evaluate_options, metric, "metric", "NAME",
             "time (unless said otherwise), power, energy, memory, workspace"),
    FT__COUNT(struct evaluate_options, folds, "folds", "N",
              "hold out each of N parts of the operations in turn; 5"),
    FT__TEXT(struct evaluate_options, share, "share", "P%",
             "learn from a random share of the operations, test on the rest"),
    FT__TEXT(struct evaluate_options, leave_out, "leave-out", "WHAT",
             "hold out each device, kind, setting or network in turn, of --networks "
             "each family, of --kernels each kernel or device; device=h200: this "
             "alone; layer: five parts, all batches of a layer in one"),
    FT__COUNT(struct evaluate_options, correct, "correct", "N",
              "with --leave-out device: N random measurements of it are known after "
              "all and correct the predictions of the others"),
    FT__FLAG(struct evaluate_options, chosen, "chosen",
             "with --correct: of the operations that ops --few lists, not random ones"),
    FT__INPUT(struct evaluate_options, test, "test", "STORE",
              "learn from --db, test on this store"),
    FT__METHODS_OPTIONS(struct evaluate_options, "", ""),
    FT__FLAG(struct evaluate_options, single, "single",
             "one regressor for all kinds, instead of one for each"),
    FT__FLAG(
        struct evaluate_options, curve, "curve",
        "how the error falls with the number of operations learned from, in 15 steps"),
    FT__TEXT(struct evaluate_options, choose, "choose", "NAME,...",
             "with --curve: acquisition criteria compared with random order: active, "
             "spread"),
    FT__COUNT(struct evaluate_options, seeds, "seeds", "N",
              "with --choose: means of this many seeds; 10"),
    FT__TEXT(struct evaluate_options, by, "by", "NAME,...",
             "tables by kind, device, size (deciles), split (what was held out); kind"),
    FT__TEXT(struct evaluate_options, rank, "rank", "WHAT",
             "score the predicted order of devices (or settings) of each operation, "
             "beside the best constant choice"),
    FT__FLAG(struct evaluate_options, clocks, "clocks",
             "kernels and networks, measured whole, known at their highest clocks "
             "alone, asked at all others; 10 folds unless --folds says otherwise"),
    FT__INPUT(struct evaluate_options, kernels, "kernels", "FILE,...",
              FT__TIMED_KERNELS ", in place of operations; with --leave-out kernel "
                                "(unless said otherwise) or device"),
    FT__TEXT(struct evaluate_options, networks, "networks", "NAME=VALUE,...",
             "these networks, measured whole, in place of operations; with --leave-out "
             "network (unless said otherwise; nothing of its operations is learned "
             "from), device, or family: its architecture"),
    FT__LISTS_OPTION(struct evaluate_options, "those that foretell brings"),
    FT__HTML_OPTION(struct evaluate_options),
    FT__FLAG(struct evaluate_options, siblings, "siblings",
             "with --leave-out device: other devices of its chip stay known"),
    FT__COUNT(struct evaluate_options, size, "size", "MB",
              "what the predictor's file may take, as train has it; 40"),
    FT__TEXT(struct evaluate_options, rows, "rows", "FILE.csv",
             "write every tested row to this new file: measured and predicted value, "
             "interval, basis; with --choose the operations in the order in which they "
             "are measured"),
    FT__COUNT(struct evaluate_options, seed, "seed", "N", "of the random choices; 1"),
    {0},
};

enum { CURVE_STEPS = 15 };

static int read_leave_out(ft__cli *c, ft_evaluate_options *how, const char *text)
{
    static const ft_protocol what[] = {FT_PROTOCOL_DEVICE,       FT_PROTOCOL_KIND,
                                       FT_PROTOCOL_SETTING,      FT_PROTOCOL_NETWORK,
                                       FT_PROTOCOL_ARCHITECTURE, FT_PROTOCOL_KERNEL,
                                       FT_PROTOCOL_LAYER};
    const size_t n = strcspn(text, "=");
    char word[32];
    int which, code;

    snprintf(word, sizeof(word), "%.*s", (int)n, text);
    code = ft__choice_parse(c, &which, "leave-out", word,
                            "device, kind, setting, network, family, kernel, layer");
    if (code)
        return code;
    how->protocol = what[which];
    how->only = text[n] ? text + n + 1 : NULL;
    return FT__EXIT_GOOD;
}

static int read_choices(ft__cli *c, ft_choices *out, const char *text)
{
    static const ft_choices what[] = {FT_CHOICES_DEVICE, FT_CHOICES_SETTING};
    int which, code = ft__choice_parse(c, &which, "rank", text, "device, setting");

    *out = text && !code ? what[which] : FT_CHOICES_NONE;
    return code;
}

static int read_options(ft__cli *c, ft_evaluate_options *how, uint32_t *by,
                        const struct evaluate_options *o)
{
    int given = (o->folds > 0) + (o->share != NULL) + (o->leave_out != NULL) +
                (o->test != NULL);
    int code = FT__EXIT_GOOD;

    if (given > 1)
        return ft__usage(c, "--folds, --share, --leave-out and --test: one of them");
    how->protocol = o->test       ? FT_PROTOCOL_STORES
                    : o->share    ? FT_PROTOCOL_SHARE
                    : o->clocks   ? FT_PROTOCOL_CLOCKS
                    : o->networks ? FT_PROTOCOL_NETWORK
                    : o->kernels  ? FT_PROTOCOL_KERNEL
                                  : FT_PROTOCOL_FOLDS;
    how->n_folds = (uint32_t)o->folds;
    how->correct = (uint32_t)o->correct;
    how->chosen = o->chosen;
    how->siblings = o->siblings;
    if (o->folds == 1 || o->folds > 1000)
        return ft__usage(c, "--folds is 2 to 1000");
    if (o->share && (!ft__share_from_text(&how->share, o->share) ||
                     !(how->share > 0 && how->share < 1)))
        return ft__usage(c, "--share is a part as 5%% or 0.05, not \"%s\"", o->share);
    if (!code && o->leave_out)
        code = read_leave_out(c, how, o->leave_out);
    if (!code && o->methods)
        code = ft__methods_parse(c, &how->methods, o->methods);
    if (!code)
        code = read_choices(c, &how->choices, o->rank);
    return code ? code
                : ft__names_parse(c, by, "by",
                                  o->by       ? o->by
                                  : o->clocks ? "device"
                                              : "kind",
                                  FT_NAMES_BY);
}

static const char row_fields[] =
    "device:s setting:s engine:s engine_version:s dtype_policy:s spec:s phase:s "
    "metric:s truth:g value:g low:g high:g basis:s split:s";

static void write_row(void *user, const ft_evaluated_row *r)
{
    ft__csv_row(user, row_fields, r->device, r->setting, r->engine, r->engine_version,
                r->policy, r->spec, r->phase, r->metric, r->truth, r->value, r->low,
                r->high, r->basis, r->split);
}

static const char chosen_fields[] = "seed:m criterion:s spec:s phase:s";

static void write_chosen(void *user, uint64_t seed, ft_criterion by, const ft_op *op)
{
    char spec[1024];

    ft_op_print(op, spec, sizeof(spec));
    ft__csv_row(user, chosen_fields, seed, ft_name(FT_NAMES_CRITERION, by), spec,
                ft_name(FT_NAMES_PHASE, op->phase));
}

static int open_rows(ft__cli *c, FILE **out, const char *path, const char *fields)
{
    *out = fopen(path, "wx"); /* nothing that is there is lost */
    if (!*out)
        return ft__cli_exit(c, FT__EXIT_INPUT, "%s: %s", path, strerror(errno));
    ft__csv_head(*out, fields);
    return FT__EXIT_GOOD;
}

/* The exit code so far, unless the file could not be written. */
static int close_rows(ft__cli *c, FILE *fp, const char *path, int code)
{
    bool bad = ferror(fp) != 0;

    bad = fclose(fp) != 0 || bad;
    return code || !bad
               ? code
               : ft__cli_exit(c, FT__EXIT_INPUT, "%s: %s", path, strerror(errno));
}

static int evaluate(ft__cli *c, ft_evaluation *out, const char *path, const char *test,
                    const ft_evaluate_options *how)
{
    ft_store *store = NULL, *second = NULL;
    ft_status st = path ? ft_store_open(&store, path, FT_STORE_READ, &c->err) : FT_OK;

    if (!st && test)
        st = ft_store_open(&second, test, FT_STORE_READ, &c->err);
    if (!st)
        st = ft_evaluate(out, store, second, how, &c->err);
    ft_store_close(store);
    ft_store_close(second);
    return ft__cli_check_asked(c, st);
}

static int check_networks(ft__cli *c, const struct evaluate_options *o)
{
    if (!o->networks)
        return o->lists ? ft__usage(c, "--lists goes with --networks") : FT__EXIT_GOOD;
    if (o->curve || o->share || o->test || o->folds || o->correct)
        return ft__usage(
            c,
            "--networks are held out by --leave-out network, device or family alone");
    return FT__EXIT_GOOD;
}

static int check_clocks(ft__cli *c, const struct evaluate_options *o)
{
    if (o->clocks && (o->methods || o->curve || o->share || o->leave_out || o->test ||
                      o->mix || o->single || o->rank || o->networks))
        return ft__usage(c, "--clocks goes with --where, --metric, --folds, --by, "
                            "--rows and --seed alone");
    return FT__EXIT_GOOD;
}

static int check_kernels(ft__cli *c, const struct evaluate_options *o)
{
    if (o->kernels &&
        (o->methods || o->curve || o->share || o->test || o->mix || o->single ||
         o->rank || o->networks || o->clocks || o->folds || o->correct || o->size ||
         (o->metric && strcmp(o->metric, "time") != 0)))
        return ft__usage(c, "--kernels goes with --leave-out kernel or device, "
                            "--where, --siblings, --by, --rows and --seed alone");
    return FT__EXIT_GOOD;
}

static int check_choose(ft__cli *c, const struct evaluate_options *o)
{
    uint32_t criteria;

    if (o->chosen && !o->correct)
        return ft__usage(c, "--chosen goes with --correct");
    if (!o->choose)
        return o->seeds ? ft__usage(c, "--seeds goes with --choose") : FT__EXIT_GOOD;
    if (!o->curve || o->metric || o->mix || o->single || o->by || o->rank ||
        o->networks || o->share || o->test || o->folds || o->leave_out || o->correct ||
        o->siblings || o->size)
        return ft__usage(c, "--choose goes with --curve, and with --where, --method, "
                            "--seeds, --seed and --rows alone");
    if (o->seeds > 1000)
        return ft__usage(c, "--seeds is 1 to 1000");
    return ft__names_parse(c, &criteria, "choose", o->choose, FT_NAMES_CRITERION);
}

/* Prints the curves of `how` on the store at `path`; html (or NULL): also a page. */
static int compare_choices(ft__cli *c, const char *path, const ft_choice_options *how,
                           const char *html)
{
    ft_store *store = NULL;
    ft_choice_curves r;
    ft_status st = ft_store_open(&store, path, FT_STORE_READ, &c->err);
    int code;

    if (!st)
        st = ft_choice_evaluate(&r, store, how, &c->err);
    ft_store_close(store);
    if (st)
        return ft__cli_check_asked(c, st);
    code = ft__cli_done(c, ft__choice_curves_print(c, &r));
    if (!code && html)
        code = ft__record_save_take(c, html, ft__choice_curves_json(&r));
    ft_choice_curves_free(&r);
    return code;
}

static int evaluate_choice(ft__cli *c, const char *path,
                           const struct evaluate_options *o,
                           const ft_evaluate_options *how)
{
    ft_choice_options what = {.where = o->where,
                              .n_seeds = (uint32_t)o->seeds,
                              .methods = how->methods,
                              .data_dir = how->data_dir,
                              .seed = how->seed,
                              .threads = how->threads,
                              .log = how->log};
    FILE *rows = NULL;
    int code =
        ft__names_parse(c, &what.criteria, "choose", o->choose, FT_NAMES_CRITERION);

    if (!code && o->rows) {
        code = open_rows(c, &rows, o->rows, chosen_fields);
        what.chosen = write_chosen;
        what.chosen_user = rows;
    }
    if (!code)
        code = compare_choices(c, path, &what, o->html);
    return rows ? close_rows(c, rows, o->rows, code) : code;
}

static int run(ft__cli *c, const void *user)
{
    const struct evaluate_options *o = user;
    char store[FT__PATH_MAX], data[FT__PATH_MAX];
    ft_evaluate_options how = {.where = o->where,
                               .metric = o->metric,
                               .mix = o->mix,
                               .single = o->single,
                               .most_bytes = (size_t)o->size * 1000000,
                               .curve_steps = o->curve ? CURVE_STEPS : 0,
                               .networks = o->networks,
                               .kernels = o->kernels,
                               .find = ft_network_lists_find,
                               .data_dir = data,
                               .seed = o->seed ? o->seed : 1,
                               .threads = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
                               .log = &c->log};
    ft_network_lists *lists = NULL;
    FILE *rows = NULL;
    ft_evaluation e;
    uint32_t by = 0;
    int code;

    code = check_networks(c, o);
    if (!code)
        code = read_options(c, &how, &by, o);
    if (!code)
        code = check_clocks(c, o);
    if (!code)
        code = check_kernels(c, o);
    if (!code)
        code = check_choose(c, o);
    if (code)
        return code;
    ft__path_data(c, data);
    ft__path_store(c, store);
    code = o->kernels ? FT__EXIT_GOOD : ft__store_needed(c, store, NULL, 0);
    if (!code && o->choose)
        return evaluate_choice(c, store, o, &how);
    if (!code && o->networks)
        code = ft__lists_open(c, &lists, o->lists,
                              how.protocol == FT_PROTOCOL_ARCHITECTURE);
    how.find_user = lists;
    if (!code && o->rows)
        code = open_rows(c, &rows, o->rows, row_fields);
    how.row = rows ? write_row : NULL;
    how.row_user = rows;
    if (!code)
        code = evaluate(c, &e, o->kernels ? NULL : store, o->test, &how);
    if (rows)
        code = close_rows(c, rows, o->rows, code);
    ft_network_lists_free(lists);
    if (code)
        return code;
    code = ft__cli_done(c, ft__evaluation_print(c, &e, &how, by));
    if (!code && o->html)
        code = ft__record_save_take(c, o->html, ft__evaluation_json(&e, &how));
    ft_evaluation_free(&e);
    return code;
}

const ft__command ft__evaluate_command = {
    .name = "evaluate",
    .arguments = "",
    .summary = "errors of predictions on operations that were held out",
    .more =
        "A predictor is trained on a part of the measurements, as train does it, and\n"
        "queried for the rest. Equal operations are never on both sides.\n",
    .examples =
        "  foretell evaluate --folds 5\n"
        "  foretell evaluate --db gpus.db --where 'device=a30,l4 phase=forward' "
        "--metric power\n"
        "  foretell evaluate --db gpus.db --leave-out device --by device,kind\n"
        "  foretell evaluate --db gpus.db --where device=a30,l4 --metric energy --rank "
        "device\n"
        "  foretell evaluate --db gpus.db --share 5% --curve --csv\n"
        "  foretell evaluate --db gpus.db --networks 'device=a30 phase=step' --where\n"
        "      'device=a30 phase=forward_backward'\n",
    .has_csv = true,
    .options_size = sizeof(struct evaluate_options),
    .options = options,
    .run = run,
};
