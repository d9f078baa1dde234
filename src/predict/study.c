/* Which networks are foretold, what is learned without each, and their loads. */
#include "predict/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of one kind that are learned from across devices. */
enum { ROWS_ACROSS = 2000 };

const ft__dataset *ft__study_ran(const ft__study *y, size_t whole)
{
    return &y->w.dataset[y->w.v[whole].dataset];
}

bool ft__study_devices(const ft__study *y)
{
    return y->opt->left_out == FT_LEAVE_DEVICE;
}

ft__known_network *ft__study_known(const ft__study *y, uint32_t session)
{
    return y->known + session * y->w.n;
}

bool ft__study_asks(const ft__study *y, uint32_t group, uint32_t session)
{
    return y->asked[(size_t)group * y->n_sessions + session];
}

/* ---- training sets ---- */

static bool has_part(const ft__whole *w, const ft_op *key)
{
    for (size_t i = 0; i < w->n_parts; i++)
        if (ft_op_equal(&w->part[i].op, key))
            return true;
    return false;
}

/* Where the networks of a group ran; those of devices may have several policies. */
static const ft__dataset *ran_in(const ft__study *y, uint32_t group)
{
    size_t i = 0;

    while (y->group[i] != group)
        i++;
    return ft__study_ran(y, i);
}

static bool same_device(const ft__study *y, uint32_t sample_set, uint32_t group)
{
    return strcmp(y->s.dataset[sample_set].device, ran_in(y, group)->device) == 0;
}

static bool same_place(const ft__dataset *a, const ft__dataset *b)
{
    return strcmp(a->device, b->device) == 0 && strcmp(a->policy, b->policy) == 0;
}

bool ft__study_goes(const ft__study *y, uint32_t group, uint32_t other)
{
    return ft__study_devices(y) || same_place(ran_in(y, group), ran_in(y, other));
}

/* May sample i be learned from when these groups are left out? */
static bool may_learn(const ft__study *y, size_t i, uint32_t group, uint32_t also)
{
    if (!(y->s.v[i].value[FT__METRIC_TIME] > 0))
        return false;
    if (ft__study_devices(y))
        return !same_device(y, y->s.v[i].dataset, group) &&
               !same_device(y, y->s.v[i].dataset, also);
    if (!same_place(&y->s.dataset[y->s.v[i].dataset], ran_in(y, group)))
        return false;
    for (size_t w = 0; w < y->w.n; w++)
        if (y->group[w] == group && has_part(&y->w.v[w], &y->key[i]))
            return false;
    return true;
}

/* y->prices without two groups (which may be one). Networks that have no operation in
 * the set leave the same rows. */
static ft_status learn(ft__study *y, uint32_t group, uint32_t also, ft_error *err)
{
    const ft__prices_options how = {.n_trees = y->opt->n_trees,
                                    .kind_rows = ft__study_devices(y) ? ROWS_ACROSS : 0,
                                    .seed = y->opt->seed,
                                    .unseen = ft__study_devices(y)};
    uint32_t *spare = y->row;
    size_t n = 0;

    for (uint32_t i = 0; i < y->s.n; i++)
        if (may_learn(y, i, group, also))
            y->next[n++] = i;
    if (n && n == y->n_rows && memcmp(y->next, y->row, n * sizeof(*y->row)) == 0)
        return FT_OK;
    ft__prices_free(&y->prices);
    y->row = y->next;
    y->next = spare;
    y->n_rows = n;
    return ft__prices_fit(&y->prices, &y->s, y->row, n, &how, err);
}

/* ---- loads ---- */

ft_status ft__study_load(ft__load *out, ft__sums *sums, const ft__study *y,
                         size_t whole, uint32_t session, bool blind, ft_error *err)
{
    const ft__whole *v = &y->w.v[whole];

    return ft__load_price(out, sums, &y->prices, v->part, v->n_parts,
                          ft__study_ran(y, whole), y->session[session], blind, err);
}

static ft__load *pair_of(const ft__study *y, uint32_t left_out, uint32_t session)
{
    return y->pair + (left_out * (size_t)y->n_sessions + session) * y->w.n;
}

