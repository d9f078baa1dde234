/* Branches, loops, sequences and dimensions that depend on data. */
#include "graph/graph_inside.h"
#include "onnx_cases.h"

/* Counts that depend on data. */

TEST(what_depends_on_data_is_an_upper_bound)
{
    static const struct flow cases[] = {
        {"as many columns as elements are not zero",
         "in x fp32 4,5\nout y\nnode NonZero x y", "int64 2,<=20", NULL},
        {"a constant is counted",
         "const c int64 4 0,2,0,3\nin x fp32 4\nout y\nnode NonZero c i\n"
         "node Gather x,i y",
         "fp32 1,2", NULL},
        {"what is made of it, but for what is not",
         "in x fp32 4,5\nin w fp32 2,3\nout y\nout z\nnode NonZero x i\n"
         "node Transpose i t\nnode Cast t f to=1\nnode MatMul f,w y\n"
         "node ReduceSum f z keepdims=0",
         "fp32 <=20,3; fp32 ", NULL},
        {"shapes that are computed from it",
         "in x fp32 4,5\nin b fp32 1,7\nconst one int64 1 1\nout y\n"
         "node NonZero x i\nnode Shape i s\nnode Gather s,one n axis=0\n"
         "const seven int64 1 7\nnode Concat n,seven to axis=0\nnode Expand b,to y",
         "fp32 <=20,7", NULL},
        {"the smaller of it and a constant",
         "in x fp32 9\nin v fp32 50\nconst two int64 1 1\nconst k int64 1 3\nout y\n"
         "node NonZero x i\nnode Shape i s\nnode Gather s,two n axis=0\n"
         "node Min n,k m\nconst zero int64 1 0\nnode Slice v,zero,m y",
         "fp32 <=3", NULL},
        {"a shape that is given from outside, of known length",
         "in x fp32 2,6\nin s int64 3\nout y\nnode Reshape x,s y", "fp32 <=12,<=1,<=1",
         NULL},
        {"kept rows", "in x fp32 4,5\nin c bool 3\nout y\nnode Compress x,c y axis=0",
         "fp32 <=3,5", NULL},
        {"kept elements", "in x fp32 4,5\nin c bool 30\nout y\nnode Compress x,c y",
         "fp32 <=20", NULL},
        {"rows that a constant keeps",
         "in x fp32 4,5\nconst c bool 4 1,0,1,1\nout y\nnode Compress x,c y axis=0",
         "fp32 3,5", NULL},
        {"different rows, and where they were",
         "in x fp32 4,5\nout y\nout i\nout j\nout c\nnode Unique x y,i,j,c axis=0",
         "fp32 <=4,5; int64 <=4; int64 4; int64 <=4", NULL},
        {"boxes that are left: of each class at most so many",
         "in b fp32 2,100,4\nin s fp32 2,3,100\nconst k int64 1 10\nout y\n"
         "node NonMaxSuppression b,s,k y",
         "int64 <=60,3", NULL},
        {"words", "in x string 2\nout y\nout n\nnode StringSplit x y,n maxsplit=3",
         "string 2,<=4; int64 2", NULL},
    };

    CHECK_FLOWS(cases, NULL);
}

TEST(a_file_that_states_a_shape_is_believed_where_it_does)
{
    static const struct flow cases[] = {
        {"an operator without a rule, its first dimension open",
         "in x fp32 4,6\nout y fp32 ?,3\nnode own.What x y", "fp32 <=8,3", NULL},
        {"not even the rank", "in x fp32 4,6\nout y\nnode own.What x y", "fp32 *",
         NULL},
        {"a second result of which the file states the type alone",
         "in x fp32 4,6\nout y\nout z\ninfo m bool *\nnode Dropout x y,m\n"
         "node Cast m z to=1",
         "fp32 4,6; fp32 4,6", NULL},
        {"a second result of a node without a rule",
         "in x fp32 4,6\nout y\nout z\ninfo m bool *\nnode own.What x y,m\n"
         "node Cast m z to=1",
         "fp32 *; fp32 *", NULL},
    };

    CHECK_FLOWS(cases, NULL);
}

#define BRANCHES                                                                       \
    "begin then_branch\nnode Relu x t\nout t\nend\n"                                   \
    "begin else_branch\nnode MatMul x,x e\nout e\nend\n"

