/* Points of explorations that a fleet's file wants of a kind, and whether they were
 * run. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "explore/exploration.h"
#include "explore/run.h"
#include "fleet/want.h"

struct points {
    ft__wanted_point at;
    ft_status (*each)(void *user, const ft__wanted_point *at, ft_error *err);
    void *user;
    ft_status st;
    ft_error *err;
};

static void take(void *user, const char *point, bool left)
{
    struct points *k = user;
    ft__buf text = {0};

    k->at.number++;
    k->at.left = left;
    ft__buf_fmt(&text, "point %llu of %s: %s", (unsigned long long)k->at.number,
                k->at.name, point);
    k->at.text = text.s;
    if (!k->st)
        k->st = text.bad ? ft_fail(k->err, FT_ENOMEM, 0, "%s", k->at.of->explore)
                         : k->each(k->user, &k->at, k->err);
    ft__buf_free(&text);
}

static ft_status each_point(struct points *k, const char *kind, ft_store *store,
                            ft_error *err)
{
    const ft__fleet_wanted *w = k->at.of;
    ft_exploration *x;
    ft__buf name = {0};
    ft_status st = ft_exploration_load(&x, w->explore, NULL, err);

    if (st)
        return st;
    ft__buf_fmt(&name, "%s@%s", x->name, kind);
    k->at.name = name.s;
    k->at.number = 0;
    k->at.runs = x->least_runs * (double)x->n_workloads;
    if (x->predict.n)
        st = ft_fail(err, FT_EFORMAT, 0,
                     "%s: its points are predicted, not run; ask for them with: "
                     "foretell explore report",
                     w->explore);
    else
        st = name.bad ? ft_fail(err, FT_ENOMEM, 0, "%s", w->explore)
                      : ft__exploration_rename(x, name.s, err);
    if (!st)
        st = ft__explore_left(take, k, x, store, &w->design, err);
    ft__buf_free(&name);
    ft_exploration_free(x);
    return st ? st : k->st;
}

ft_status ft__part_points(ft__part *p, const ft_fleet *f, ft_store *store,
                          ft_status (*each)(void *user, const ft__wanted_point *at,
                                            ft_error *err),
                          void *user, ft_error *err)
{
    ft_error why;
    struct points k = {.each = each, .user = user, .err = &why};
    ft_status st = FT_OK;

    for (size_t i = 0; i < f->n_wanted && p->first && !st; i++) {
        k.at.of = &f->wanted[i];
        if (!f->wanted[i].explore || !f->wanted[i].of_kind[p->n_kind])
            continue;
        st = each_point(&k, p->kind->name, store, &why);
        /* What the file of the fleet asks for is a mistake in it. */
        if (st)
            st = ft_fail(err, st == FT_EINVAL || st == FT_EIO ? FT_EFORMAT : st, 0,
                         "wanted: %s", why.msg);
    }
    return st;
}
