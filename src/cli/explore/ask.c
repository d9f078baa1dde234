/* Questions of a sweep: what many points share is opened once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explore/explore.h"
#include "cli/predict.h"
#include "cli/serve/serve.h"

enum { MAX_GRAPHS = 512, KEY_MAX = 1200 };

struct network {
    char *key;
    ft_graph *graph;
    double items;
    uint64_t used; /* when last */
};

struct ft__point_queries {
    ft__cli *c;
    const ft_exploration *x;
    struct network network[MAX_GRAPHS];
    size_t n_networks;
    uint64_t clock;
    ft_data *data;  /* NULL: nothing is asked yet */
    char **setting; /* each once */
    size_t n_settings, cap_settings;
};

ft__point_queries *ft__point_queries_new(ft__cli *c, const ft_exploration *x)
{
    ft__point_queries *a = calloc(1, sizeof(*a));

    if (a) {
        a->c = c;
        a->x = x;
    }
    return a;
}

static void network_free(struct network *n)
{
    free(n->key);
    ft_graph_free(n->graph);
    *n = (struct network){0};
}

void ft__point_queries_free(ft__point_queries *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n_networks; i++)
        network_free(&a->network[i]);
    for (size_t i = 0; i < a->n_settings; i++)
        free(a->setting[i]);
    free(a->setting);
    ft_data_close(a->data);
    free(a);
}

struct asked {
    char **words, **argv;
    ft__cli c;
    ft__predict_options *o;
    ft__predict_question q;
};

static void asked_free(struct asked *k)
{
    ft__predict_end(&k->q);
    if (k->o)
        ft__options_free(&k->c, k->o);
    free(k->argv);
    free(k->words);
}

/* An option of serving or of training over several GPUs, or what a sweep does not read;
 * NULL: none. */
static const char *unread_option(const ft__predict_options *o)
{
    const ft__option *served = ft__option_given(ft__serve_table, &o->serve),
                     *trained = ft__option_given(ft__llm_train_table, &o->train);

    return served                 ? served->name
           : trained              ? trained->name
           : o->asked.launch_time ? "launch-time"
           : o->html              ? "html"
           : o->trace             ? "trace"
                                  : NULL;
}

static int check_asked(const ft__point_queries *a, const struct asked *k)
{
    const char *one = k->o->clocks                                  ? "--clocks"
                      : k->o->power_caps                            ? "--power-caps"
                      : k->o->max_batch                             ? "--max-batch"
                      : k->o->must_fit                              ? "--must-fit"
                      : k->o->device && strchr(k->o->device, ',')   ? "--device D,D2"
                      : k->c.args.n && !strcmp(k->c.args.v[0], "-") ? "standard input"
                                                                    : NULL;
    const char *unread = unread_option(k->o);
    const char *name = ft_exploration_get(a->x)->name;

    if (one)
        return ft__cli_exit(a->c, FT__EXIT_INPUT,
                            "%s: predict: a point is one question: %s asks more", name,
                            one);
    if (unread)
        return ft__cli_exit(a->c, FT__EXIT_INPUT,
                            "%s: predict: --%s: points are passes or training steps of "
                            "one device, without that option",
                            name, unread);
    return FT__EXIT_GOOD;
}

/* Words come from the space file, not from the command line. */
static int misspelt(const ft__point_queries *a)
{
    return ft__cli_exit(a->c, FT__EXIT_INPUT,
                        "the space %s: predict: its words are no question, see above",
                        ft_exploration_get(a->x)->name);
}

static int parse(ft__point_queries *a, struct asked *k, uint32_t workload,
                 const double *point)
{
    static const ft__command *const commands[] = {&ft__predict_command, NULL};
    static char program[] = "predict"; /* and command */
    void *options = NULL;
    size_t n;
    ft_status st;
    int code;

    memset(k, 0, sizeof(*k));
    k->c = (ft__cli){.quiet = a->c->quiet, .log = a->c->log};
    st = ft_exploration_words(&k->words, &n, a->x, workload, point, &a->c->err);
    if (st)
        return ft__cli_check(a->c, st);
    k->argv = calloc(n + 3, sizeof(*k->argv));
    if (!k->argv)
        return ft__cli_done(a->c, false);
    k->argv[0] = k->argv[1] = program;
    memcpy(k->argv + 2, k->words, n * sizeof(*k->words));
    code = ft__options_parse(&k->c, &options, commands, (int)n + 2, k->argv);
    k->o = options;
    if (code >= 0 || !k->o)
        return misspelt(a);
    k->c.command = a->c->command; /* what is wrong from here on, it says */
    k->c.json = a->c->json;
    if (!k->c.data_dir)
        k->c.data_dir = a->c->data_dir;
    k->q.c = &k->c;
    k->q.o = k->o;
    code = ft__step_take(&k->c, &k->o->serve, &k->o->model);
    if (!code)
        code = check_asked(a, k);
    if (!code)
        code = ft__predict_read(&k->q);
    if (!code && !a->data)
        code = ft__data_open(&k->c, &a->data);
    return code == FT__EXIT_USAGE ? misspelt(a) : code;
}

