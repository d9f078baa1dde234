/* Inputs of the model and the dimensions that it leaves open. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "import/onnx.h"

/* One dimension of an input: a size, or -1 and perhaps a name. */
struct dim {
    int64_t size;
    ft__str name;
};

struct input {
    ft__str name;
    ft_dtype dtype;
    uint32_t rank;
    struct dim dim[FT_MAX_RANK];
    bool shaped;
    bool tensor;
    ft__bytes type;
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

    for (ft__pb f = ft__pb_open(&o->doc, message); ft__pb_next(&f);) {
        if (f.field == 1)
            d.size = (int64_t)f.num;
        else if (f.field == 2)
            d.name = ft__str_of(f.bytes);
    }
    return d;
}

static void read_shape(ft__onnx *o, ft__bytes message, struct input *in)
{
    in->shaped = true;
    for (ft__pb f = ft__pb_open(&o->doc, message); ft__pb_next(&f);) {
        if (f.field != 1)
            continue;
        if (in->rank < FT_MAX_RANK)
            in->dim[in->rank] = read_dim(o, f.bytes);
        in->rank++;
    }
}

static void read_input(ft__onnx *o, ft__bytes info, struct input *in)
{
    *in = (struct input){.name = {"", 0}};
    for (ft__pb f = ft__pb_open(&o->doc, info); ft__pb_next(&f);) {
        if (f.field == 1)
            in->name = ft__str_of(f.bytes);
        if (f.field != 2)
            continue;
        in->type = f.bytes;
        for (ft__pb t = ft__pb_open(&o->doc, f.bytes); ft__pb_next(&t);) {
            if (t.field != 1)
                continue;
            in->tensor = true;
            for (ft__pb x = ft__pb_open(&o->doc, t.bytes); ft__pb_next(&x);) {
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
static ft__str name_of(ft__onnx *o, const struct input *in, uint32_t axis)
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
static bool is_batch(const struct input *in, uint32_t axis)
{
    if (means_batch(in->dim[axis].name))
        return true;
    for (uint32_t i = 0; i < in->rank; i++)
        if (in->dim[i].size < 0 && means_batch(in->dim[i].name))
            return false;
    return axis == 0;
}

struct bind {
    ft__onnx *o;
    bool *used;       /* per dimension of the options */
    bool open_batch;  /* some input leaves the batch open */
    bool fixed_batch; /* some input has exactly the batch asked for */
    ft__str first;    /* an input, for messages */
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

static int64_t given(struct bind *b, ft__str name)
{
    const ft_import_options *opt = &b->o->opt;

    for (size_t i = 0; i < opt->n_dims; i++)
        if (ft__str_is(name, opt->dims[i].name)) {
            b->used[i] = true;
            return opt->dims[i].value;
        }
    return -1;
}

static int64_t open_dim(struct bind *b, const struct input *in, uint32_t axis)
{
    ft__onnx *o = b->o;
    ft__str name = name_of(o, in, axis);
    int64_t v = given(b, name);

    if (is_batch(in, axis)) {
        b->open_batch |= v < 0 || v == o->opt.batch;
        if (v >= 0 && o->opt.batch && v != o->opt.batch)
            ft__build_fail(o->b, FT_EINVAL, 0,
                           "--dim %.*s=%lld contradicts --batch %lld",
                           (int)(name.n < 60 ? name.n : 60), name.s, (long long)v,
                           (long long)o->opt.batch);
        else if (v < 0)
            v = o->opt.batch ? o->opt.batch : 1;
    }
    if (v < 0)
        ft__build_fail(o->b, FT_ENEEDED, 0,
                       "dimension \"%.*s\" of input \"%.*s\" is open: add --dim %.*s=N",
                       (int)(name.n < 60 ? name.n : 60), name.s,
                       (int)(in->name.n < 100 ? in->name.n : 100), in->name.s,
                       (int)(name.n < 60 ? name.n : 60), name.s);
    else
        remember(o, name, v);
    return v;
}

/* A sequence, an optional or a map: what it holds is known by its type at most, and
 * what that leaves open depends on data. */
static bool define_container(ft__onnx *o, const struct input *in, ft__value *v)
{
    ft__value like = {.container = 0};

    ft__onnx_read_container(o, in->type, &like);
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

static void define_input(struct bind *b, const struct input *in)
{
    ft__onnx *o = b->o;
    ft__value *v = ft__onnx_name(o, in->name);
    ft_shape s = {.rank = in->rank};

    if (!v || v->state == FT__CONSTANT || ft__build_failed(o->b))
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
                           ? "without a shape: export the model with input shapes"
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

static void check_options(struct bind *b)
{
    const ft_import_options *opt = &b->o->opt;

    if (b->open_batch && !opt->batch)
        ft__build_assume(b->o->b,
                         "batch 1 (the model leaves it open; --batch N sets it)");
    if (opt->batch && !b->open_batch && !b->fixed_batch)
        ft__build_fail(b->o->b, FT_EINVAL, 0,
                       "--batch %lld: the file fixes the first dimension of input "
                       "\"%.*s\" at %lld; export it with an open batch",
                       (long long)opt->batch, (int)b->first.n,
                       b->first.n ? b->first.s : "", (long long)b->first_dim);
    for (size_t i = 0; i < opt->n_dims; i++)
        if (!b->used[i])
            ft__build_fail(b->o->b, FT_EINVAL, 0,
                           "--dim %s=%lld: no input has an open dimension of that name",
                           opt->dims[i].name, (long long)opt->dims[i].value);
}

static bool options_are_valid(ft__onnx *o)
{
    const ft_import_options *opt = &o->opt;

    if (opt->batch < 0 || opt->batch > FT__MAX_ELEMENTS)
        ft__build_fail(o->b, FT_EINVAL, 0, "--batch %lld is no batch size",
                       (long long)opt->batch);
    for (size_t i = 0; i < opt->n_dims; i++)
        if (opt->dims[i].value < 1 || opt->dims[i].value > FT__MAX_ELEMENTS)
            ft__build_fail(o->b, FT_EINVAL, 0, "--dim %s=%lld is no size",
                           opt->dims[i].name, (long long)opt->dims[i].value);
    return !ft__build_failed(o->b);
}

void ft__onnx_inputs(ft__onnx *o, ft__bytes graph)
{
    struct bind b = {.o = o};
    struct input in;

    if (!options_are_valid(o))
        return;
    b.used = ft__onnx_alloc(o, o->opt.n_dims, sizeof(*b.used));
    if (!b.used)
        return;
    for (ft__pb f = ft__pb_open(&o->doc, graph);
         ft__pb_next(&f) && !ft__build_failed(o->b);)
        if (f.field == 11) {
            read_input(o, f.bytes, &in);
            define_input(&b, &in);
        }
    if (!ft__build_failed(o->b))
        check_options(&b);
}
