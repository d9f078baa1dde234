/* How good are predictions on networks that were left out? For each example
 * model: train on the operations of all the others (an operation that occurs in
 * this model only is left out), predict it, and compare with really running it.
 *
 *   accuracy DATA_DIR PLUGIN_DIR STORE [ENGINE [SECONDS_PER_OP [ROUNDS]]]
 *
 * STORE is filled when it lacks operations and kept, so that a second call only
 * measures the networks and trains. Networks run in rounds, each in a process of
 * its own, so that drift shows and memory is that of one network. */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/stats.h"
#include "foretell/measure.h"
#include "foretell/predictor.h"
#include "graph/build.h"
#include "graph/graph_inside.h"
#include "graph/op_inside.h"
#include "import/graph_inside.h"
#include "import/list.h"
#include "predict/query/network.h"

enum { MAX_MODELS = 16, MAX_ROUNDS = 9, MAX_OPS = 4096 };

struct model {
    char name[64];
    char path[4096];
    ft_graph *graph; /* lowered; loaded when all networks have been measured */
    double time_s[MAX_ROUNDS];
    double peak_bytes;
    double parts[4]; /* weights, activations, workspace, context */
    uint32_t rounds;
};

struct bench {
    struct model model[MAX_MODELS];
    uint32_t n;
    ft_graph *samples[MAX_MODELS]; /* general operations, of no model */
    uint32_t n_samples;
    ft_session_options session;
    const char *store;
    const char *data_dir;
    uint32_t policy;
    double op_time_s;
    uint32_t rounds;
};

struct result {
    double time_s;
    double peak_bytes;
    double parts[4];
    uint32_t policy;
};

_Noreturn static void die(const char *what, const ft_error *err)
{
    fprintf(stderr, "accuracy: %s: %s\n", what, err->msg);
    exit(1);
}

static glob_t find(const char *data_dir, const char *pattern)
{
    char path[4096];
    glob_t found;

    snprintf(path, sizeof(path), "%s/%s", data_dir, pattern);
    if (glob(path, 0, NULL, &found)) {
        fprintf(stderr, "accuracy: nothing at %s\n", path);
        exit(1);
    }
    return found;
}

static void name_models(struct bench *b, const char *data_dir)
{
    glob_t found = find(data_dir, "models/*.onnx");

    for (size_t i = 0; i < found.gl_pathc && b->n < MAX_MODELS; i++) {
        struct model *m = &b->model[b->n++];
        const char *slash = strrchr(found.gl_pathv[i], '/');

        snprintf(m->path, sizeof(m->path), "%s", found.gl_pathv[i]);
        snprintf(m->name, sizeof(m->name), "%.*s", (int)strlen(slash + 1) - 5,
                 slash + 1);
    }
    globfree(&found);
}

static ft_graph *import(const char *path, uint32_t policy)
{
    ft_graph *g, *lowered;
    ft_error err;

    if (ft__import_file(&g, path, NULL, &err) ||
        ft__graph_lower(&lowered, g, policy, &err))
        die(path, &err);
    ft_graph_free(g);
    return lowered;
}

static void load_graphs(struct bench *b)
{
    glob_t lists = find(b->data_dir, "workloads/*.ops");

    for (uint32_t i = 0; i < b->n; i++)
        b->model[i].graph = import(b->model[i].path, b->policy);
    for (size_t i = 0; i < lists.gl_pathc && b->n_samples < MAX_MODELS; i++)
        b->samples[b->n_samples++] = import(lists.gl_pathv[i], b->policy);
    globfree(&lists);
}

/* Engines run in children only, so that memory is that of one network, and this
 * process stays as small as a fresh one. */
static void in_child(void (*work)(const struct bench *b, uint32_t i, struct result *r),
                     const struct bench *b, uint32_t i, struct result *r)
{
    int fd[2], status;
    pid_t pid;

    if (pipe(fd))
        exit(1);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        struct result mine = {0};

        work(b, i, &mine);
        fflush(NULL);
        _exit(write(fd[1], &mine, sizeof(mine)) == (ssize_t)sizeof(mine) ? 0 : 1);
    }
    close(fd[1]);
    if (read(fd[0], r, sizeof(*r)) != (ssize_t)sizeof(*r) ||
        waitpid(pid, &status, 0) < 0)
        exit(1);
    close(fd[0]);
}

