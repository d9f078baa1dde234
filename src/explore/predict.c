/* Explorations of predictions: words for `foretell predict` in place of a command. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explore/space/read.h"

/* ---- reading ---- */

bool ft__can_measure(ft_measured what, bool predicted)
{
    switch (what) {
    case FT_MEASURED_P95: return !predicted;
    case FT_MEASURED_COST: return predicted;
    case FT_MEASURED_MATCH:
    case FT_MEASURED_SIZE:
    case FT_MEASURED_COUNT: return false;
    default: return true;
    }
}

/* "2.49/h" to a second's price; NaN: it is none. */
static double price_of(const char *text)
{
    static const struct {
        const char *unit;
        double seconds;
    } known[] = {{"/h", 3600}, {"/min", 60}, {"/s", 1}, {"/day", 86400}};
    char *unit;
    double v = strtod(text, &unit);

    for (size_t i = 0; i < sizeof(known) / sizeof(*known) && unit != text; i++)
        if (strcmp(unit, known[i].unit) == 0 && v > 0 && isfinite(v))
            return v / known[i].seconds;
    return NAN;
}

static void read_prices(ft__yaml *y, ft__node *map, ft_exploration *x)
{
    x->prices = ft__read_names(y, map, "prices", "");
    for (size_t i = 0; i < x->prices.n && !y->st; i++)
        if (isnan(price_of(x->prices.value[i])))
            ft__yaml_fail(y, map, "prices",
                          "%s: a price such as 2.49/h is wanted, not \"%s\"",
                          x->prices.name[i], x->prices.value[i]);
}

void ft__read_predict(ft__yaml *y, ft__node *root, ft_exploration *x)
{
    static const char *const of_runs[] = {"command", "build", "runs", "environment",
                                          "device"};
    ft__node *words = ft__yaml_get(y, root, "predict"), *at;

    x->predict = ft__read_words(y, words, "predict");
    if (x->predict.shell)
        ft__yaml_fail(y, words, "predict",
                      "a list of words is wanted: [model.onnx, --device, '{device}']");
    at = ft__yaml_get(y, root, "prices");
    if (at && !words)
        ft__yaml_fail(y, at, "prices", "what devices cost goes with predict");
    read_prices(y, at, x);
    for (size_t i = 0; i < sizeof(of_runs) / sizeof(*of_runs) && words; i++)
        if ((at = ft__yaml_get(y, root, of_runs[i])))
            ft__yaml_fail(y, at, of_runs[i], "nothing is run where predict stands");
}

/* ---- asking ---- */

int ft_exploration_word_has(const ft_exploration *x, size_t i, size_t k)
{
    return i < x->predict.n && k < x->space->n &&
           ft__place_occurs(x->predict.word[i], x->space->param[k].name);
}

double ft_exploration_price(const ft_exploration *x, const char *device)
{
    for (size_t i = 0; i < x->prices.n; i++)
        if (strcmp(x->prices.name[i], device) == 0)
            return price_of(x->prices.value[i]);
    return NAN;
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] == '-' && word[2] && !strchr(word, '=');
}

/* "--clock=" with nothing behind it. */
static bool is_empty_option(const char *word)
{
    const char *equals = strchr(word, '=');

    return word[0] == '-' && word[1] == '-' && equals && !equals[1];
}

/* Without what came out empty: of n words the last of which was just added. */
static size_t drop_empty(const char **word, size_t n)
{
    if (!*word[n - 1])
        return n > 1 && is_option(word[n - 2]) ? n - 2 : n - 1;
    return is_empty_option(word[n - 1]) ? n - 1 : n;
}

/* Texts and the list of them in one piece. */
static char **joined(const char *const *word, size_t n)
{
    size_t bytes = (n + 1) * sizeof(char *);
    char **out, *at;

    for (size_t i = 0; i < n; i++)
        bytes += strlen(word[i]) + 1;
    out = malloc(bytes);
    if (!out)
        return NULL;
    at = (char *)(out + n + 1);
    for (size_t i = 0; i < n; i++) {
        out[i] = at;
        at = stpcpy(at, word[i]) + 1;
    }
    out[n] = NULL;
    return out;
}

ft_status ft_exploration_words(char ***out, size_t *n, const ft_exploration *x,
                               uint32_t workload, const double *point, ft_error *err)
{
    const ft__place place = {x, point, workload, "", "foretell"};
    ft__arena arena = {0};
    const char **word = ft__arena_array(&arena, x->predict.n + 1, sizeof(*word));
    ft_status st = word ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%s", x->name);

    *out = NULL;
    *n = 0;
    for (size_t i = 0; i < x->predict.n && !st; i++) {
        ft_error why = {0};

        word[*n] = ft__place_text(&place, &arena, x->predict.word[i], &why);
        if (word[*n])
            *n = drop_empty(word, *n + 1);
        else
            st = ft_fail(err, why.status, 0, "%s", why.msg);
    }
    if (!st && !(*out = joined(word, *n)))
        st = ft_fail(err, FT_ENOMEM, 0, "%s", x->name);
    ft__arena_free(&arena);
    return st;
}