TEST(the_dearer_branch_counts)
{
    static const struct flow cases[] = {
        {"a condition that nobody knows: the second branch costs more",
         "in x fp32 4,4\nin c bool -\nout y\n" BRANCHES "node If c y", "fp32 4,4",
         "1 matmul x=4x4 y=4x4\n"},
        {"a known condition",
         "in x fp32 4,4\nconst c bool - 1\nout y\n" BRANCHES "node If c y", "fp32 4,4",
         "1 relu x=4x4\n"},
        {"a known condition, the other branch",
         "in x fp32 4,4\nconst c bool - 0\nout y\n" BRANCHES "node If c y", "fp32 4,4",
         "1 matmul x=4x4 y=4x4\n"},
        {"branches whose results differ",
         "in x fp32 4,4\nin c bool -\nout y\n"
         "begin then_branch\nconst k int64 1 2\nconst z int64 1 0\n"
         "node Slice x,z,k s\nnode Exp s t\nout t\nend\n"
         "begin else_branch\nnode Exp x e\nout e\nend\nnode If c y",
         "fp32 <=4,4", "1 exp x=4x4\n"},
        {"a branch that cannot be is not taken",
         "in x fp32 4,4\nin q fp32 9\nin c bool -\nout y\n"
         "begin then_branch\nnode MatMul x,q t\nout t\nend\n"
         "begin else_branch\nnode Relu x e\nout e\nend\nnode If c y",
         "fp32 4,4", "1 relu x=4x4\n"},
        {"branches in branches",
         "in x fp32 4,4\nin c bool -\nin d bool -\nout y\n"
         "begin then_branch\n" BRANCHES "node If d i\nout i\nend\n"
         "begin else_branch\nnode Relu x e\nout e\nend\nnode If c y",
         "fp32 4,4", "1 matmul x=4x4 y=4x4\n"},
    };
    ft_graph *g = import(cases[0].model, NULL, NULL);

    CHECK_FLOWS(cases, NULL);
    CHECK(g && EQ(g->n_bounded, 1));
    CHECK(g && SAME(g->bounded[0], "If (node y), its dearer branch taken"));
    ft_graph_free(g);
}

/* A weight that only the cheaper branch reads does not stay. */
TEST(a_branch_that_is_not_taken_leaves_nothing)
{
    ft_graph *g =
        import("in x fp32 4,4\nin c bool -\nconst w fp32 4,4\nconst v fp32 4\n"
               "out y\n"
               "begin then_branch\nnode Add x,v t\nout t\nend\n"
               "begin else_branch\nnode MatMul x,w e\nout e\nend\nnode If c y",
               NULL, NULL);
    ft_totals totals;

    CHECK(g != NULL);
    if (!g)
        return;
    ft_graph_totals(g, &totals);
    CHECK_EQ(totals.parameters, 16);
    CHECK_EQ(totals.flops, 2 * 4 * 4 * 4);
    ft_graph_free(g);
}

#define TEN "const m int64 - 10\n"
#define TRUE "const true bool - 1\n"
#define BODY "begin body\nin i int64 -\nin c bool -\n"

