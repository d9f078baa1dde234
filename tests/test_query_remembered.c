/* Answers that are remembered: by threads, for each way to ask, and as first asked. */
#include <pthread.h>
#include <stdlib.h>

#include "files.h"
#include "graph/op_inside.h"
#include "predict/query/op_query.h"
#include "query_rig.h"

static char model[4096];

/* Ways to ask that are more than are remembered. */
static void *ask_often(void *arg)
{
    static const char *const devices[] = {"a30", "h100", "l4", "t4"};
    double *sum = calloc(1, sizeof(*sum));

    for (size_t i = 0; sum && i < 24; i++) {
        ft_query q = about_list();
        ft_status st;

        q.device = devices[i % 4];
        q.launch_s = (double)(i / 4) * 10e-6;
        *sum += ask(&st, arg, &q);
    }
    return sum;
}

TEST(threads_share_the_data)
{
    ft_data *d = open_data();
    pthread_t thread[4];
    double *alone = ask_often(d);
    ft_data *fresh = open_data();

    for (size_t i = 0; i < 4; i++)
        CHECK(!pthread_create(&thread[i], NULL, ask_often, fresh));
    for (size_t i = 0; i < 4; i++) {
        void *sum;

        CHECK(!pthread_join(thread[i], &sum));
        CHECK_NEAR(*(double *)sum, *alone, 0);
        free(sum);
    }
    free(alone);
    ft_data_close(fresh);
    ft_data_close(d);
}

static void check_same_estimate(const ft_estimate *a, const ft_estimate *b)
{
    CHECK(BYTES(&a->value, &b->value, 3 * sizeof(a->value)));
    CHECK(EQ(a->basis, b->basis) && SAME(a->why, b->why));
}

static void check_same_answer(const ft_answer *a, const ft_answer *b)
{
    CHECK_EQ(a->n_ops, b->n_ops);
    check_same_estimate(&a->time, &b->time);
    check_same_estimate(&a->energy, &b->energy);
    check_same_estimate(&a->power, &b->power);
    check_same_estimate(&a->memory, &b->memory);
    for (uint32_t i = 0; i < a->n_ops && i < b->n_ops; i++) {
        check_same_estimate(&a->op[i]->time, &b->op[i]->time);
        check_same_estimate(&a->op[i]->device_time, &b->op[i]->device_time);
        check_same_estimate(&a->op[i]->power, &b->op[i]->power);
        check_same_estimate(&a->op[i]->energy, &b->op[i]->energy);
    }
}

/* By `d`, which has answered others before, and by one that has answered nothing. */
static void check_as_asked_first(ft_data *d, const ft_query *q)
{
    ft_data *fresh = open_data();
    ft_answer *a = NULL, *b = NULL;

    CHECK(!ft_query_ask(&a, d, q, NULL) && !ft_query_ask(&b, fresh, q, NULL));
    if (a && b)
        check_same_answer(a, b);
    CHECK(a && (a->n_known > 0) == (q->correct != NULL));
    ft_answer_free(a);
    ft_answer_free(b);
    ft_data_close(fresh);
}

/* Networks share operations; a training step has those of a forward pass. */
TEST(what_was_answered_before_changes_nothing)
{
    static const char *const device[] = {"h100-sxm", "a30", "t4", "xeon-platinum-8380"};
    static const char *const run_mode[] = {NULL, "graph", "compiled"};
    ft_data *d = open_data();

    for (size_t i = 0; i < 4 * 3 * 2 * 3; i++) {
        ft_query q = FT_QUERY_INIT;

        q.model = model;
        q.device = device[i / 18];
        q.run_mode = i / 18 == 3 ? NULL : run_mode[i / 6 % 3];
        q.mode = i / 3 % 2 ? "training" : NULL;
        q.batch = 1 + (int64_t)(i % 3 % 2);
        check_as_asked_first(d, &q);
    }
    ft_data_close(d);
}

static const char measured[] = "test_query_remembered-measured.csv";

/* Convolutions that take long on a device. */
static void write_measured(void)
{
    char text[8192];
    size_t len = (size_t)snprintf(text, sizeof(text), "%s", COLUMNS);

    for (int i = 1; i <= 24; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len,
                                "a30,,torch,2.3,conv2d x=%dx64x56x56 out=64 kernel=3x3 "
                                "stride=1x1 pad=1x1 dtype=fp32,forward,default,time,s,"
                                "%g,,,,,1,1,0,1\n",
                                1 + i, 1e-4 * (1 + i));
    write_text(measured, text);
}

/* Ways to ask about one device, more than are remembered, there and back. */
TEST(every_way_to_ask_is_remembered_apart)
{
    static const struct {
        const char *setting, *policy, *method, *engine, *correct;
        double launch_s;
    } way[] = {{0},
               {.setting = "clock=1200MHz"},
               {.setting = "clock=1000MHz"},
               {.setting = "power=250W"},
               {.launch_s = 9e-6},
               {.launch_s = 100e-6},
               {.policy = "ieee"},
               {.policy = "tf32"},
               {.method = "physics"},
               {.method = "physics", .launch_s = 100e-6},
               {.method = "physics", .setting = "clock=1200MHz"},
               {.engine = "torch"},
               {.engine = "vllm"},
               {.correct = measured},
               {.correct = measured, .launch_s = 9e-6}};
    enum { N = sizeof(way) / sizeof(*way) };
    ft_data *d = open_data();

    write_measured();

    for (size_t i = 0; i < 4 * N; i++) {
        const size_t k = i / N % 2 ? N - 1 - i % N : i % N;
        ft_query q = about_list();

        q.setting = way[k].setting;
        q.policy = way[k].policy;
        q.method = way[k].method;
        q.engine = way[k].engine;
        q.correct = way[k].correct;
        q.launch_s = way[k].launch_s;
        check_as_asked_first(d, &q);
    }
    remove(measured);
    ft_data_close(d);
}

/* More operations than are remembered, twice. */
TEST(what_is_not_remembered_is_asked_again)
{
    static char list[1 << 15];
    ft_data *d = open_data();
    ft_query q = about_list();
    size_t len = 0;

    for (int i = 0; i < 400; i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len,
                                "linear x=%dx256 out=512 bias=1 dtype=fp32\n", 1 + i);
    q.list = list;
    q.list_len = len;
    check_as_asked_first(d, &q);
    check_as_asked_first(d, &q);
    ft_data_close(d);
}

static ft_op linear_of(int64_t rows)
{
    ft_op op;

    ft__op_init(&op, FT_KIND_linear, FT_DTYPE_bf16);
    ft__op_set_shape(&op, FT_K_x, &(ft_shape){2, {rows, 64}});
    ft__op_set1(&op, FT_K_out, 64);
    return op;
}

/* Of steps that have twenty operations in common and a new one each, all twenty. */
TEST(what_is_asked_again_stays_remembered)
{
    ft__op_answers *a = ft__op_answers_new();
    int lost = 0;

    for (int step = 0; step < 1000; step++)
        for (int i = 0; i <= 20; i++) {
            const ft_op op = linear_of(i < 20 ? 1 + i : 100 + step);

            if (ft__op_answers_find(a, &op, FT_PHASE_FORWARD))
                continue;
            ft__op_answers_add(a, &op, FT_PHASE_FORWARD);
            lost += step > 0 && i < 20;
        }
    CHECK_EQ(lost, 0);
    ft__op_answers_free(a);
}

int main(int argc, char **argv)
{
    take_folder(argc, argv);
    snprintf(model, sizeof(model), "%s/data/models/resnet18.onnx", argv[1]);
    check_all();
    CHECK_DONE();
}