static const char *keep_setting(ft__point_queries *a, const char *text)
{
    char **grown = a->setting;

    if (a->n_settings == a->cap_settings) {
        a->cap_settings = 2 * a->cap_settings + 64;
        grown = realloc(grown, a->cap_settings * sizeof(*grown));
        if (!grown)
            return NULL;
        a->setting = grown;
    }
    a->setting[a->n_settings] = strdup(text);
    return a->setting[a->n_settings] ? a->setting[a->n_settings++] : NULL;
}

int ft__point_queries_setting(ft__point_queries *a, const char **out, uint32_t workload,
                              const double *point)
{
    struct asked k;
    int code = parse(a, &k, workload, point);

    if (!code) {
        *out = keep_setting(a, k.q.setting);
        code = *out ? FT__EXIT_GOOD : ft__cli_done(a->c, false);
    }
    asked_free(&k);
    return code;
}

static void add_key(char *key, const char *text)
{
    size_t len = strlen(key);

    snprintf(key + len, KEY_MAX - len, "%s\n", text ? text : "");
}

/* Refuses a key that is too long: cut, it could be another point's. */
static int check_key(const ft__point_queries *a, const char *key)
{
    return strlen(key) + 1 < KEY_MAX
               ? FT__EXIT_GOOD
               : ft__cli_exit(a->c, FT__EXIT_INPUT,
                              "%s: predict: names and options of a point have more "
                              "than %d bytes",
                              ft_exploration_get(a->x)->name, KEY_MAX - 2);
}

static void network_key(char *key, const struct asked *k)
{
    const ft__model_options *m = &k->o->model;
    char counts[64];

    *key = '\0';
    add_key(key, k->c.args.v[0]);
    snprintf(counts, sizeof(counts), "%llu %llu", (unsigned long long)m->batch,
             (unsigned long long)m->trips);
    add_key(key, counts);
    add_key(key, m->dtype);
    add_key(key, k->o->step.mode);
    add_key(key, k->o->step.optimizer);
    add_key(key, k->o->step.loss);
    add_key(key, k->o->step.loss_on);
    for (size_t i = 0; i < m->dims.n; i++)
        add_key(key, m->dims.v[i]);
    for (size_t i = 0; i < m->inputs.n; i++)
        add_key(key, m->inputs.v[i]);
}

/* A free place, or the least recently used one. */
static struct network *place_for(ft__point_queries *a)
{
    struct network *oldest = &a->network[0];

    if (a->n_networks < MAX_GRAPHS)
        return &a->network[a->n_networks++];
    for (size_t i = 1; i < MAX_GRAPHS; i++)
        if (a->network[i].used < oldest->used)
            oldest = &a->network[i];
    network_free(oldest);
    return oldest;
}

static int find_network(ft__point_queries *a, struct asked *k, struct network **out)
{
    char key[KEY_MAX];
    struct network *n;
    int64_t batch;
    int code;

    network_key(key, k);
    code = check_key(a, key);
    if (code)
        return code;
    for (size_t i = 0; i < a->n_networks; i++)
        if (a->network[i].key && strcmp(a->network[i].key, key) == 0) {
            a->network[i].used = ++a->clock;
            *out = &a->network[i];
            return FT__EXIT_GOOD;
        }
    n = *out = place_for(a);
    n->used = ++a->clock;
    code = ft__model_read(&k->c, &n->graph, k->c.args.v[0], &k->o->model);
    if (code)
        return code;
    batch = n->graph->batch;
    n->items = batch > 0 ? (double)batch : 1;
    n->key = strdup(key);
    return n->key ? FT__EXIT_GOOD : ft__cli_done(a->c, false);
}

/* What answered: a predictor, or a method that needs the data sheet alone. */
static void note_method(ft__point_prediction *out, const ft_answer *answer)
{
    out->learned = answer->by != FT_ANSWERED_BY_SPECIFICATION;
    if (out->learned && *answer->predictor)
        snprintf(out->method, sizeof(out->method), "%s (%.48s)", answer->method,
                 ft__path_name(answer->predictor));
    else
        snprintf(out->method, sizeof(out->method), "%s", answer->method);
}

