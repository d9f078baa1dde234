/* Rows of a store, one after the other: measurements that fit a key, and what networks
 * consist of. */
#include <math.h>

#include "base/buf.h"
#include "store/store.h"

const char *ft__store_text(sqlite3_stmt *row, int column)
{
    const unsigned char *t = sqlite3_column_text(row, column);

    return t ? (const char *)t : "";
}

/* ---- measurements ---- */

/* The statement of ft_store_each(): only the members that are asked for appear,
 * so that the index can serve them. */
static void each_text(ft__buf *sql, const ft_key *f, int latest)
{
    const struct {
        const char *value, *condition;
    } part[] = {
        {f ? f->device : NULL, " AND d.name = ?1"},
        {f ? f->setting : NULL, " AND s.name = ?2"},
        {f ? f->engine : NULL, " AND e.name = ?3"},
        {f ? f->engine_version : NULL, " AND e.version = ?4"},
        {f ? f->spec : NULL, " AND o.spec = ?5"},
        {f ? f->phase : NULL, " AND m.phase = ?6"},
        {f ? f->dtype_policy : NULL, " AND m.dtype_policy = ?7"},
        {f ? f->metric : NULL, " AND m.metric = ?8"},
    };

    ft__buf_str(sql,
                "SELECT d.name, s.name, e.name, e.version, o.spec, m.phase,"
                " m.dtype_policy, m.metric, m.unit, m.value, m.error, m.mad, m.mean,"
                " m.std, m.n, m.iterations, m.id, m.run_id, m.taken_at, m.calibration,"
                " m.conditions" FT__STORE_JOINED " WHERE 1");
    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
        if (part[i].value && *part[i].value)
            ft__buf_str(sql, part[i].condition);
    if (latest)
        ft__buf_str(sql, " AND NOT EXISTS(SELECT 1 FROM measurement x"
                         " WHERE x.operation_id = m.operation_id"
                         " AND x.device_id = m.device_id AND x.engine_id = m.engine_id"
                         " AND x.setting_id = m.setting_id AND x.phase = m.phase"
                         " AND x.dtype_policy = m.dtype_policy AND x.metric = m.metric"
                         " AND (x.taken_at, x.id) > (m.taken_at, m.id))");
    ft__buf_str(sql, " ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, m.taken_at, m.id");
}

static double f64_at(sqlite3_stmt *st, int column)
{
    return sqlite3_column_type(st, column) == SQLITE_NULL
               ? NAN
               : sqlite3_column_double(st, column);
}

static ft_row row_of(sqlite3_stmt *st)
{
    return (ft_row){
        .key = {.device = ft__store_text(st, 0),
                .setting = ft__store_text(st, 1),
                .engine = ft__store_text(st, 2),
                .engine_version = ft__store_text(st, 3),
                .spec = ft__store_text(st, 4),
                .phase = ft__store_text(st, 5),
                .dtype_policy = ft__store_text(st, 6),
                .metric = ft__store_text(st, 7)},
        .m = {.unit = ft__store_text(st, 8),
              .value = f64_at(st, 9),
              .error = f64_at(st, 10),
              .mad = f64_at(st, 11),
              .mean = f64_at(st, 12),
              .std = f64_at(st, 13),
              .n = (uint64_t)sqlite3_column_int64(st, 14),
              .iterations = (uint64_t)sqlite3_column_int64(st, 15),
              .calibration_s = f64_at(st, 19),
              .conditions = ft__store_text(st, 20)},
        .id = sqlite3_column_int64(st, 16),
        .run = sqlite3_column_int64(st, 17),
        .taken_at = sqlite3_column_int64(st, 18),
    };
}

/* As many parts of the key as the statement asks for. */
static int bind_filter(sqlite3_stmt *q, const ft_key *k)
{
    const char *const part[] = {k->device,         k->setting, k->engine,
                                k->engine_version, k->spec,    k->phase,
                                k->dtype_policy,   k->metric};
    int n = sqlite3_bind_parameter_count(q), rc = SQLITE_OK;

    for (int i = 0; i < n && rc == SQLITE_OK; i++)
        rc = sqlite3_bind_text(q, i + 1, part[i], -1, SQLITE_STATIC);
    return rc;
}

ft_status ft_store_each(ft_store *s, const ft_key *filter, int latest,
                        int (*each)(void *user, const ft_row *row), void *user,
                        ft_error *err)
{
    sqlite3_stmt *q = NULL;
    ft__buf sql = {0};
    ft_status st = FT_OK;
    int rc = SQLITE_NOMEM;

    /* A statement of its own, so that `each` may call us again. */
    each_text(&sql, filter, latest);
    if (sql.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "store %s", s->path);
    else
        rc = sqlite3_prepare_v2(s->db, sql.s, -1, &q, NULL);
    ft__buf_free(&sql);
    if (st)
        return st;
    if (rc == SQLITE_OK && filter)
        rc = bind_filter(q, filter);
    while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        ft_row row = row_of(q);

        rc = sqlite3_errcode(s->db); /* a text may have found no memory */
        if (rc != SQLITE_NOMEM)
            rc = each(user, &row) ? SQLITE_DONE : SQLITE_OK;
    }
    if (rc != SQLITE_DONE)
        st = ft__store_fail(s, err);
    sqlite3_finalize(q);
    return st;
}

/* ---- members ---- */

ft_status ft_store_each_member(ft_store *s, const char *source, const char *whole,
                               int (*each)(void *user, const ft_member *member),
                               void *user, ft_error *err)
{
    static const char sql[] =
        "SELECT source, whole, phase, part, count, note FROM member"
        " WHERE (?1 = '' OR source = ?1) AND (?2 = '' OR whole = ?2) ORDER BY id";
    sqlite3_stmt *q;
    bool stopped = false;

    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        return ft__store_fail(s, err);
    sqlite3_bind_text(q, 1, source ? source : "", -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 2, whole ? whole : "", -1, SQLITE_STATIC);
    while (!stopped && sqlite3_step(q) == SQLITE_ROW) {
        ft_member m = {.source = ft__store_text(q, 0),
                       .whole = ft__store_text(q, 1),
                       .phase = ft__store_text(q, 2),
                       .part = ft__store_text(q, 3),
                       .count = sqlite3_column_double(q, 4),
                       .note = ft__store_text(q, 5)};

        stopped = each(user, &m) != 0;
    }
    return sqlite3_finalize(q) == SQLITE_OK || stopped ? FT_OK : ft__store_fail(s, err);
}
