/* Archives that fix their batch, at others: the operations are those of the same
 * network exported at that batch, or the one that does not go along is named. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data_dir.h"
#include "import/graph_inside.h"
#include "import/pt2/pt2.h"
#include "pt2_read.h"

/* Sizes: "@" is the batch, "@4" four times as much. */
struct network {
    const char *tensors;
    const char *nodes;
    const char *outputs;
};

static pt2_text text;
static void at_batch(char *out, const char *s, int64_t batch)
{
    for (; *s; s++) {
        char *end = NULL;
        const long times =
            *s == '@' && isdigit((unsigned char)s[1]) ? strtol(s + 1, &end, 10) : 1;

        if (*s == '@')
            out += sprintf(out, "%lld", (long long)(batch * times));
        else
            *out++ = *s;
        s = end ? end - 1 : s;
    }
    *out = '\0';
}

static ft_graph *network_at(const struct network *net, int64_t written, int64_t asked,
                            ft_error *err)
{
    const ft_import_options opt = {.batch = asked};
    char tensors[1024], nodes[2048];
    ft_graph *g;

    at_batch(tensors, net->tensors, written);
    at_batch(nodes, net->nodes, written);
    make_pt2_text(&text, tensors, nodes, net->outputs, NULL);
    import(&g, &text, &opt, err);
    return g;
}

static const char joint_outputs[] =
    "[{\"loss_output\": {\"arg\": {\"name\": \"l\"}}}, {\"gradient_to_parameter\": "
    "{\"arg\": {\"name\": \"gw\"}, \"parameter_name\": \"w\"}}]";

static const struct network along[] = {
    /* A convolution, and its pictures as rows. */
    {"x=@x3x8x8 w+=4x3x3x3 f+=5x256 a*=@x4x8x8 b*=@x4x8x8 c*=@x256 z*=@x5",
     "aten.conv2d.default input=x weight=w bias=none stride=(1,1) padding=(1,1) -> a\n"
     "aten.relu.default self=a -> b\naten.flatten.using_ints self=b start_dim=1 -> c\n"
     "aten.linear.default input=c weight=f bias=none -> z",
     "z"},
    /* Heads of attention: batch and heads in one size, and apart again. */
    {"x=@x6x8 a*=@x6x2x4 b*=@x2x6x4 c*=@2x6x4 d*=@2x4x6 e*=@2x6x6 f*=@2x6x6 "
     "g*=@2x6x4 h*=@x2x6x4 i*=@x6x2x4 j*=@6x8",
     "aten.view.default self=x size=(@,6,2,4) -> a\n"
     "aten.permute.default self=a dims=(0,2,1,3) -> b\n"
     "aten.reshape.default self=b shape=(@2,6,4) -> c\n"
     "aten.transpose.int self=c dim0=1 dim1=2 -> d\n"
     "aten.bmm.default self=c mat2=d -> e\naten.softmax.int self=e dim=-1 -> f\n"
     "aten.bmm.default self=f mat2=c -> g\naten.view.default self=g size=(@,2,6,4) -> "
     "h\naten.permute.default self=h dims=(0,2,1,3) -> i\n"
     "aten.reshape.default self=i shape=(@6,8) -> j",
     "j"},
    /* A weight that is repeated, one position taken out, a mean over another axis. */
    {"x=@x5x8 c+=1x1x8 e*=@x1x8 y*=@x6x8 s*=@x8 u*=@x1x8 t*=2x@x8 m*=@x8",
     "aten.expand.default self=c size=(@,-1,-1) -> e\n"
     "aten.cat.default tensors=[e,x] dim=1 -> y\n"
     "aten.select.int self=y dim=1 index=0 -> s\n"
     "aten.unsqueeze.default self=s dim=1 -> u\n"
     "aten.mean.dim self=y dim=(1) -> m\n"
     "aten.stack.default tensors=[s,m] dim=0 -> t",
     "t"},
    /* The batch is no first dimension in between, and its table has as many rows. */
    {"i=@x4:5 w+=9x8 a*=@x4x8 b*=4x@x8 z*=4x@x8 q*=4x@x8",
     "aten.embedding.default weight=w indices=i -> a\n"
     "aten.transpose.int self=a dim0=0 dim1=1 -> b\n"
     "aten.new_zeros.default self=b size=(4,@,8) -> z\n"
     "aten.add.Tensor self=b other=z -> q",
     "q"},
    /* As nn.MultiheadAttention has it: length first, heads of a sample side by side. */
    {"x=@x5x8 a*=5x@x8 b*=5x@2x4 c*=@2x5x4 d*=@2x4x5 e*=@2x5x5",
     "aten.transpose.int self=x dim0=1 dim1=0 -> a\n"
     "aten.view.default self=a size=(5,@2,4) -> b\n"
     "aten.transpose.int self=b dim0=0 dim1=1 -> c\n"
     "aten.transpose.int self=c dim0=1 dim1=2 -> d\naten.bmm.default self=c mat2=d -> "
     "e",
     "e"},
    /* A training step: a gradient of a sum begins with nothing that has the batch. */
    {"x=@x8 w+=2x8 t*=8x2 y*=@x2 l*=. o*=. e*=@x2 f*=2x@ gw*=2x8",
     "aten.t.default self=w -> t\naten.mm.default self=x mat2=t -> y\n"
     "aten.sum.default self=y -> l\naten.ones_like.default self=l -> o\n"
     "aten.expand.default self=o size=(@,2) -> e\naten.t.default self=e -> f\n"
     "aten.mm.default self=f mat2=x -> gw",
     joint_outputs},
};

