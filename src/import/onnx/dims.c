/* Inputs of the model and the dimensions that it leaves open. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/limits.h"
#include "import/onnx/compose.h"
#include "import/options.h"

/* One dimension of an input: a size, or -1 and perhaps a name. */
struct dim {
    int64_t size;
    ft__str name;
};

struct model_input {
    ft__str name;
    ft_dtype dtype;
    uint32_t rank;
    struct dim dim[FT_MAX_RANK];
    bool shaped, tensor;
    ft__bytes type;
    const ft_input_shape *given; /* by the options */
};

/* A dimension that an input's given shape has settled. */
struct bound {
    ft__str name;
    int64_t value;
    const ft_input_shape *by;
};

static bool means_batch(ft__str s)
{
    static const char *const names[] = {"batch", "batch_size", "batchsize", "batch_dim",
                                        "bs",    "n",          "b"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strlen(names[i]) == s.n && strncasecmp(names[i], s.s, s.n) == 0)
            return true;
    return false;
}

static struct dim read_dim(ft__onnx *o, ft__bytes message)
{
    struct dim d = {.size = -1, .name = {"", 0}};

    for (ft__onnx_pb f = ft__pb_open(&o->doc, message); ft__pb_next(&f);) {
        if (f.field == 1)
            d.size = (int64_t)f.num;
        else if (f.field == 2)
            d.name = ft__str_of(f.bytes);
    }
    return d;
}

static void read_shape(ft__onnx *o, ft__bytes message, struct model_input *in)
{
    in->shaped = true;
    for (ft__onnx_pb f = ft__pb_open(&o->doc, message); ft__pb_next(&f);) {
        if (f.field != 1)
            continue;
        if (in->rank < FT_MAX_RANK)
            in->dim[in->rank] = read_dim(o, f.bytes);
        in->rank++;
    }
}

static void read_input(ft__onnx *o, ft__bytes info, struct model_input *in)
{
    *in = (struct model_input){.name = {"", 0}};
    for (ft__onnx_pb f = ft__pb_open(&o->doc, info); ft__pb_next(&f);) {
        if (f.field == 1)
            in->name = ft__str_of(f.bytes);
        if (f.field != 2)
            continue;
        in->type = f.bytes;
        for (ft__onnx_pb t = ft__pb_open(&o->doc, f.bytes); ft__pb_next(&t);) {
            if (t.field != 1)
                continue;
            in->tensor = true;
            for (ft__onnx_pb x = ft__pb_open(&o->doc, t.bytes); ft__pb_next(&x);) {
                if (x.field == 1)
                    in->dtype = ft_dtype_from_onnx((int64_t)x.num);
                else if (x.field == 2)
                    read_shape(o, x.bytes, in);
            }
        }
    }
    in->name.n = in->name.n < 200 ? in->name.n : 200;
}

/* An unnamed dimension is called after its place: "ids.1". */
static ft__str name_of(ft__onnx *o, const struct model_input *in, uint32_t axis)
{
    size_t size = in->name.n + 16;
    char *s;

    if (in->dim[axis].name.n)
        return in->dim[axis].name;
    s = ft__onnx_alloc(o, size, 1);
    if (!s)
        return (ft__str){"", 0};
    snprintf(s, size, "%.*s.%u", (int)in->name.n, in->name.s, axis);
    return (ft__str){s, strlen(s)};
}

/* The batch: what is called so, else the first dimension. */
static bool is_batch(const struct model_input *in, uint32_t axis)
{
    if (means_batch(in->dim[axis].name))
        return true;
    for (uint32_t i = 0; i < in->rank; i++)
        if (in->dim[i].size < 0 && means_batch(in->dim[i].name))
            return false;
    return axis == 0;
}

struct input_binding {
    ft__onnx *o;
    struct model_input *in;
    uint32_t n_in;
    struct bound *bound;
    uint32_t n_bound;
    const ft_input_shape *batch_by; /* NULL: no given shape says the batch */
    int64_t batch;                  /* what it says */
    bool *used;                     /* per dimension of the options */
    bool open_batch;                /* some input leaves the batch open */
    bool fixed_batch;               /* some input has exactly the batch asked for */
    ft__str first;                  /* an input, for messages */
    int64_t first_dim;
};