TEST(a_loop_is_written_once_with_its_count)
{
    static const struct flow cases[] = {
        {"ten rounds, all kept",
         "in x fp32 2,3\nout y\nout all\n" TEN TRUE BODY
         "in h fp32 2,3\nnode Tanh h n\nnode Identity c d\nout d\nout n\nout n\nend\n"
         "node Loop m,true,x y,all",
         "fp32 2,3; fp32 10,2,3",
         "1 fill out=1\n10 tanh x=2x3\n1 expand x=2x3 out=10x2x3\n"},
        {"loops in loops",
         "in x fp32 2\nout y\n" TEN TRUE BODY
         "in h fp32 2\nbegin body\nin j int64 -\nin e bool -\nin g fp32 2\n"
         "node Tanh g k\nnode Identity e f\nout f\nout k\nend\n"
         "node Loop m,true,h n\nnode Identity c d\nout d\nout n\nend\n"
         "node Loop m,true,x y",
         "fp32 2", "1 fill out=1\n10 fill out=1\n100 tanh x=2\n"},
        {"no round",
         "in x fp32 2,3\nout y\nout all\nconst m int64 - 0\n" TRUE BODY
         "in h fp32 2,3\nnode Tanh h n\nnode Identity c d\nout d\nout n\nout n\nend\n"
         "node Loop m,true,x y,all",
         "fp32 2,3; fp32 0,2,3", ""},
        {"a list that grows by one row a round is written for the last one",
         "in x fp32 1,3\nout y\n" TEN TRUE BODY
         "in h fp32 1,3\nnode Tanh h t\nnode Concat t,x n axis=0\nnode Identity c d\n"
         "out d\nout n\nend\nnode Loop m,true,x y",
         "fp32 11,3",
         "1 fill out=1\n1 fill out=10x3\n10 tanh x=10x3\n"
         "10 concat x=10x3 axis=0 sizes=10x1\n"},
        {"one that doubles cannot be told",
         "in x fp32 1,3\nout y\n" TEN TRUE BODY
         "in h fp32 1,3\nnode Concat h,h n axis=0\nnode Identity c d\n"
         "out d\nout n\nend\nnode Loop m,true,x y",
         "fp32 <=20,3", NULL},
        {"until something happens: once",
         "in x fp32 2,3\nin go bool -\nout y\nout all\n" BODY
         "in h fp32 2,3\nnode Tanh h n\nnode Identity c d\nout d\nout n\nout n\nend\n"
         "node Loop -,go,x y,all",
         "fp32 2,3; fp32 <=1,2,3", NULL},
        {"a counter is not a constant inside",
         "in x fp32 5\nout y\n" TEN TRUE "const k int64 1 0\nconst one int64 1 1\n" BODY
         "in n int64 1\nnode Add n,one o\nconst z int64 1 0\nnode Slice x,z,o s\n"
         "node ReduceSum s r keepdims=0\nnode Identity c d\nout d\nout o\nout r\nend\n"
         "node Loop m,true,k last,y",
         "fp32 10", NULL},
    };

    CHECK_FLOWS(cases, NULL);
}

/* Backward runs as often as forward, and a lowered graph counts the same. */
TEST(loops_are_trained_round_by_round)
{
    static const ft_step_options step = {.loss = FT_LOSS_NONE};
    ft_graph *g = import("in x fp32 2,3\nconst w fp32 3,3\nout y\n" TEN TRUE BODY
                         "in h fp32 2,3\nnode MatMul h,w n\nnode Identity c d\n"
                         "out d\nout n\nend\nnode Loop m,true,x y",
                         NULL, NULL),
             *trained = NULL, *lowered = NULL;
    unsigned seen = 0;

    CHECK(g && EQ(ft__graph_train(&trained, g, &step, NULL), FT_OK));
    for (uint32_t i = 0; trained && i < trained->n_nodes; i++) {
        const ft_node *n = &trained->node[i];

        if (trained->op[n->op].kind != FT_KIND_linear)
            continue;
        CHECK_EQ(n->repeat, 10);
        seen |= n->phase == FT_PHASE_BACKWARD ? 2 : 1;
    }
    CHECK_EQ(seen, 3);
    CHECK(g && EQ(ft__graph_lower(&lowered, g, 0, NULL), FT_OK));
    CHECK(lowered && EQ(lowered->n_outputs, 1));
    ft_graph_free(lowered);
    ft_graph_free(trained);
    ft_graph_free(g);
}

TEST(the_user_may_say_how_often_a_loop_runs)
{
    static const struct flow cases[] = {
        {"a loop until something happens",
         "in x fp32 2,3\nin go bool -\nout all\n" BODY
         "in h fp32 2,3\nnode Tanh h n\nnode Identity c d\nout d\nout n\nout n\nend\n"
         "node Loop -,go,x y,all",
         "fp32 <=7,2,3",
         "1 fill out=1\n1 fill out=1\n7 tanh x=2x3\n1 expand x=2x3 out=7x2x3\n"},
        {"one that counts knows better",
         "in x fp32 2,3\nout y\n" TEN TRUE BODY
         "in h fp32 2,3\nnode Tanh h n\nnode Identity c d\nout d\nout n\nend\n"
         "node Loop m,true,x y",
         "fp32 2,3", "1 fill out=1\n10 tanh x=2x3\n"},
    };
    static const ft_import_options opt = {.trips = 7};
    ft_graph *g;

    CHECK_FLOWS(cases, &opt);
    g = import(cases[0].model, NULL, NULL);
    CHECK(g && EQ(g->n_bounded, 1) &&
          SAME(g->bounded[0],
               "Loop (node y,all), counted 1 time: how often it runs depends on data "
               "(--trips N sets it)"));
    ft_graph_free(g);
}