TEST(the_operations_are_those_of_an_export_at_that_batch)
{
    static const int64_t filed[] = {1, 2, 3}, asked[] = {1, 4, 7};
    char have[SPECS], want[SPECS];

    for (size_t i = 0; i < sizeof(along) / sizeof(*along); i++)
        for (size_t k = 0; k < 9; k++) {
            const int64_t from = filed[k / 3], to = asked[k % 3];
            ft_error err = {0};
            ft_graph *a = network_at(&along[i], from, to, &err),
                     *b = network_at(&along[i], to, 0, NULL);

            if (!a)
                fprintf(stderr, "network %zu at %lld, filed at %lld: %s\n", i,
                        (long long)to, (long long)from, err.msg);
            CHECK(a && b);
            if (a && b) {
                specs_of(a, have, 0);
                specs_of(b, want, 0);
                CHECK(SAME(have, want) && EQ(a->batch, to));
                CHECK(EQ(a->n_assumptions, from == to ? 0 : 1));
            }
            ft_graph_free(a);
            ft_graph_free(b);
        }
}

TEST(what_does_not_go_along_is_named)
{
    static const struct {
        struct network net;
        const char *says;
    } cases[] = {
        /* All pictures as one row. */
        {{"x=@x8 w+=5x16 v*=1x16 z*=1x5",
          "aten.view.default self=x size=(1,16) -> v\n"
          "aten.linear.default input=v weight=w bias=none -> z",
          "z"},
         "node z (linear) goes with no other"},
        /* A table that has one row for each. */
        {{"x=@x8 w+=2x8 z*=@x8", "aten.add.Tensor self=x other=w -> z", "z"},
         "aten.add.Tensor (node z) goes with no other"},
        /* The first picture alone. */
        {{"x=@x8 y*=8 z*=8",
          "aten.select.int self=x dim=0 index=0 -> y\naten.relu.default self=y -> z",
          "z"},
         "node y (slice) goes with no other"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_error err = {0};
        ft_graph *g = network_at(&cases[i].net, 2, 6, &err);

        CHECK(!g && EQ(err.status, FT_EINVAL) && HAS(err.msg, cases[i].says));
        ft_graph_free(g);
    }
}

/* Real ones: what a training step costs grows with the batch. */
TEST(joint_archives_grow_with_the_batch)
{
    static const struct {
        const char *path;
        int64_t filed;
    } files[] = {{"tests/data/pt2/resnet18.joint.pt2", 2},
                 {"tests/data/pt2/convnet.joint.pt2", 4}};

    for (size_t i = 0; i < 2; i++) {
        const ft_import_options opt = {.batch = 3 * files[i].filed};
        ft_error err = {0};
        ft_graph *a, *b;
        ft_totals one = {0}, three = {0};
        char path[2048];

        snprintf(path, sizeof(path), "%s/%s", source_root, files[i].path);
        CHECK_EQ(ft__import_file(&a, path, NULL, &err), FT_OK);
        CHECK_EQ(ft__import_file(&b, path, &opt, &err), FT_OK);
        if (a && b) {
            ft_graph_totals(a, &one);
            ft_graph_totals(b, &three);
            CHECK(EQ(a->n_nodes, b->n_nodes) && EQ(b->mode, FT_MODE_TRAINING));
            CHECK_NEAR(three.flops / one.flops, 3, 0.01);
            CHECK_NEAR(three.parameters, one.parameters, 0);
        }
        ft_graph_free(a);
        ft_graph_free(b);
    }
}