static void remember(ft__onnx *o, ft__str name, int64_t value)
{
    for (uint32_t i = 0; i < o->n_dims; i++)
        if (o->dim[i].name.n == name.n && !memcmp(o->dim[i].name.s, name.s, name.n))
            return;
    if (o->n_dims < FT__MAX_DIMS)
        o->dim[o->n_dims++] = (ft__binding){name, value};
}

static int64_t given(struct input_binding *b, ft__str name)
{
    const ft_import_options *opt = &b->o->opt;

    for (size_t i = 0; i < opt->n_dims; i++)
        if (ft__str_is(name, opt->dims[i].name)) {
            b->used[i] = true;
            return opt->dims[i].value;
        }
    return -1;
}

/* Text of bounded length, for messages. */
struct text {
    char s[500];
    size_t n;
};

FT_PRINTF(2, 3) static void put(struct text *t, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(t->s + t->n, sizeof(t->s) - t->n, fmt, ap);
    va_end(ap);
    if (n > 0)
        t->n += (size_t)n < sizeof(t->s) - t->n ? (size_t)n : sizeof(t->s) - t->n - 1;
}

/* "--input ids=1x128" */
static struct text option_text(const ft_input_shape *given)
{
    struct text t = {"", 0};

    put(&t, "--input %.80s%s", given->name, *given->name ? "=" : "");
    for (uint32_t i = 0; i < given->shape.rank; i++)
        put(&t, "%s%lld", i ? "x" : "", (long long)given->shape.dim[i]);
    return t;
}

/* As the file has it: "ids" [batch, seq] */
static void put_input(struct text *t, const struct model_input *in)
{
    put(t, "\"%.*s\"", ft__shown(in->name.n, 80), in->name.s);
    if (!in->shaped)
        return;
    put(t, " [");
    for (uint32_t i = 0; i < in->rank && i < FT_MAX_RANK; i++) {
        const struct dim *d = &in->dim[i];

        put(t, i ? ", " : "");
        if (d->size >= 0)
            put(t, "%lld", (long long)d->size);
        else
            put(t, "%.*s", d->name.n ? ft__shown(d->name.n, 40) : 1,
                d->name.n ? d->name.s : "?");
    }
    put(t, "]");
}

static struct text all_inputs(const struct input_binding *b)
{
    struct text t = {"", 0};

    for (uint32_t i = 0; i < b->n_in && t.n < sizeof(t.s) - 200; i++) {
        put(&t, i ? ", " : "");
        put_input(&t, &b->in[i]);
        if (i + 1 < b->n_in && t.n >= sizeof(t.s) - 200)
            put(&t, " and %u more", b->n_in - i - 1);
    }
    return t;
}

static void refuse(struct input_binding *b, const ft_input_shape *given,
                   const char *why, const struct text *detail)
{
    ft__build_fail(b->o->b, FT_EINVAL, 0, "%s%s%s", option_text(given).s, why,
                   detail->s);
}

static void contradiction(struct input_binding *b, const ft_input_shape *given,
                          const struct model_input *in)
{
    struct text t = {"", 0};

    put_input(&t, in);
    refuse(b, given, " contradicts the file, where that input is ", &t);
}

/* The input that a given shape means; without a name, the only one. */
static void match(struct input_binding *b, const ft_input_shape *given)
{
    struct model_input *found = NULL;
    struct text all = all_inputs(b), name = {"", 0};

    for (uint32_t i = 0; i < b->n_in && !found; i++)
        if (*given->name ? ft__str_is(b->in[i].name, given->name) : b->n_in == 1)
            found = &b->in[i];
    if (!found) {
        refuse(b, given,
               *given->name ? ": the model has no such input, but "
                            : ": the model has several inputs, say NAME=SHAPE: ",
               &all);
    } else if (found->given) {
        name = option_text(found->given);
        refuse(b, given, " names the same input as ", &name);
    } else {
        found->given = given;
    }
}

static const struct bound *find_bound(const struct input_binding *b, ft__str name)
{
    for (uint32_t i = 0; i < b->n_bound; i++)
        if (b->bound[i].name.n == name.n && !memcmp(b->bound[i].name.s, name.s, name.n))
            return &b->bound[i];
    return NULL;
}

