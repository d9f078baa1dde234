/* Let the 1st, 2nd, 3rd ... allocation fail until the call succeeds: every failure must
 * come back as FT_ENOMEM and leak nothing (run under ASan). */

#include "check.h"
#include "explore/search/search.h"
#include "explore_space.h"
#include "refuse.h"

enum { N = 24, PARAMS = 3 };

static ft_space *space;
static double *points, y[4 * N];

static ft_status make_space(void)
{
    static const uint32_t first[] = {0};
    static const ft__among part = {0, 1, first};
    const ft__condition condition = {1, part};
    const ft__forbidden forbidden = {&part, 1};
    const ft_parameter param[] = {categories("c", 3), integers("i", 1, 5, 0)};
    ft__arena arena = {0};
    ft_space *s;
    ft_status st =
        ft__space_new(&s, &arena, param, 2, &condition, 1, &forbidden, 1, NULL);

    CHECK_EQ((st == FT_OK), (s != NULL));
    ft__arena_free(&arena);
    return st;
}

static ft_status design(ft_design d)
{
    const ft_design_options opt = {.design = d, .n = 40, .resolution = 3};
    double *row;
    size_t n;
    ft_status st = ft_design_make(&row, &n, space, &opt, NULL);

    CHECK_EQ((st == FT_OK), (row != NULL));
    free(row);
    return st;
}

static ft_status pareto(void)
{
    unsigned char on[N];

    return ft_pareto(on, y, N, 3, NULL);
}

static ft_status hypervolume(void)
{
    const double reference[] = {2, 2, 2, 2};
    double volume;

    return ft_hypervolume(&volume, y, N, 4, reference, NULL);
}

static ft_status search(ft_searcher which)
{
    const ft__search_options opt = {.searcher = which, .objectives = 2, .first = 8};
    double point[PARAMS], gain;
    ft__search *s;
    ft_status st = ft__search_new(&s, space, &opt, NULL);

    CHECK_EQ((st == FT_OK), (s != NULL));
    for (int i = 0; i < 12 && !st; i++) {
        st = ft__search_ask(s, point, &gain, NULL);
        if (!st)
            st = ft__search_tell(s, point, y + 2 * i, NULL);
    }
    ft__search_free(s);
    return st;
}

static ft_status influence(void)
{
    ft_influence in;
    ft_status st = ft_influence_compute(&in, space, points, y, N, 1, NULL);

    CHECK_EQ((st == FT_OK), (in.main != NULL));
    ft_influence_free(&in);
    return st;
}

static ft_status influence_model(void)
{
    ft_influence_model m;
    ft_status st = ft_influence_fit(&m, space, points, y, N, 1, NULL);

    CHECK_EQ((st == FT_OK), (m.term != NULL));
    ft_influence_model_free(&m);
    return st;
}

static ft_status correlate(void)
{
    ft_correlation c;

    return ft_correlate(&c, FT_KENDALL, y, y + N, N, NULL);
}

int main(void)
{
    const ft_parameter param[] = {categories("c", 3), integers("i", 1, 50, 0),
                                  ordinals("o", 4)};
    const ft_design_options opt = {.design = FT_DESIGN_LATIN, .n = N};
    size_t n;

    space = space_of(param, PARAMS);
    CHECK(EQ(ft_design_make(&points, &n, space, &opt, NULL), FT_OK) && EQ(n, N));
    for (int i = 0; i < 4 * N; i++)
        y[i] = 0.5 + 0.5 * sin(i * i);
    CHECK_REFUSALS(make_space(), 1);
    CHECK_REFUSALS(design(FT_DESIGN_FULL), 1);
    CHECK_REFUSALS(design(FT_DESIGN_FRACTIONAL), 4);
    CHECK_REFUSALS(design(FT_DESIGN_RANDOM), 2);
    CHECK_REFUSALS(design(FT_DESIGN_LATIN), 5);
    CHECK_REFUSALS(design(FT_DESIGN_SOBOL), 2);
    CHECK_REFUSALS(pareto(), 3);
    CHECK_REFUSALS(hypervolume(), 4);
    CHECK_REFUSALS(search(FT_SEARCH_MODEL), 40);
    CHECK_REFUSALS(search(FT_SEARCH_NSGA2), 8);
    CHECK_REFUSALS(influence(), 100);
    CHECK_REFUSALS(influence_model(), 8);
    CHECK_REFUSALS(correlate(), 2);
    free(points);
    CHECK_DONE();
}
