/* What networks consist of. */
#include <math.h>

#include "store/store.h"
#include "store/store_inside.h"

ft_status ft__store_put_member(ft_store *s, const ft_member *member, ft_error *err)
{
    ft_status st = ft__store_begin(s, err);

    if (st)
        return st;
    return ft__store_end(s, ft__store_add_member(s, member, err), err);
}

static const char *text_at(sqlite3_stmt *q, int column)
{
    const unsigned char *t = sqlite3_column_text(q, column);

    return t ? (const char *)t : "";
}

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
        ft_member m = {.source = text_at(q, 0),
                       .whole = text_at(q, 1),
                       .phase = text_at(q, 2),
                       .part = text_at(q, 3),
                       .count = sqlite3_column_double(q, 4),
                       .note = text_at(q, 5)};

        stopped = each(user, &m) != 0;
    }
    return sqlite3_finalize(q) == SQLITE_OK || stopped ? FT_OK : ft__store_fail(s, err);
}
