/* Operators of the domain com.microsoft. Oracle: the results of ONNX Runtime, run
 * on each of the one-node models in tests/data/contrib (tools/ort-shapes). */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "foretell/graph.h"
#include "import/onnx.h"
#include "onnx_text.h"

static const char *const files[] = {
    "attention.txt", "layers.txt", "others.txt", "products.txt", "quantised.txt",
};

static ft_graph *import(const char *text, ft_error *err)
{
    size_t len;
    uint8_t *data = onnx_from_text(text, &len);
    ft_graph *g = NULL;

    CHECK(data != NULL);
    if (data)
        (void)ft_import_onnx(&g, data, len, "m.onnx", NULL, err);
    free(data);
    return g;
}

/* ---- results ---- */

static const ft_tensor *output(const ft_graph *g, const char *name)
{
    for (uint32_t i = 0; i < ft_graph_n_tensors(g); i++) {
        const ft_tensor *t = ft_graph_tensor(g, i);

        if (t->is_output && strcmp(t->name, name) == 0)
            return t;
    }
    return NULL;
}

/* "want NAME DTYPE DIMS" against the graph; what there is instead to `have`. */
static bool is_as_wanted(const ft_graph *g, const char *line, char *have, size_t size)
{
    char name[64], dtype[16], dims[128], mine[128] = "-";
    const ft_tensor *t;
    size_t at = 0;

    if (sscanf(line, "want %63s %15s %127s", name, dtype, dims) != 3)
        return false;
    t = output(g, name);
    if (!t) {
        snprintf(have, size, "no output %s", name);
        return false;
    }
    for (uint32_t i = 0; i < t->shape.rank && at < sizeof(mine); i++)
        at += (size_t)snprintf(mine + at, sizeof(mine) - at, "%s%lld", i ? "," : "",
                               (long long)t->shape.dim[i]);
    snprintf(have, size, "%s %s", ft_dtype_name(t->dtype), mine);
    return strcmp(ft_dtype_name(t->dtype), dtype) == 0 && strcmp(mine, dims) == 0;
}

struct one_case {
    char name[128];
    char model[8192];
    char wants[1024];
    bool bounded; /* its results are taken from the operator's description alone */
};

static void run_case(const struct one_case *c)
{
    ft_error err = {0};
    ft_graph *g = import(c->model, &err);
    char copy[1024], have[256], *save = NULL;

    if (!g)
        fprintf(stderr, "case \"%s\": %s\n", c->name, err.msg);
    CHECK(g != NULL && *c->wants);
    snprintf(copy, sizeof(copy), "%s", c->wants);
    for (char *line = g ? strtok_r(copy, "\n", &save) : NULL; line;
         line = strtok_r(NULL, "\n", &save)) {
        bool good = is_as_wanted(g, line, have, sizeof(have));

        if (!good)
            fprintf(stderr, "case \"%s\": %s, is %s\n", c->name, line, have);
        CHECK(good);
    }
    if (g && (ft_graph_n_bounded(g) > 0) != c->bounded)
        fprintf(stderr, "case \"%s\": %s\n", c->name,
                c->bounded ? "nothing is bounded" : ft_graph_bounded(g, 0));
    CHECK(!g || (ft_graph_n_bounded(g) > 0) == c->bounded);
    ft_graph_free(g);
}

static void append(char *to, size_t size, const char *line)
{
    size_t n = strlen(to);

    CHECK(n + strlen(line) < size);
    snprintf(to + n, size - n, "%s", line);
}

static uint32_t run_file(const char *path)
{
    struct one_case c = {0};
    FILE *f = fopen(path, "r");
    char line[2048];
    uint32_t n = 0;

    CHECK(f != NULL);
    while (f && fgets(line, sizeof(line), f)) {
        if (strncmp(line, "case ", 5) == 0) {
            if (*c.name)
                run_case(&c);
            c = (struct one_case){0};
            sscanf(line, "case %127[^\n]", c.name);
            n++;
        } else if (strncmp(line, "want ", 5) == 0) {
            append(c.wants, sizeof(c.wants), line);
        } else if (strcmp(line, "bounded\n") == 0) {
            c.bounded = true;
        } else if (*line != '#' && strcmp(line, "documented\n") != 0) {
            append(c.model, sizeof(c.model), line);
        }
    }
    if (*c.name)
        run_case(&c);
    if (f)
        fclose(f);
    return n;
}

static void results_are_those_of_onnx_runtime(const char *root)
{
    uint32_t n = 0;
    char path[1024];

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        snprintf(path, sizeof(path), "%s/tests/data/contrib/%s", root, files[i]);
        n += run_file(path);
    }
    printf("%u cases\n", n);
    CHECK(n > 0);
}

static void rules_are_in_order(void)
{
    static const char *const ops[] = {
#define FT__RULE(op, run, arg, min_in) #op,
#include "import/rules_microsoft.def"
#undef FT__RULE
    };
    ft__str domain = {"com.microsoft", 13};

    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        const ft__rule *r = ft__onnx_rule(domain, (ft__str){ops[i], strlen(ops[i])});

        CHECK(r && strcmp(r->op, ops[i]) == 0);
    }
    CHECK(ft__onnx_rule(domain, (ft__str){"Conv", 4}) == NULL);
    CHECK(ft__onnx_rule((ft__str){"com.other", 9}, (ft__str){"BiasGelu", 8}) == NULL);
}

int main(int argc, char **argv)
{
    rules_are_in_order();
    results_are_those_of_onnx_runtime(argc > 1 ? argv[1] : ".");
    CHECK_DONE();
}
