/* Files of predictors for a family of devices: written, opened, damaged, added to. */
#include <stdlib.h>

#include "family_law.h"

static void threads_change_no_byte(const ft_predictor *one)
{
    ft_predictor *three = train_all(0, 3);

    CHECK(EQ(one->len, three->len) && !memcmp(one->image, three->image, one->len));
    ft_predictor_free(three);
}

/* A changed byte is noticed when the file is opened, or when the part is asked. */
static void damage_is_noticed(const ft_predictor *p)
{
    unsigned char *copy = aligned_alloc(64, (p->len + 63) / 64 * 64);
    ft__dataset on = {.device = (char *)"t4"};
    const ft__header_image *h = (const void *)p->image;
    const ft__section_image *s = (const void *)(h + 1);

    CHECK_EQ(ft_device_load(&on.file, data_dir, "t4", NULL), FT_OK);
    for (uint32_t i = 0; i < h->n_sections; i++) {
        ft_predictor *broken;
        ft__op_answer a[N_OPS];
        ft_status st;

        memcpy(copy, p->image, p->len);
        copy[s[i].offset + s[i].bytes / 2] ^= 0x41;
        st = ft__predictor_load_image(&broken, copy, p->len, NULL);
        for (int k = 0; !st && k < N_OPS; k++) {
            ft_op op;

            make_op(&op, N_OPS + k);
            st = ft__family_query(&a[k], broken->family, FT__METRIC_ENERGY, &on, &op,
                                  NULL, 1, NULL);
        }
        CHECK(EQ(st, FT_OK) || EQ(st, FT_EFORMAT));
        /* What answers t4 is the first learner's; its parts come first. */
        if (s[i].type != FT__SECTION_PART && s[i].type != FT__SECTION_TEMPLATES)
            CHECK_EQ(st, FT_EFORMAT);
        ft_predictor_free(broken);
    }
    free(copy);
    ft_device_free(on.file);
}

static ft__section_image *section_of(unsigned char *image, enum ft__section_type type)
{
    const ft__header_image *h = (const void *)image;
    ft__section_image *s = (void *)(image + sizeof(*h));

    for (uint32_t i = 0; i < h->n_sections; i++)
        if (s[i].type == (uint32_t)type)
            return &s[i];
    CHECK(0);
    return s;
}

/* With the checksum of a table that was changed. */
static ft_status open_changed(unsigned char *image, size_t len)
{
    ft__header_image *h = (void *)image;
    ft_predictor *p = NULL;
    ft_status st;

    h->table_checksum =
        ft__checksum(image + sizeof(*h), h->n_sections * sizeof(ft__section_image));
    st = ft__predictor_load_image(&p, image, len, NULL);
    ft_predictor_free(p);
    return st;
}

TEST(boards_that_make_no_sense_are_noticed)
{
    static const struct {
        double reach;
        ft_status st;
    } cases[] = {{0.2, FT_OK},      {0, FT_EFORMAT},        {-0.2, FT_EFORMAT},
                 {NAN, FT_EFORMAT}, {INFINITY, FT_EFORMAT}, {1e9, FT_EFORMAT}};
    const ft_train_options how = {.other_boards = 1, .methods = 1u << FT_METHOD_EXTRA};
    ft_store *st = store_of(3);
    ft_predictor *p = train(st, &how);
    unsigned char *copy = aligned_alloc(64, (p->len + 63) / 64 * 64);
    ft__section_image *s;

    memcpy(copy, p->image, p->len);
    s = section_of(copy, FT__SECTION_BOARDS);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        memcpy(copy + s->offset, &cases[i].reach, sizeof(double));
        s->checksum = ft__checksum(copy + s->offset, sizeof(double));
        CHECK_EQ(open_changed(copy, p->len), cases[i].st);
    }
    memcpy(copy, p->image, p->len);
    copy[s->offset] ^= 0x41; /* its checksum is what it was */
    CHECK_EQ(open_changed(copy, p->len), FT_EFORMAT);
    memcpy(copy, p->image, p->len);
    s->bytes = 16;
    s->checksum = ft__checksum(copy + s->offset, 16);
    CHECK_EQ(open_changed(copy, p->len), FT_EFORMAT);
    memcpy(copy, p->image,
           p->len); /* twice, in the place of another that may be none */
    *section_of(copy, FT__SECTION_TEMPLATES) = *s;
    CHECK_EQ(open_changed(copy, p->len), FT_EFORMAT);
    free(copy);
    ft_predictor_free(p);
    ft_store_close(st);
}