/* An open dimension of a given input: what else is said of it must agree. */
static void settle(struct input_binding *b, const struct model_input *in, uint32_t axis)
{
    const ft_import_options *opt = &b->o->opt;
    ft__str name = name_of(b->o, in, axis);
    const struct bound *other = find_bound(b, name);
    int64_t v = in->given->shape.dim[axis], dim = given(b, name);
    struct text t = {"", 0};

    if (other && other->value != v) {
        put(&t, "%s: both have the dimension \"%.*s\"", option_text(other->by).s,
            ft__shown(name.n, 60), name.s);
        refuse(b, in->given, " contradicts ", &t);
    } else if (dim >= 0 && dim != v) {
        put(&t, "%.*s=%lld", ft__shown(name.n, 60), name.s, (long long)dim);
        refuse(b, in->given, " contradicts --dim ", &t);
    } else if (is_batch(in, axis) && opt->batch && opt->batch != v) {
        put(&t, "%lld", (long long)opt->batch);
        refuse(b, in->given, " contradicts --batch ", &t);
    } else if (!other) {
        b->bound[b->n_bound++] = (struct bound){name, v, in->given};
    }
    if (is_batch(in, axis) && !b->batch_by) {
        b->batch_by = in->given;
        b->batch = v;
    }
}

static void bind_shape(struct input_binding *b, struct model_input *in)
{
    const ft_shape *s = &in->given->shape;

    if (!in->shaped && in->tensor) {
        in->shaped = true;
        in->rank = s->rank;
        for (uint32_t i = 0; i < s->rank; i++)
            in->dim[i] = (struct dim){.size = s->dim[i], .name = {"", 0}};
        return;
    }
    if (s->rank != in->rank) {
        contradiction(b, in->given, in);
        return;
    }
    for (uint32_t i = 0; i < s->rank && !ft__build_failed(b->o->b); i++) {
        if (in->dim[i].size < 0)
            settle(b, in, i);
        else if (in->dim[i].size != s->dim[i])
            contradiction(b, in->given, in);
    }
}

static void bind_shapes(struct input_binding *b)
{
    const ft_import_options *opt = &b->o->opt;

    b->bound = ft__onnx_alloc(b->o, opt->n_inputs * FT_MAX_RANK, sizeof(*b->bound));
    if (!b->bound)
        return;
    for (size_t i = 0; i < opt->n_inputs && !ft__build_failed(b->o->b); i++)
        match(b, &opt->inputs[i]);
    for (uint32_t i = 0; i < b->n_in && !ft__build_failed(b->o->b); i++)
        if (b->in[i].given)
            bind_shape(b, &b->in[i]);
}

/* Of an open dimension what options say; below 0: nothing. */
static int64_t said_of(struct input_binding *b, const struct model_input *in,
                       uint32_t axis)
{
    const ft__str name = name_of(b->o, in, axis);
    const struct bound *bound = find_bound(b, name);

    return bound ? bound->value : given(b, name);
}

static bool is_unsaid(struct input_binding *b, const struct model_input *in,
                      uint32_t axis)
{
    return in->dim[axis].size < 0 && !is_batch(in, axis) && said_of(b, in, axis) < 0;
}

/* False: it is in the list, or the list is full. */
static bool list_open(ft__dim_names *names, ft__buf *add, ft__str name)
{
    const size_t before = names->n;
    struct text word = {"", 0};

    ft__dim_names_add(names, name.s, (size_t)ft__shown(name.n, 60));
    if (names->n == before)
        return false;
    put(&word, "%.*s=N", ft__shown(name.n, 100), name.s);
    ft__buf_str(add, " --dim ");
    ft__buf_word(add, word.s, word.n);
    return true;
}

/* An axis, and with it all others that are to be said besides the batch. */
static void refuse_open(struct input_binding *b, const struct model_input *in,
                        uint32_t axis)
{
    ft__dim_names names = {.n = 0};
    ft__buf add = {0};
    const char *said;
    int n = list_open(&names, &add, name_of(b->o, in, axis));

    for (uint32_t i = 0; i < b->n_in; i++)
        for (uint32_t k = 0; k < b->in[i].rank && k < FT_MAX_RANK; k++)
            n += is_unsaid(b, &b->in[i], k) &&
                 list_open(&names, &add, name_of(b->o, &b->in[i], k));
    said = add.s ? add.s : "";
    if (n > 1)
        ft__build_fail(b->o->b, FT_ENEEDED, 0, "dimensions %s%s are open: add%s",
                       names.text, names.more ? ", ..." : "", said);
    else
        ft__build_fail(b->o->b, FT_ENEEDED, 0,
                       "dimension \"%s\" of input \"%.*s\" is open: add%s", names.text,
                       ft__shown(in->name.n, 100), in->name.s, said);
    ft__buf_free(&add);
}