TEST(a_scan_runs_along_an_axis)
{
    static const struct flow cases[] = {
        {"rows, a state and results",
         "in s fp32 4\nin x fp32 6,4\nout e\nout all\n"
         "begin body\nin a fp32 4\nin b fp32 4\nnode Add a,b n\nnode Exp n r\nout n\n"
         "out r\nend\nnode Scan s,x e,all num_scan_inputs=1",
         "fp32 4; fp32 6,4",
         "6 slice x=6x4 out=1x4\n6 add x=4 y=4\n6 exp x=4\n1 expand x=4 out=6x4\n"},
        {"columns, results as columns",
         "in x fp32 6,4\nout all\n"
         "begin body\nin b fp32 6\nnode Exp b r\nout r\nend\n"
         "node Scan x all num_scan_inputs=1 scan_input_axes=1,1 scan_output_axes=-1,-1",
         "fp32 6,4", NULL},
        {"opset 8, each of a batch",
         "opset 8\nin s fp32 2,4\nin x fp32 2,6,4\nout e\nout all\n"
         "begin body\nin a fp32 4\nin b fp32 4\nnode Add a,b n\nout n\nout n\nend\n"
         "node Scan -,s,x e,all num_scan_inputs=1",
         "fp32 2,4; fp32 2,6,4", NULL},
    };

    CHECK_FLOWS(cases, NULL);
}

TEST(sequences_are_lists_while_importing)
{
    static const struct flow cases[] = {
        {"what goes in comes out",
         "in a fp32 2,3\nin b fp32 5\nconst one int64 - 1\nout y\n"
         "node SequenceConstruct a,b s\nnode SequenceAt s,one y",
         "fp32 5", ""},
        {"inserted and erased",
         "in a fp32 2,3\nin b fp32 5\nconst z int64 - 0\nout y\nout n\n"
         "node SequenceEmpty - e dtype=1\nnode SequenceInsert e,a s\n"
         "node SequenceInsert s,b,z t\nnode SequenceErase t u\nnode SequenceAt u,z y\n"
         "node SequenceLength t n",
         "fp32 5; int64 ", ""},
        {"split and put together again",
         "in x fp32 4,6\nconst p int64 3 1,2,3\nout s\nout y\nout z\n"
         "node SplitToSequence x,p s axis=1\nnode ConcatFromSequence s y axis=1\n"
         "node SplitToSequence x t axis=0 keepdims=0\n"
         "node ConcatFromSequence t z axis=1 new_axis=1",
         "seq(fp32) 4,<=3; fp32 4,6; fp32 6,4", NULL},
        {"a sequence from outside",
         "in s seq(fp32) 3,?\nin i int64 -\nout y\nout n\nout z\nout s\n"
         "node SequenceAt s,i y\nnode SequenceLength s n\n"
         "node ConcatFromSequence s z axis=0",
         "fp32 3,<=1; int64 ; fp32 <=3,<=1; seq(fp32) 3,<=1", NULL},
        {"a graph for each of them",
         "in a fp32 2,3\nin b fp32 5\nin k fp32 -\nout s\n"
         "node SequenceConstruct a,b t\n"
         "begin body\nin e fp32 *\nin f fp32 -\nnode Mul e,f g\nout g\nend\n"
         "node SequenceMap t,k s",
         "seq(fp32) *", "1 mul x=2x3 y=1\n1 mul x=5 y=1\n1 generic read=0 out=2x3\n"},
        {"a sequence that a loop makes",
         "in x fp32 2,3\nout s\nnode SequenceEmpty - e\n" TEN TRUE BODY
         "in q seq(fp32) *\nnode Exp x n\nnode SequenceInsert q,n p\n"
         "node Identity c d\nout d\nout p\nend\n"
         "node Loop m,true,e s",
         "seq(fp32) 2,3", NULL},
    };

    CHECK_FLOWS(cases, NULL);
}

TEST(optionals_have_types)
{
    static const struct flow cases[] = {
        {"given from outside",
         "in o opt(fp32) 4\nout h\nout y\nout o\nnode OptionalHasElement o h\n"
         "node OptionalGetElement o y",
         "bool ; fp32 4; opt(fp32) 4", NULL},
        {"of a sequence",
         "in o opt(seq(fp32)) 4\nout s\nout o\nnode OptionalGetElement o s",
         "seq(fp32) 4; opt(seq(fp32)) 4", NULL},
        {"made here",
         "in x fp32 4\nout o\nout h\nnode Optional x o\nnode OptionalHasElement x h",
         "opt(fp32) 4; bool ", NULL},
    };

    CHECK_FLOWS(cases, NULL);
}

