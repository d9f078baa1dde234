/* From a recipe to the nodes of a model.
 *
 *   "Split i0 @sizes > o* axis=$axis"        nodes are separated by '|'
 *
 * A node is its type, its operands, '>', its results, and attributes name=value.
 * Operands:
 *
 *   i0 o0 w0 t0   an input, a result, a weight, a value in between or a constant
 *   i*            all of them
 *   w1?           only where the operation has a bias
 *   -             left out
 *   #6            a constant of the operation's type
 *   $axis         the operation's key, a scalar
 *   @axes         all values of the key; @out: the extents of the result
 *
 * Values of attributes: $axis, -$axis, @perm, *kernel (one number each spatial axis of
 * a window, *pad twice as many), numbers, numbers with '.' for floats, words. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node.h"

/* The keys that recipes name. */
static const char *const keys[FT_K_COUNT] = {
#define KEY(name) [FT_K_##name] = #name,
    KEY(kernel) KEY(stride) KEY(pad) KEY(outpad) KEY(dilation) KEY(groups) KEY(ceil)
        KEY(norm) KEY(size) KEY(axis) KEY(axes) KEY(keep) KEY(perm) KEY(sizes)
            KEY(hidden) KEY(causal)
#undef KEY
};

static ft_key_id key_of(const char *name)
{
    ft_key_id k = FT_K_x;

    while (!keys[k] || strcmp(keys[k], name) != 0)
        k++;
    return k;
}

/* What "@axes" or "*kernel" stands for; how many there are. */
static uint32_t numbers_of(const ft__model *m, const char *word,
                           int64_t v[FT_OP_MAX_VALUES])
{
    const ft_shape *out = &m->out[0];
    uint32_t n = m->in[0].rank - 2;
    const int64_t *values = out->dim;
    ft_key_id key;

    if (strcmp(word, "@out") == 0) {
        n = out->rank;
    } else if (strcmp(word, "*pad") == 0) {
        for (uint32_t i = 0; i < n; i++)
            ft_op_pad(m->op, i, &v[i], &v[n + i]);
        return 2 * n;
    } else {
        key = key_of(word + 1);
        if (*word == '@')
            values = ft_op_get(m->op, key, &n);
        for (uint32_t i = 0; i < n; i++)
            v[i] = *word == '@' ? values[i] : ft_op_at(m->op, key, i);
        return n;
    }
    memcpy(v, values, n * sizeof(*v));
    return n;
}

static void add_constant(ft__model *m, const char *word)
{
    int64_t v[FT_OP_MAX_VALUES];

    if (*word == '#')
        ft__const_scalar(m, word, m->op->dtype, strtod(word + 1, NULL));
    else if (*word == '$')
        ft__const_scalar(m, word, FT_DTYPE_int64,
                         (double)ft_op_at(m->op, key_of(word + 1), 0));
    else if (*word == '@')
        ft__const_ints(m, word, v, numbers_of(m, word, v));
}

static void add_attribute(ft__model *m, char *word)
{
    char *value = strchr(word, '=');
    int64_t v[FT_OP_MAX_VALUES];
    uint32_t n;

    *value++ = '\0';
    if (*value == '@' || *value == '*') {
        n = numbers_of(m, value, v);
        ft__attr_ints(m, word, v, n);
    } else if (*value == '$') {
        ft__attr_int(m, word, ft_op_at(m->op, key_of(value + 1), 0));
    } else if (strncmp(value, "-$", 2) == 0) {
        ft__attr_int(m, word, -ft_op_at(m->op, key_of(value + 2), 0));
    } else if (isalpha((unsigned char)*value)) {
        ft__attr_text(m, word, value);
    } else if (strchr(value, '.')) {
        ft__attr_float(m, word, strtof(value, NULL));
    } else {
        ft__attr_int(m, word, strtol(value, NULL, 10));
    }
}

enum { WORD = 64, NAMES = 8 * FT_OP_MAX_OPERANDS };

static void add_operand(ft__model *m, char names[NAMES], const char *word)
{
    uint32_t all = word[1] != '*' ? 1 : *word == 'i' ? m->n_in : m->n_out;
    size_t len = strlen(word), at = strlen(names);

    if (word[len - 1] == '?' && !ft_op_at(m->op, FT_K_bias, 0))
        return;
    for (uint32_t i = 0; i < all && at < NAMES; i++) {
        const char *blank = at ? " " : "";

        at += (size_t)(word[1] == '*'
                           ? snprintf(names + at, NAMES - at, "%s%c%u", blank, *word, i)
                           : snprintf(names + at, NAMES - at, "%s%.*s", blank,
                                      (int)strcspn(word, "?"), word));
    }
    add_constant(m, word);
}

/* The next word of a node; false: it has none left. */
static bool next_word(const char **at, char word[WORD])
{
    size_t len;

    *at += strspn(*at, " ");
    len = strcspn(*at, " |");
    snprintf(word, WORD, "%.*s", (int)len, *at);
    *at += len;
    return len > 0;
}

void ft__follow(ft__model *m, const char *recipe)
{
    char type[WORD], word[WORD], names[2][NAMES];

    while (*recipe) {
        int results = 0;

        names[0][0] = names[1][0] = '\0';
        (void)next_word(&recipe, type);
        while (next_word(&recipe, word))
            if (*word == '>')
                results = 1;
            else if (strchr(word, '='))
                add_attribute(m, word);
            else
                add_operand(m, names[results], word);
        ft__node(m, type, names[0], names[1]);
        recipe += *recipe == '|';
    }
}