static int64_t open_dim(struct input_binding *b, const struct model_input *in,
                        uint32_t axis)
{
    ft__onnx *o = b->o;
    const ft__str name = name_of(o, in, axis);
    int64_t v = said_of(b, in, axis);

    if (is_batch(in, axis)) {
        b->open_batch |= v < 0 || v == o->opt.batch;
        if (v >= 0 && o->opt.batch && v != o->opt.batch)
            ft__build_fail(
                o->b, FT_EINVAL, 0, "--dim %.*s=%lld contradicts --batch %lld",
                ft__shown(name.n, 60), name.s, (long long)v, (long long)o->opt.batch);
        else if (v < 0)
            v = o->opt.batch ? o->opt.batch : b->batch_by ? b->batch : 1;
    }
    if (v < 0)
        refuse_open(b, in, axis);
    else
        remember(o, name, v);
    return v;
}

/* A sequence, an optional or a map: what it holds is known by its type at most, and
 * what that leaves open depends on data. */
static bool define_container(ft__onnx *o, const struct model_input *in,
                             ft__onnx_value *v)
{
    ft__onnx_value like = {.container = 0};

    ft__onnx_read_type(o, in->type, &like);
    if (!like.container || like.dtype == FT_DTYPE_NONE)
        return false;
    v->state = FT__ACTIVATION;
    v->dtype = like.dtype;
    v->container = like.container;
    v->open = like.open;
    v->guessed = like.open != 0;
    v->shape = ft__guess(o, &like.shape, like.open);
    v->tensor = ft__build_tensor(o->b, in->name.s, in->name.n, FT_ROLE_INPUT, v->dtype,
                                 &v->shape);
    if (ft__build_failed(o->b))
        return true;
    ft__build_container(o->b, v->tensor, v->container);
    ft__build_open(o->b, v->tensor, v->open);
    if (v->open)
        ft__build_assume(o->b, "what input \"%.*s\" holds, one element a dimension",
                         (int)in->name.n, in->name.s);
    return true;
}

static void define_input(struct input_binding *b, const struct model_input *in)
{
    ft__onnx *o = b->o;
    ft__onnx_value *v = ft__onnx_name(o, in->name);
    ft_shape s = {.rank = in->rank};

    if (!v || ft__build_failed(o->b))
        return;
    if (in->rank > FT_MAX_RANK) {
        ft__build_fail(o->b, FT_EUNSUPPORTED, 0,
                       "input \"%.*s\" has more than %d dimensions", (int)in->name.n,
                       in->name.s, FT_MAX_RANK);
        return;
    }
    if (!in->tensor && v->state == FT__UNDEFINED && !v->producer &&
        define_container(o, in, v))
        return;
    if (!in->tensor || in->dtype == FT_DTYPE_NONE || !in->shaped) {
        ft__build_fail(o->b, FT_EUNSUPPORTED, 0, "input \"%.*s\" is %s",
                       (int)in->name.n, in->name.s,
                       in->tensor && in->dtype
                           ? "without a shape: say it with --input NAME=SHAPE"
                           : "no tensor of a known type");
        return;
    }
    if (!b->first.n && in->rank) {
        b->first = in->name;
        b->first_dim = in->dim[0].size;
    }
    for (uint32_t i = 0; i < in->rank; i++) {
        bool open = in->dim[i].size < 0;

        s.dim[i] = open ? open_dim(b, in, i) : in->dim[i].size;
        b->fixed_batch |= i == 0 && !open && s.dim[i] == o->opt.batch;
    }
    if (ft__build_failed(o->b))
        return;
    if (!ft__shape_fits(&s)) {
        ft__build_fail(o->b, FT_EFORMAT, 0, "input \"%.*s\" has too many elements",
                       (int)in->name.n, in->name.s);
        return;
    }
    if (v->producer || v->state != FT__UNDEFINED) {
        ft__build_fail(o->b, FT_EFORMAT, 0, "\"%.*s\" is made twice", (int)in->name.n,
                       in->name.s);
        return;
    }
    v->state = FT__ACTIVATION;
    v->dtype = in->dtype;
    v->shape = s;
    v->tensor =
        ft__build_tensor(o->b, in->name.s, in->name.n, FT_ROLE_INPUT, in->dtype, &s);
}

/* The first dimension of an input; below 0: another says the batch, or an option. */
static int64_t first_dim(const struct model_input *in)
{
    for (uint32_t k = 0; k < in->rank && k < FT_MAX_RANK; k++)
        if (in->given || (in->dim[k].size < 0 && is_batch(in, k)))
            return -1;
    return in->rank ? in->dim[0].size : 0;
}