TEST(functions_are_written_out)
{
    static const struct flow cases[] = {
        {"a function in a function",
         "in x fp32 4\nout y\n"
         "function Twice a b\nnode Exp a t\nnode Exp t b\nend\n"
         "function Four a b\nnode own.Twice a t\nnode own.Twice t b\nend\n"
         "node own.Four x y",
         "fp32 4", "1 exp x=4\n1 exp x=4\n1 exp x=4\n1 exp x=4\n"},
    };

    CHECK_FLOWS(cases, NULL);
}

TEST(failures_are_one_sentence)
{
    static const struct {
        const char *model;
        ft_status status;
        const char *says;
    } cases[] = {
        {"in x fp32 4\nout y\nfunction A a b\nnode own.B a b\nend\n"
         "function B a b\nnode own.A a b\nend\nnode own.A x y",
         FT_EFORMAT, "m.onnx: node b (A): its function is recursive"},
        {"in x fp32 1000000,1000000,1000000\nout x", FT_EFORMAT,
         "m.onnx: input \"x\" has too many elements"},
        {"in x fp32 1000000,1000\nconst n int64 2 1000000,1000000\nout y\n"
         "node Tile x,n y",
         FT_EFORMAT,
         "m.onnx: node y (Tile): tile: a shape has more than 2^52 elements"},
        {"in x fp32 4\nout y\nconst n int64 1 999999999999999999\nnode Expand x,n y",
         FT_EFORMAT, "m.onnx: node y (Expand): its operand does not fit the shape"},
        {"in x fp32 2\nout y\nnode SequenceLength x y", FT_EFORMAT,
         "m.onnx: node y (SequenceLength): its operand 1 is no sequence"},
        {"in s seq(fp32) 2\nout y\nnode Relu s y", FT_EFORMAT,
         "m.onnx: node y (Relu): its operand 1 is no tensor"},
        {"in x fp32 2\nconst i int64 - 5\nout y\nnode SequenceConstruct x,x s\n"
         "node SequenceAt s,i y",
         FT_EFORMAT,
         "m.onnx: node y (SequenceAt): its position lies outside the sequence"},
        {"in x fp32 2\nin c bool -\nout y\nnode If c y", FT_EFORMAT,
         "m.onnx: node y (If): it has no then_branch"},
        {"in x fp32 2\nout y\n" TEN "node Loop m,-,x y", FT_EFORMAT,
         "m.onnx: node y (Loop): it has no body"},
        {"in x fp32 2\nout y\nout z\n" TEN TRUE BODY
         "in h fp32 2\nnode Identity c d\nout d\nout h\nend\nnode Loop m,true,x y,z",
         FT_EFORMAT, "m.onnx: node y,z (Loop): its body does not make result 3"},
        {"in x fp32 2,3\nin z fp32 3,3\nout y\n"
         "begin body\nin a fp32 3\nin b fp32 3\nnode Add a,b n\nout n\nend\n"
         "node Scan x,z y num_scan_inputs=2",
         FT_EFORMAT, "m.onnx: node y (Scan): its operands differ in length"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_error err = {0};
        ft_graph *g = import(cases[i].model, NULL, &err);

        CHECK(EQ(g, NULL) && EQ(err.status, cases[i].status));
        if (strcmp(err.msg, cases[i].says) != 0)
            fprintf(stderr, "case %zu says \"%s\"\n", i, err.msg);
        CHECK(SAME(err.msg, cases[i].says));
        ft_graph_free(g);
    }
}

/* Loops in loops whose counts multiply beyond all bounds. */
TEST(loops_that_never_end_are_refused)
{
    static const char head[] = "const m int64 - 2000000000\n" TRUE;
    static const char open[] = BODY "in h fp32 2\n";
    static const char close[] = "node Identity c d\nout d\nout n\nend\n"
                                "node Loop m,true,h n\n";
    char text[4096] = "in x fp32 2\nin h fp32 2\nout n\n";
    ft_error err = {0};
    ft_graph *g;

    strcat(text, head);
    for (int i = 0; i < 3; i++)
        strcat(text, open);
    strcat(text, "node Tanh h n\n");
    for (int i = 0; i < 3; i++)
        strcat(text, close);
    g = import(text, NULL, &err);
    CHECK(EQ(g, NULL) && EQ(err.status, FT_EFORMAT));
    CHECK(SAME(err.msg, "m.onnx: node n: loops run it more than 2^52 times"));
    ft_graph_free(g);
}
