/* foretell collect --export: operations and networks compiled into a folder for a
 * device that has neither compiler nor Python, with the list of what to measure there.
 */
#include "cli/measure/modules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "foretell/measure.h"

int ft__modules_engine(ft__cli *c, char *out, size_t size, const ft__modules *m)
{
    if (!m->engine || strncmp(m->engine, "tvm", 3) != 0 ||
        (m->engine[3] && m->engine[3] != ','))
        return ft__usage(c, "--export is for an engine that compiles: --engine tvm");
    if (strstr(m->engine, "cache=") || strchr(m->folder, ','))
        return ft__usage(c, "--export names the folder of the modules: no cache=, and "
                            "no comma in its name");
    if (mkdir(m->folder, 0777) && errno != EEXIST)
        return ft__cli_exit(c, FT__EXIT_INPUT, "cannot make the folder %s: %s",
                            m->folder, strerror(errno));
    if ((size_t)snprintf(out, size, "%s,cache=%s,export=1", m->engine, m->folder) >=
        size)
        return ft__usage(c, "--export %.60s...: too long", m->folder);
    return FT__EXIT_GOOD;
}

struct counts {
    size_t made, refused, networks;
};

static bool goes_on(ft_status st)
{
    return st == FT_OK || st == FT_EUNSUPPORTED;
}

static int write_ops(ft__cli *c, ft_session *s, const ft__modules *m, struct counts *n,
                     FILE *list)
{
    enum { SPEC_MAX = 2048 };
    char spec[SPEC_MAX];
    ft_status own = ft_session_prepare(s, NULL, &c->err);

    if (own)
        return ft__cli_check(c, own);
    for (size_t i = 0; i < m->ops->n; i++) {
        ft_error why = {0};
        ft_status st = ft_session_prepare(s, &m->ops->op[i], &why);

        if (!goes_on(st))
            return ft__cli_fail(c, st, &why);
        n->made += !st;
        n->refused += st != FT_OK;
        ft_op_print(&m->ops->op[i], spec, sizeof(spec));
        if (!st)
            fprintf(list, "%s *%" PRIu64 "\n", spec, m->ops->count[i]);
    }
    return FT__EXIT_GOOD;
}

static int write_network(ft__cli *c, ft_session *s, const ft__modules *m,
                         struct counts *n, const char *path)
{
    ft_error why = {0};
    ft_graph *g;
    ft_status st;
    int code;

    if (!ft_session_runs_whole(s, path))
        return FT__EXIT_GOOD;
    code = ft__model_read(c, &g, path, m->how);
    if (code)
        return code;
    st = ft_session_prepare_model(s, path, g, &why);
    ft_graph_free(g);
    n->networks += !st;
    n->refused += st == FT_EUNSUPPORTED;
    return goes_on(st) ? FT__EXIT_GOOD : ft__cli_fail(c, st, &why);
}

static int print_next(const ft__cli *c, const ft__modules *m, const struct counts *n)
{
    if (c->json)
        return ft__json_print_take(
            ft__json("folder:s operations:u networks:u refused:u", m->folder, n->made,
                     n->networks, n->refused),
            stdout);
    printf("%zu operations and %zu networks compiled into %s, %zu the engine does not "
           "run\n",
           n->made, n->networks, m->folder, n->refused);
    printf("there:  foretell collect %s/operations.ops --engine %s,cache=%s", m->folder,
           m->engine, m->folder);
    if (m->threads > 1)
        printf(" --threads %" PRIu64, m->threads);
    printf(" --db there.db\nthen:   foretell data merge there.db\n");
    return 1;
}

int ft__modules_write(ft__cli *c, ft_session *s, const ft__modules *m)
{
    char path[FT__PATH_MAX];
    struct counts n = {0};
    ft__text_file list;
    int code = ft__text_file_open(&list) ? write_ops(c, s, m, &n, list.fp)
                                         : ft__cli_done(c, false);

    /* An earlier call's list stands until this one's is whole. */
    snprintf(path, sizeof(path), "%.4000s/operations.ops", m->folder);
    if (!code) {
        code = ft__text_file_save(&list, c, path, true);
    } else if (list.fp) {
        fclose(list.fp);
        free(list.text);
    }
    for (size_t i = 0; i < m->files->n && !code; i++)
        code = write_network(c, s, m, &n, m->files->v[i]);
    return code ? code : ft__cli_done(c, print_next(c, m, &n));
}