static int ask(ft__point_queries *a, struct asked *k, ft__point_prediction *out,
               char *why, size_t size, const char *const *setting, size_t n)
{
    const char *device = k->o->device ? k->o->device : "local";
    const double price_per_s = ft_exploration_price(a->x, device);
    ft_query query = k->q.query;
    struct network *network;
    ft_answer *answer;
    ft_status st;
    int code = find_network(a, k, &network);

    if (code)
        return code;
    query.graph = network->graph;
    query.device = device;
    query.settings = setting;
    query.n_settings = n;
    st = ft_query_ask(&answer, a->data, &query, &k->c.err);
    if (st)
        return ft__cli_check_asked(&k->c, st);
    for (size_t i = 0; i < n; i++) {
        const ft_brief *b = &answer->each[i];

        out[i] = (ft__point_prediction){.brief = *b,
                                        .items = network->items,
                                        .price_per_s = price_per_s,
                                        .limit_bytes = answer->limit_bytes};
        out[i].brief.why = "";
        note_method(&out[i], answer);
        if (*b->why)
            snprintf(why, size, "%s", b->why);
    }
    ft_answer_free(answer);
    return FT__EXIT_GOOD;
}

int ft__point_queries_ask(ft__point_queries *a, ft__point_prediction *out, char *why,
                          size_t size, uint32_t workload, const double *point,
                          const char *const *setting, size_t n)
{
    struct asked k;
    int code = parse(a, &k, workload, point);

    *why = '\0';
    if (!code)
        code = ask(a, &k, out, why, size, setting, n);
    asked_free(&k);
    return code;
}

/* Words for the shell; what does not fit is none. */
struct line {
    char *text;
    size_t size, len;
    bool whole;
};

static void add_word(struct line *l, const char *word)
{
    l->whole = l->whole && l->len + 4 * strlen(word) + 4 < l->size;
    if (!l->whole)
        return;
    l->text[l->len++] = ' ';
    l->text[l->len++] = '\'';
    for (; *word; word++) {
        if (*word == '\'')
            l->len += (size_t)snprintf(l->text + l->len, l->size - l->len, "'\\'");
        l->text[l->len++] = *word;
    }
    l->text[l->len++] = '\'';
    l->text[l->len] = '\0';
}

static void add_option(struct line *command, const char *name, const char *value)
{
    add_word(command, name);
    add_word(command, value);
}

static void add_count(struct line *command, const char *name, uint64_t n)
{
    char text[32];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
    if (n)
        add_option(command, name, text);
}

static void make_command(struct line *command, const ft__cli *c, const struct asked *k,
                         const char *engine)
{
    char self[FT__PATH_MAX];

    ft__path_self(self);
    add_word(command, self);
    add_word(command, "measure");
    add_word(command, k->c.args.v[0]);
    add_word(command, "--json");
    add_option(command, "--engine", engine);
    add_count(command, "--threads", k->o->threads);
    add_count(command, "--batch", k->o->model.batch);
    add_count(command, "--trips", k->o->model.trips);
    if (k->o->model.dtype)
        add_option(command, "--dtype", k->o->model.dtype);
    for (size_t i = 0; i < k->o->model.dims.n; i++)
        add_option(command, "--dim", k->o->model.dims.v[i]);
    for (size_t i = 0; i < k->o->model.inputs.n; i++)
        add_option(command, "--input", k->o->model.inputs.v[i]);
    if (c->plugin_dir)
        add_option(command, "--plugin-dir", c->plugin_dir);
}

/* The engine of the predictor that is named, otherwise the one that is asked for;
 * false: it is no predictor. */
static bool engine_of(char *out, size_t size, const ft__predict_options *o)
{
    ft_predictor_info info;
    ft_predictor *p;

    snprintf(out, size, "%s", o->engine ? o->engine : FT_DEFAULT_ENGINE);
    if (!o->predictor)
        return true;
    if (ft_predictor_load(&p, o->predictor, NULL))
        return false;
    ft_predictor_get_info(p, &info);
    if (*info.engine)
        snprintf(out, size, "%s", info.engine);
    ft_predictor_free(p);
    return true;
}

bool ft__point_queries_measure(ft__point_queries *a, char *command, size_t size,
                               uint32_t workload, const double *point)
{
    struct line line = {.text = command, .size = size, .whole = true};
    char engine[64];
    struct asked k;
    bool here = !parse(a, &k, workload, point) &&
                (!k.o->device || strcmp(k.o->device, "local") == 0) &&
                !*k.q.use.setting && k.q.step.mode == FT_MODE_INFERENCE &&
                engine_of(engine, sizeof(engine), k.o);

    if (here) {
        make_command(&line, a->c, &k, engine);
        here = line.whole;
    }
    asked_free(&k);
    return here;
}
