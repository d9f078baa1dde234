/* foretell fleet: measure many machines of several kinds into one store. */
#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "foretell/fleet.h"
#include "report/units.h"

struct fleet_options {
    uint64_t local;
};

static const ft__option options[] = {
    FT__COUNT(struct fleet_options, local, "local", "N",
              "run: N jobs at once on this machine, without Slurm"),
    {0},
};

enum verb { PLAN, RUN, STATUS };

static double hours(double seconds)
{
    return seconds / 3600;
}

static json_t *part_json(const ft_fleet_part *p)
{
    return ft__json("kind:s device:s setting:s wanted:u known:u refused:u missing:u "
                    "missing_node_hours:g error:g enough:b jobs:u waiting:u running:u "
                    "died:u quarantined:u node_hours:g took_over_planned:g",
                    p->kind, p->device, p->setting, p->wanted, p->known, p->refused,
                    p->missing, hours(p->missing_s), p->error, p->enough, p->jobs,
                    p->waiting, p->running, p->died, p->quarantined, hours(p->spent_s),
                    p->took);
}

static json_t *fleet_json(const ft_fleet_report *r)
{
    json_t *o = ft__json("folder:s node_hours:g budget_node_hours:g out_of_budget:b",
                         r->folder, hours(r->spent_s),
                         isinf(r->budget_s) ? (double)NAN : hours(r->budget_s),
                         r->out_of_budget),
           *parts = json_array(), *nodes = json_array();

    for (size_t k = 0; k < r->n_parts; k++)
        json_array_append_new(parts, part_json(&r->part[k]));
    for (size_t k = 0; k < r->n_nodes; k++)
        json_array_append_new(nodes, ft__json("kind:s node:s why:s", r->node[k].kind,
                                              r->node[k].node, r->node[k].why));
    ft__json_set_take(&o, "kinds", parts);
    ft__json_set_take(&o, "quarantined", nodes);
    return o;
}

static bool print_plan(const ft_fleet_report *r)
{
    ft__table *t = ft__table_new("kind<|setting<|wanted>u|measured>u|given up>u|"
                                 "missing>u|node hours>~");

    for (size_t k = 0; k < r->n_parts; k++) {
        const ft_fleet_part *p = &r->part[k];

        ft__table_row(t, p->kind, p->setting, p->wanted, p->known, p->refused,
                      p->missing, hours(p->missing_s));
    }
    return ft__table_print_take(t, stdout);
}

static bool print_status(const ft_fleet_report *r)
{
    ft__table *t = ft__table_new("kind<|setting<|measured>u|given up>u|missing>u|"
                                 "jobs>u|waiting>u|running>u|died>u|quarantined>u|"
                                 "node hours>~");

    for (size_t k = 0; k < r->n_parts; k++) {
        const ft_fleet_part *p = &r->part[k];

        ft__table_row(t, p->kind, p->setting, p->known, p->refused, p->missing, p->jobs,
                      p->waiting, p->running, p->died, p->quarantined,
                      hours(p->spent_s));
    }
    return ft__table_print_take(t, stdout);
}

static void print_rest(const ft_fleet_report *r, const ft__cli *c, enum verb verb)
{
    double missing_s = 0;
    size_t missing = 0, refused = 0;

    for (size_t k = 0; k < r->n_parts; k++) {
        const ft_fleet_part *p = &r->part[k];

        if (!isnan(p->error))
            printf("%s: operations held out are predicted with a mean error of %s%s\n",
                   p->kind, ft__text_percent(p->error).s,
                   p->enough ? ": that is enough" : "");
        missing += p->enough ? 0 : p->missing;
        missing_s += p->enough ? 0 : p->missing_s;
        refused += p->refused;
    }
    for (size_t k = 0; k < r->n_nodes; k++)
        printf("quarantined: node %s of %s: %s\n", r->node[k].node, r->node[k].kind,
               r->node[k].why);
    if (refused)
        printf("why operations were given up: %s/refused.csv\n", r->folder);
    printf("%.3g node hours used", hours(r->spent_s));
    if (!isinf(r->budget_s))
        printf(" of %.3g%s", hours(r->budget_s),
               r->out_of_budget ? ": the budget is spent" : "");
    if (missing)
        printf(", about %.3g missing", hours(missing_s));
    putchar('\n');
    if (!missing || verb == RUN)
        return;
    ft__put_word(stdout, "next: foretell fleet run ", c->args.v[1]);
    ft__put_store(c);
    putchar('\n');
}