static void describe_engine(const struct bench *b, uint32_t i, struct result *r)
{
    ft_session *s;
    ft_error err;

    (void)i;
    if (ft_session_open(&s, &b->session, &err))
        die("opening the engine", &err);
    printf("%s, %s %s, %s\n", ft_session_get(s)->device, ft_session_get(s)->engine,
           ft_session_get(s)->engine_version, ft_session_get(s)->setting);
    r->policy = ft_session_get(s)->policy;
    ft_session_close(s);
}

static void run_model(const struct bench *b, uint32_t i, struct result *r)
{
    const struct model *m = &b->model[i];
    ft_measure_options how = {.min_time_s = 1.5, .min_batches = 7};
    ft_network_timing t;
    ft_session *s;
    ft_graph *g;
    ft_error err;

    if (ft_session_open(&s, &b->session, &err) ||
        ft__import_file(&g, m->path, NULL, &err) ||
        ft_measure_network(&t, s, g, &how, &err))
        die(m->name, &err);
    ft_graph_free(g);
    *r = (struct result){t.time.value,
                         (double)t.peak_process_bytes,
                         {(double)t.weight_bytes, (double)t.activation_bytes,
                          (double)t.workspace_bytes, (double)t.context_bytes},
                         0};
    ft_network_timing_free(&t);
    ft_session_close(s);
}

static void measure_model(struct bench *b, uint32_t i)
{
    struct model *m = &b->model[i];
    struct result r;

    in_child(run_model, b, i, &r);
    m->time_s[m->rounds++] = r.time_s;
    m->peak_bytes = r.peak_bytes;
    memcpy(m->parts, r.parts, sizeof(r.parts));
}

static void measure_round(struct bench *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        measure_model(b, i);
}

static void add_ops(ft_op *ops, uint64_t *count, size_t *n, const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_ops && *n < MAX_OPS; i++) {
        ops[*n] = g->op[i];
        count[(*n)++] = g->op_count[i];
    }
}

/* Part `part` of b->rounds of all operations, a slice after each round of networks,
 * so that the machine's drift meets both alike. Spec texts shuffle the order. */
static void collect_part(const struct bench *b, uint32_t part, struct result *r)
{
    static ft_op ops[MAX_OPS];
    static uint64_t count[MAX_OPS];
    ft_collect_options how = {.op_time_s = b->op_time_s, .command = "bench/accuracy"};
    struct bench graphs = *b;
    ft_collect_report report;
    size_t n = 0, kept = 0;
    ft_session *s;
    ft_store *store;
    ft_error err;

    (void)r;
    load_graphs(&graphs);
    for (uint32_t i = 0; i < graphs.n; i++)
        add_ops(ops, count, &n, graphs.model[i].graph);
    for (uint32_t i = 0; i < graphs.n_samples; i++)
        add_ops(ops, count, &n, graphs.samples[i]);
    for (size_t i = 0; i < n; i++)
        if (ft__op_hash(&ops[i]) % b->rounds < part) {
            ops[kept] = ops[i];
            count[kept++] = count[i];
        }
    if (ft_session_open(&s, &b->session, &err) ||
        ft_store_open(&store, b->store, FT_STORE_WRITE, &err) ||
        ft_collect(&report, s, store, ops, count, kept, &how, &err))
        die("collecting", &err);
    printf("operations: %zu unique, %zu measured now, %zu before, %zu refused, %zu "
           "failed, "
           "%.0f s\n",
           report.wanted, report.measured, report.present, report.refused,
           report.failed, report.seconds);
    ft_store_close(store);
    ft_session_close(s);
}

static int occurs_elsewhere(const struct bench *b, uint32_t model, const ft_op *op)
{
    for (uint32_t i = 0; i < b->n; i++)
        for (uint32_t j = 0; i != model && j < b->model[i].graph->n_ops; j++)
            if (ft_op_equal(op, &b->model[i].graph->op[j]))
                return 1;
    return 0;
}

/* Append the operations of g that occur in no model but `model`; returns how many
 * there are then. */