/* Loads of the networks of two devices, each left out together with the other. */
static ft_status load_pair(ft__study *y, uint32_t a, uint32_t b, ft_error *err)
{
    ft_status st;
    ft__sums sums;

    if (y->paired[a * y->n_groups + b])
        return FT_OK;
    st = learn(y, a, b, err);
    for (size_t i = 0; i < y->w.n; i++)
        for (uint32_t c = 0; c < y->n_sessions && !st; c++) {
            if (y->group[i] == b && ft__study_asks(y, a, c))
                st = ft__study_load(pair_of(y, a, c) + i, &sums, y, i, c, false, err);
            if (y->group[i] == a && ft__study_asks(y, b, c) && !st)
                st = ft__study_load(pair_of(y, b, c) + i, &sums, y, i, c, false, err);
        }
    y->paired[a * y->n_groups + b] = y->paired[b * y->n_groups + a] = true;
    return st;
}

/* Loads of the networks that are not left out: as those of the group, they are
 * predicted by prices that have not seen their operations. y->prices: those without
 * the group. */
ft_status ft__study_others(ft__study *y, uint32_t group, ft_error *err)
{
    ft_status st = FT_OK;
    ft__sums sums;

    for (uint32_t g = 0; g < y->n_groups && ft__study_devices(y) && !st; g++)
        if (g != group)
            st = load_pair(y, group, g, err);
    if (!st)
        st = learn(y, group, group, err);
    for (size_t i = 0; i < y->w.n; i++)
        for (uint32_t c = 0; c < y->n_sessions && !st; c++) {
            ft__load *l = &ft__study_known(y, c)[i].load;

            if (y->group[i] == group || !ft__study_goes(y, group, y->group[i]) ||
                !ft__study_asks(y, group, c))
                continue;
            if (ft__study_devices(y))
                *l = pair_of(y, group, c)[i];
            else
                st = ft__study_load(l, &sums, y, i, c, true, err);
        }
    return st;
}

/* ---- what is studied ---- */

static ft_status find_devices(ft__dataset *d, uint32_t n, const char *data_dir,
                              ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < n && !st; i++)
        st = ft_device_load(&d[i].file, data_dir, d[i].device, err);
    return st;
}

static ft_status find_sessions(ft__study *y, ft_error *err)
{
    y->session = calloc(y->s.n_datasets + 1u, sizeof(*y->session));
    if (!y->session)
        return ft_fail(err, FT_ENOMEM, 0, "sessions");
    for (uint32_t i = 0; i < y->s.n_datasets; i++) {
        uint32_t c = 0;

        while (c < y->n_sessions && strcmp(y->session[c], y->s.dataset[i].setting) != 0)
            c++;
        if (c == y->n_sessions)
            y->session[y->n_sessions++] = y->s.dataset[i].setting;
    }
    return FT_OK;
}

/* Networks of one name and input that ran in one place are one group, whatever their
 * phase. */
static void find_groups(ft__study *y)
{
    const bool devices = ft__study_devices(y);

    y->n_groups = 0;
    for (size_t i = 0; i < y->w.n; i++) {
        const ft__whole *a = &y->w.v[i];
        size_t j = 0;

        for (; j < i; j++) {
            const ft__whole *b = &y->w.v[j];

            if (devices ? strcmp(ft__study_ran(y, i)->device,
                                 ft__study_ran(y, j)->device) == 0
                        : strcmp(a->spec, b->spec) == 0 &&
                              same_place(ft__study_ran(y, i), ft__study_ran(y, j)))
                break;
        }
        y->group[i] = j < i ? y->group[j] : y->n_groups++;
    }
}

/* Networks of one device err alike: of another one they say together as much as one. */
static double weight_of(const ft__study *y, size_t whole)
{
    size_t n = 0;

    for (size_t i = 0; i < y->w.n; i++)
        n += y->group[i] == y->group[whole];
    return ft__study_devices(y) ? 1 / (double)n : 1;
}