static void a_saved_file_answers_the_same(const ft_predictor *p)
{
    static const char path[] = "test_family.ftp";
    ft_predictor *again = NULL;
    ft__dataset on = {.device = (char *)"l4"};

    CHECK_EQ(ft_device_load(&on.file, data_dir, "l4", NULL), FT_OK);
    CHECK_EQ(ft_predictor_save(p, path, NULL), FT_OK);
    CHECK_EQ(ft_predictor_load(&again, path, NULL), FT_OK);
    for (int i = 0; again && i < N_OPS; i++) {
        ft__op_answer a, b;
        ft_op op;

        make_op(&op, i);
        CHECK_EQ(
            ft__family_query(&a, p->family, FT__METRIC_TIME, &on, &op, NULL, 1, NULL),
            0);
        CHECK_EQ(ft__family_query(&b, again->family, FT__METRIC_TIME, &on, &op, NULL, 1,
                                  NULL),
                 0);
        CHECK(EQ(a.value, b.value) && EQ(a.low, b.low) && EQ(a.high, b.high));
    }
    remove(path);
    ft_device_free(on.file);
    ft_predictor_free(again);
}

TEST(a_file_stays_within_what_it_may_take)
{
    const ft_train_options small = {
        .most_bytes = 1, .forget = 1, .methods = 1u << FT_METHOD_EXTRA};
    ft_store *s;
    ft_predictor *p;

    CHECK_EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    fill(s, "t4", 0, 1200);
    p = train(s, &small);
    CHECK(CMP(p->family->model_set[FT__METRIC_TIME][0]->part[0].fit.n_rows, <, 300));
    ft_predictor_free(p);
    ft_store_close(s);
}

/* Sections of one kind whose bytes stand in another file as well. */
static int count_kept(const ft_predictor *p, const ft_predictor *old)
{
    const ft__header_image *h = (const void *)p->image, *g = (const void *)old->image;
    const ft__section_image *a = (const void *)(h + 1), *b = (const void *)(g + 1);
    int n = 0;

    for (uint32_t i = 0; i < h->n_sections; i++)
        for (uint32_t k = 0; k < g->n_sections; k++)
            if (a[i].type == FT__SECTION_PART && b[k].type == a[i].type &&
                a[i].bytes == b[k].bytes &&
                !memcmp(p->image + a[i].offset, old->image + b[k].offset, a[i].bytes)) {
                n++;
                break;
            }
    return n;
}

/* New measurements of linear layers: relu's regressors stay byte for byte, also where
 * the store holds nothing else of theirs. */
static void what_is_added_leaves_the_rest_alone(const ft_predictor *p)
{
    const ft_train_options add = {.add = p, .methods = 1u << FT_METHOD_EXTRA};
    ft_store *s = store_of(3), *few;
    ft_predictor *same = train(s, &add), *more;
    ft_predictor_info info;
    ft_train_options less = add;
    ft_error err = {0};
    int linear = 0;

    ft_predictor_get_info(p, &info);
    CHECK_EQ(count_kept(same, p), (int)info.n_regressors);
    ft_predictor_free(same);
    for (int i = N_OPS; i < N_OPS + 30; i++)
        if (i % 2)
            fill(s, "t4", i, 1);
    more = train(s, &add);
    for (uint32_t i = 0; i < info.n_regressors; i++) {
        ft_regressor_info r;

        ft_predictor_regressor(more, i, &r);
        linear += strcmp(r.kind, "relu") != 0 && strcmp(r.kind, "unary") != 0;
    }
    CHECK(CMP(linear, >, 0));
    CHECK_EQ(count_kept(more, p), (int)info.n_regressors - linear);
    CHECK(CMP(error_on(more, "t4", FT__METRIC_TIME, N_OPS, 20), <, 0.1));
    CHECK_EQ(ft_store_open(&few, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    fill(few, "t4", 0, N_OPS);
    less.data_dir = data_dir;
    CHECK_EQ(ft_predictor_train(&same, few, &less, &err), FT_ENOTFOUND);
    CHECK(HAS(err.msg, "old and new ones"));
    ft_store_close(few);
    ft_store_close(s);
    ft_predictor_free(more);
}

int main(int argc, char **argv)
{
    ft_predictor *p;

    take_folder(argc, argv);
    check_all();
    p = train_all(0, 1);
    threads_change_no_byte(p);
    damage_is_noticed(p);
    a_saved_file_answers_the_same(p);
    what_is_added_leaves_the_rest_alone(p);
    ft_predictor_free(p);
    CHECK_DONE();
}