static size_t left_out(const struct bench *b, uint32_t model, const ft_graph *g,
                       ft_op *without, size_t n)
{
    for (uint32_t i = 0; i < g->n_ops && n < MAX_OPS; i++)
        if (!occurs_elsewhere(b, model, &g->op[i]))
            without[n++] = g->op[i];
    return n;
}

/* Held-out operations: how many, inside their interval, width, error. */
struct held_out {
    double width[MAX_OPS];
    double ape[MAX_OPS];
    size_t n;
    size_t inside;
};

static void predict_ops(ft_estimate *out, const ft_predictor *p, const ft_op *ops,
                        size_t n)
{
    const ft_device_use as_measured = {0};
    ft__build *build = ft__build_new("ops");
    ft_network_estimate e;
    ft_graph *g;
    ft_error err;

    for (size_t i = 0; i < n; i++)
        ft__list_op(build, "", 0, &ops[i], 1);
    if (ft__build_finish_take(&g, build, &err) ||
        ft_predict_network(&e, p, &as_measured, g, &err))
        die("predicting", &err);
    for (size_t i = 0; i < n; i++) {
        uint32_t at = 0;

        while (!ft_op_equal(&g->op[at], &ops[i]))
            at++;
        out[i] = e.op_time[at];
    }
    ft_network_estimate_free(&e);
    ft_graph_free(g);
}

static void compare_ops(struct held_out *h, const ft_predictor *truth, const ft_op *ops,
                        size_t n, const ft_predictor *p)
{
    static ft_estimate want[MAX_OPS], got[MAX_OPS];

    predict_ops(want, truth, ops, n);
    predict_ops(got, p, ops, n);
    for (size_t i = 0; i < n && h->n < MAX_OPS; i++) {
        if (want[i].basis != FT_BASIS_MEASURED || !(want[i].value > 0))
            continue;
        h->inside += got[i].low <= want[i].value && want[i].value <= got[i].high;
        h->width[h->n] = got[i].high / got[i].low;
        h->ape[h->n++] = fabs(got[i].value / want[i].value - 1);
    }
}

static ft_predictor *train(const struct bench *b, const ft_op *without, size_t n,
                           int forget)
{
    ft_train_options how = {
        .seed = 1, .threads = 2, .without = without, .n_without = n, .forget = forget};
    ft_predictor *p;
    ft_store *store;
    ft_error err;

    if (ft_store_open(&store, b->store, FT_STORE_READ, &err) ||
        ft_predictor_train(&p, store, &how, &err))
        die("training", &err);
    ft_store_close(store);
    return p;
}

static void print_spread(const char *what, const double *sorted, size_t n)
{
    printf("%s: median error %.1f%%, worst %.1f%%\n", what,
           100 * ft__quantile(sorted, n, 0.5), 100 * sorted[n - 1]);
}