/* Operations of a session from which a group may be foretold. */
static size_t rows_of(const ft__study *y, uint32_t group, uint32_t session)
{
    size_t n = 0;

    for (uint32_t i = 0; i < y->s.n_datasets; i++) {
        const ft__dataset *d = &y->s.dataset[i];

        if (strcmp(d->setting, y->session[session]) == 0 &&
            (ft__study_devices(y) ? !same_device(y, i, group)
                                  : same_place(d, ran_in(y, group))))
            n += d->n;
    }
    return n;
}

/* Of two sessions with as many operations the first comes first. */
static ft_status find_asked(ft__study *y, ft_error *err)
{
    const uint32_t sessions = y->n_sessions;
    size_t *rows = calloc(sessions + 1u, sizeof(*rows));

    y->asked = calloc((size_t)y->n_groups * sessions + 1, sizeof(*y->asked));
    for (uint32_t g = 0; g < y->n_groups && rows && y->asked; g++) {
        for (uint32_t c = 0; c < sessions; c++)
            rows[c] = rows_of(y, g, c);
        for (uint32_t c = 0; c < sessions; c++) {
            uint32_t before = 0;

            for (uint32_t k = 0; k < sessions; k++)
                before += rows[k] > rows[c] || (rows[k] == rows[c] && k < c);
            y->asked[(size_t)g * sessions + c] = rows[c] && before < FT__MAX_SESSIONS;
        }
    }
    free(rows);
    return rows && y->asked ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "sessions");
}

static ft_status make_tables(ft__study *y, ft_error *err)
{
    const size_t n = y->w.n, sessions = y->n_sessions;

    y->key = calloc(y->s.n + 1, sizeof(*y->key));
    y->row = calloc(y->s.n + 1, sizeof(*y->row));
    y->next = calloc(y->s.n + 1, sizeof(*y->next));
    y->group = calloc(n + 1, sizeof(*y->group));
    y->known = calloc(sessions * n + 1, sizeof(*y->known));
    if (!y->key || !y->row || !y->next || !y->group || !y->known)
        return ft_fail(err, FT_ENOMEM, 0, "%zu operations", y->s.n);
    for (size_t i = 0; i < y->s.n; i++)
        y->key[i] = ft__part_key(&y->s.v[i].op);
    find_groups(y);
    for (size_t i = 0; i < sessions * n; i++)
        y->known[i] = (ft__known_network){.time_s = y->w.v[i % n].time_s,
                                          .energy_j = y->w.v[i % n].energy_j,
                                          .weight = weight_of(y, i % n)};
    y->pair = calloc(ft__study_devices(y) ? y->n_groups * sessions * n + 1 : 1,
                     sizeof(*y->pair));
    y->paired = calloc(ft__study_devices(y) ? (size_t)y->n_groups * y->n_groups + 1 : 1,
                       sizeof(*y->paired));
    if (!y->pair || !y->paired)
        return ft_fail(err, FT_ENOMEM, 0, "%zu networks", n);
    return find_asked(y, err);
}

ft_status ft__study_open(ft__study *y, ft_store *store, ft_error *err)
{
    const ft_networks_options *o = y->opt;
    ft_status st = ft__samples_read(&y->s, store, NULL, o->ops, err);

    if (!st)
        st = ft__wholes_read(&y->w, store, o->networks, o->graph, o->user, err);
    if (!st)
        st = find_devices(y->s.dataset, y->s.n_datasets, o->data_dir, err);
    if (!st)
        st = find_devices(y->w.dataset, y->w.n_datasets, o->data_dir, err);
    if (!st)
        st = find_sessions(y, err);
    if (!st)
        st = make_tables(y, err);
    if (!st && y->n_groups < 2)
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "%u %s with operations: two at least are needed, one to leave "
                     "out and one to learn from",
                     y->n_groups,
                     ft__study_devices(y) ? "devices with networks" : "networks");
    return st;
}

void ft__study_free(ft__study *y)
{
    ft__prices_free(&y->prices);
    free(y->session);
    free(y->asked);
    free(y->key);
    free(y->row);
    free(y->next);
    free(y->group);
    free(y->known);
    free(y->pair);
    free(y->paired);
    ft__samples_free(&y->s);
    ft__wholes_free(&y->w);
}
