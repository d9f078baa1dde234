/* Points of explorations that a fleet's file wants of a kind, and whether they were
 * run. */
#include "explore/exploration.h"
#include "explore/run.h"
#include "fleet/want.h"

struct points {
    ft__part *part;
    bool add;
    ft__wanted_op next; /* but for what it is known by */
    ft_status st;
    ft_error *err;
};

static void take(void *user, const char *point, bool left)
{
    struct points *k = user;
    ft__wanted_op *o;
    ft__buf text = {0};

    ft__buf_fmt(&text, "point %llu of %s: %s", (unsigned long long)++k->next.number,
                k->next.name, point);
    if (!k->st && k->add)
        k->st = ft__part_add_text(k->part, k->next, &text, k->err);
    o = k->add || text.bad ? NULL : ft__part_named(k->part, text.s);
    if (o)
        o->known = !left;
    ft__buf_free(&text);
}

static ft_status each_point(struct points *k, ft_exploration *x, ft_store *store,
                            const ft__fleet_wanted *w, ft_error *err)
{
    ft__buf name = {0};
    ft_status st;

    ft__buf_fmt(&name, "%s@%s", x->name, k->part->kind->name);
    k->next = (ft__wanted_op){
        .what = FT__POINT,
        .of = w,
        .name = k->add && !name.bad
                    ? ft__arena_strndup(&k->part->arena, name.s, name.len)
                    : name.s,
        .count = 1,
        .runs = x->least_runs * (double)x->n_workloads};
    if (x->predict.n)
        st = ft_fail(err, FT_EFORMAT, 0,
                     "%s: its points are predicted, not run; ask for them with: "
                     "foretell explore report",
                     w->explore);
    else
        st = name.bad || !k->next.name ? ft_fail(err, FT_ENOMEM, 0, "%s", w->explore)
                                       : ft__exploration_rename(x, name.s, err);
    if (!st)
        st = ft__explore_left(take, k, x, store, &w->design, err);
    ft__buf_free(&name);
    return st ? st : k->st;
}

ft_status ft__part_points(ft__part *p, bool add, const ft_fleet *f, ft_store *store,
                          ft_error *err)
{
    ft_error why;
    struct points k = {.part = p, .add = add, .err = &why};
    ft_status st = FT_OK;

    for (size_t i = 0; i < f->n_wanted && p->first && !st; i++) {
        const ft__fleet_wanted *w = &f->wanted[i];
        ft_exploration *x;

        if (!w->explore || !w->of_kind[p->n_kind])
            continue;
        st = ft_exploration_load(&x, w->explore, NULL, &why);
        if (!st) {
            st = each_point(&k, x, store, w, &why);
            ft_exploration_free(x);
        }
        /* What the file of the fleet asks for is a mistake in it. */
        if (st)
            st = ft_fail(err, st == FT_EINVAL || st == FT_EIO ? FT_EFORMAT : st, 0,
                         "wanted: %s", why.msg);
    }
    return st;
}