static void table(const struct bench *b, int strict)
{
    static ft_op without[MAX_OPS];
    static struct held_out h;
    double time_error[MAX_MODELS], memory_error[MAX_MODELS], sum_error[MAX_MODELS];
    const ft_device_use as_measured = {0};
    ft_predictor *truth = train(b, NULL, 0, 0);
    ft_error err;

    h = (struct held_out){.n = 0};
    printf("\ntrained on %s\n%-18s %9s %9s %7s %7s  %-17s %9s %9s %7s\n",
           strict ? "operations of the other networks only"
                  : "operations of the other networks and the general samples",
           "network", "measured", "predicted", "error", "sum", "90 % interval", "MiB",
           "predicted", "error");
    for (uint32_t i = 0; i < b->n; i++) {
        const struct model *m = &b->model[i];
        double t[MAX_ROUNDS], measured;
        ft_network_estimate e, sum;
        ft_predictor *p;
        size_t n_own = left_out(b, i, m->graph, without, 0), n = n_own;

        for (uint32_t j = 0; strict && j < b->n_samples; j++)
            n = left_out(b, i, b->samples[j], without, n);
        p = train(b, without, n, 1);
        compare_ops(&h, truth, without, n_own, p);
        if (ft_predict_network(&e, p, &as_measured, m->graph, &err) ||
            ft_predict_network(&sum, truth, &as_measured, m->graph, &err))
            die(m->name, &err);
        memcpy(t, m->time_s, sizeof(t));
        measured = ft__median(t, m->rounds);
        time_error[i] = fabs(e.time.value / measured - 1);
        sum_error[i] = fabs(sum.time.value / measured - 1);
        memory_error[i] = fabs(e.memory.value / m->peak_bytes - 1);
        printf("%-18s %6.2f ms %6.2f ms %+6.1f%% %+6.1f%%  %6.2f..%6.2f %c %9.1f %9.1f "
               "%+6.1f%%\n",
               m->name, 1e3 * measured, 1e3 * e.time.value,
               100 * (e.time.value / measured - 1),
               100 * (sum.time.value / measured - 1), 1e3 * e.time.low,
               1e3 * e.time.high,
               e.time.low <= measured && measured <= e.time.high ? ' ' : '!',
               m->peak_bytes / 1048576, e.memory.value / 1048576,
               100 * (e.memory.value / m->peak_bytes - 1));
        ft_network_estimate_free(&e);
        ft_network_estimate_free(&sum);
        ft_predictor_free(p);
    }
    ft_predictor_free(truth);
    ft__sort(time_error, b->n);
    ft__sort(sum_error, b->n);
    ft__sort(memory_error, b->n);
    ft__sort(h.ape, h.n);
    ft__sort(h.width, h.n);
    print_spread("time", time_error, b->n);
    print_spread("time, sum of measured operations", sum_error, b->n);
    print_spread("memory", memory_error, b->n);
    printf(
        "held-out operations: %zu, median error %.1f%%, 90th percentile %.1f%%; inside "
        "the 90 %% interval %.1f%%, median high/low %.2f\n",
        h.n, 100 * ft__quantile(h.ape, h.n, 0.5), 100 * ft__quantile(h.ape, h.n, 0.9),
        100 * (double)h.inside / (double)h.n, ft__quantile(h.width, h.n, 0.5));
}

static void print_rounds(const struct bench *b)
{
    printf(
        "\nnetworks measured, ms per pass (median), %u rounds; memory by part, MiB\n",
        b->rounds);
    for (uint32_t i = 0; i < b->n; i++) {
        const struct model *m = &b->model[i];

        printf("%-18s", m->name);
        for (uint32_t j = 0; j < m->rounds; j++)
            printf(" %8.2f", 1e3 * m->time_s[j]);
        printf("   weights %.1f, activations %.1f, workspace %.1f, context %.1f, peak "
               "%.1f\n",
               m->parts[0] / 1048576, m->parts[1] / 1048576, m->parts[2] / 1048576,
               m->parts[3] / 1048576, m->peak_bytes / 1048576);
    }
}

int main(int argc, char **argv)
{
    static struct bench b;
    struct result r;

    if (argc < 4) {
        fprintf(stderr,
                "usage: %s DATA_DIR PLUGIN_DIR STORE [ENGINE [SECONDS [ROUNDS]]]\n",
                argv[0]);
        return 2;
    }
    b.session = (ft_session_options){.plugin_dir = argv[2],
                                     .engine = argc > 4 ? argv[4] : "onednn",
                                     .threads = 1,
                                     .seed = 1};
    b.store = argv[3];
    b.op_time_s = argc > 5 ? atof(argv[5]) : 0.2;
    b.rounds = argc > 6 ? (uint32_t)atoi(argv[6]) : 2;
    b.rounds = b.rounds > MAX_ROUNDS ? MAX_ROUNDS : b.rounds;
    name_models(&b, argv[1]);
    in_child(describe_engine, &b, 0, &r);
    b.policy = r.policy;
    b.data_dir = argv[1];
    for (uint32_t i = 0; i < b.rounds; i++) {
        measure_round(&b);
        in_child(collect_part, &b, i + 1, &r);
    }
    load_graphs(&b);
    print_rounds(&b);
    table(&b, 1);
    table(&b, 0);
    for (uint32_t i = 0; i < b.n_samples; i++)
        ft_graph_free(b.samples[i]);
    for (uint32_t i = 0; i < b.n; i++)
        ft_graph_free(b.model[i].graph);
    return 0;
}