/* To plan without a store is to begin with none. */
static ft_status open_store(ft__cli *c, ft_store **out, enum verb verb)
{
    char path[FT__PATH_MAX];

    ft__path_store(c, path);
    return ft_store_open(out, path, verb == RUN ? FT_STORE_WRITE : FT_STORE_READ_ANY,
                         &c->err);
}

static int work(ft__cli *c, ft_fleet *f, const struct fleet_options *o, enum verb verb)
{
    char self[FT__PATH_MAX], plugins[FT__PATH_MAX], data_dir[FT__PATH_MAX];
    ft_fleet_options how = {.foretell = self,
                            .plugin_dir = plugins,
                            .data_dir = data_dir,
                            .local = (uint32_t)o->local,
                            .log = &c->log};
    ft_fleet_report r = {0};
    ft_store *store = NULL;
    bool printed = true;
    ft_status st;
    int code;

    ft__path_self(self);
    ft__path_plugins(c, plugins);
    ft__path_data(c, data_dir);
    code = ft__data_open(c, &how.data);
    if (code)
        return code;
    st = open_store(c, &store, verb);
    if (!st)
        st = verb == RUN ? ft_fleet_run(&r, f, store, &how, &c->err)
                         : ft_fleet_look(&r, f, store, &how, &c->err);
    ft__bar_draw(&c->bar, 0, 0, "");
    if (!st && c->json) {
        printed = ft__cli_json_take(c, fleet_json(&r));
    } else if (!st) {
        printed = verb == PLAN ? print_plan(&r) : print_status(&r);
        print_rest(&r, c, verb);
    }
    code = st ? ft__cli_check(c, st) : ft__cli_done(c, printed);
    ft_fleet_report_free(&r);
    ft_store_close(store);
    ft__data_close(c, how.data);
    return code;
}

static int run(ft__cli *c, const void *user)
{
    const struct fleet_options *o = user;
    ft_fleet *f = NULL;
    int verb, code = ft__verb_parse(c, &verb, c->args.v[0], "plan, run, status");

    if (!code && o->local && verb != RUN)
        return ft__usage(c, "--local is for run");
    if (!code && verb == RUN)
        code = ft__home_needed(c, c->store);
    if (!code)
        code = ft__cli_check(c, ft_fleet_load(&f, c->args.v[1], &c->err));
    if (!code)
        code = work(c, f, o, (enum verb)verb);
    ft_fleet_free(f);
    return code;
}

const ft__command ft__fleet_command = {
    .name = "fleet",
    .arguments = "plan|run|status FLEET.yaml",
    .summary = "measure many machines of several kinds into one store",
    .more = "FLEET.yaml names kinds of devices and what is wanted of them "
            "(docs/fleet.md). plan:\nwhat the store lacks and how many node hours that "
            "takes. run: have it measured by\njobs of Slurm, the most informative "
            "operations of the whole fleet first, and merge\nit into the store; "
            "stopped, the same command goes on. status: what became of jobs,\nand "
            "which nodes are out of use.",
    .examples = "  foretell fleet plan lab.yaml\n"
                "  foretell fleet run lab.yaml --db lab.db\n"
                "  foretell fleet run lab.yaml --local 2\n"
                "  foretell fleet status lab.yaml --json\n",
    .least_args = 2,
    .most_args = 2,
    .options_size = sizeof(struct fleet_options),
    .options = options,
    .run = run,
};