/* Where the file fixes all first dimensions and another batch is asked for, the inputs
 * that have that of the first one get it. */
static void unfix_batch(struct input_binding *b)
{
    ft__onnx *o = b->o;
    int64_t *first = ft__onnx_alloc(o, b->n_in, sizeof(*first));

    for (uint32_t i = 0; first && i < b->n_in; i++)
        first[i] = first_dim(&b->in[i]);
    o->fixed_batch = first ? ft__batch_unfix(o->b, o->opt.batch, first, b->n_in) : 0;
    for (uint32_t i = 0; o->fixed_batch && i < b->n_in; i++)
        if (first[i] == o->fixed_batch)
            b->in[i].dim[0].size = o->opt.batch;
}

static void check_options(struct input_binding *b)
{
    const ft_import_options *opt = &b->o->opt;
    ft__fixed_batch fixed = {b->first.n ? b->first.s : "", b->first.n, b->first_dim};
    ft__dim_names there = {.n = 0};

    if (b->open_batch && !opt->batch && b->batch_by)
        ft__build_assume(b->o->b, "batch %lld for the other inputs too, as in %s",
                         (long long)b->batch, option_text(b->batch_by).s);
    else if (b->open_batch && !opt->batch)
        ft__build_assume(b->o->b,
                         "batch 1 (the model leaves it open; --batch N sets it)");
    for (uint32_t i = 0; i < b->n_in; i++)
        for (uint32_t k = 0; k < b->in[i].rank && k < FT_MAX_RANK; k++)
            if (b->in[i].dim[k].size < 0) {
                ft__str name = name_of(b->o, &b->in[i], k);

                ft__dim_names_add(&there, name.s, name.n);
            }
    ft__options_are_used(b->o->b, opt, b->used, &there,
                         opt->batch && !b->open_batch && !b->fixed_batch ? &fixed
                                                                         : NULL);
}

static bool options_are_valid(ft__onnx *o)
{
    const ft_import_options *opt = &o->opt;

    (void)ft__options_are_sizes(o->b, opt);
    if (opt->trips < 0 || opt->trips > FT__MAX_TRIPS)
        ft__build_fail(o->b, FT_EINVAL, 0, "--trips %lld is no number of rounds",
                       (long long)opt->trips);
    for (size_t i = 0; i < opt->n_inputs; i++)
        for (uint32_t k = 0; k < opt->inputs[i].shape.rank; k++)
            if (opt->inputs[i].shape.dim[k] < 1 ||
                opt->inputs[i].shape.dim[k] > FT__MAX_ELEMENTS)
                ft__build_fail(o->b, FT_EINVAL, 0, "%s is no shape",
                               option_text(&opt->inputs[i]).s);
    return !ft__build_failed(o->b);
}

/* Files of old list their weights among the inputs. */
static bool is_given_from_outside(ft__onnx *o, const struct model_input *in)
{
    const ft__onnx_value *v = ft__onnx_name(o, in->name);

    return v && v->state != FT__CONSTANT;
}

static void read_inputs(struct input_binding *b, ft__bytes graph, uint32_t n)
{
    ft__onnx *o = b->o;

    b->in = ft__onnx_alloc(o, n, sizeof(*b->in));
    if (!b->in)
        return;
    for (ft__onnx_pb f = ft__pb_open(&o->doc, graph);
         ft__pb_next(&f) && b->n_in < n && !ft__build_failed(o->b);) {
        if (f.field != 11)
            continue;
        read_input(o, f.bytes, &b->in[b->n_in]);
        b->n_in += is_given_from_outside(o, &b->in[b->n_in]);
    }
}

void ft__onnx_inputs(ft__onnx *o, ft__bytes graph, uint32_t count)
{
    struct input_binding b = {.o = o};

    if (!options_are_valid(o))
        return;
    b.used = ft__onnx_alloc(o, o->opt.n_dims, sizeof(*b.used));
    if (b.used)
        read_inputs(&b, graph, count);
    if (b.in)
        bind_shapes(&b);
    if (b.in)
        unfix_batch(&b);
    for (uint32_t i = 0; i < b.n_in && !ft__build_failed(o->b); i++)
        define_input(&b, &b.in[i]);
    if (!ft__build_failed(o->b))
        check_options(&b);
}
