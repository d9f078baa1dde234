/* Let the 1st, 2nd, 3rd ... allocation of a question fail until it is answered: it is
 * refused or answered as ever, and nothing leaks (run under ASan). */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "foretell/timeline.h"
#include "refuse.h"

/* From nothing to an answer in time, in seconds. */
static ft_status ask(double *time_s, const char *data_dir, const char *method)
{
    static const char list[] = "linear x=8x256 out=512 bias=1 dtype=fp32 *3\n";
    ft_query q = FT_QUERY_INIT;
    ft_timeline *t = NULL;
    ft_answer *a = NULL;
    ft_data *d;
    ft_status st = ft_data_open(&d, data_dir, NULL, NULL);

    q.model = "a list";
    q.list = list;
    q.list_len = sizeof(list) - 1;
    q.device = "a30";
    q.method = method;
    if (!st)
        st = ft_query_ask(&a, d, &q, NULL);
    CHECK_EQ(!a, !!st);
    *time_s = a ? a->time.value : -1;
    if (!st)
        st = ft_timeline_make(&t, a->graph, a, NULL);
    CHECK_EQ(!t, !!st);
    ft_timeline_free(t);
    ft_answer_free(a);
    ft_data_close(d);
    return st;
}

static void every_refused_allocation_is_survived(const char *data_dir,
                                                 const char *method)
{
    ft_status st = FT_ENOMEM;
    double whole, time_s = 0;
    int n = 0, refused = 0;

    CHECK(!ask(&whole, data_dir, method));
    for (bool done = false; !done && n < 100000;) {
        allocs_left = ++n;
        st = ask(&time_s, data_dir, method);
        done = allocs_left > 0;
        allocs_left = -1;
        refused += st != FT_OK;
        CHECK(st || EQ(time_s, whole));
    }
    CHECK(!st && CMP(refused, >, 20));
}

int main(int argc, char **argv)
{
    char data_dir[4096];

    if (argc < 2)
        return 2;
    snprintf(data_dir, sizeof(data_dir), "%s/data", argv[1]);
    every_refused_allocation_is_survived(data_dir, "physics");
    every_refused_allocation_is_survived(data_dir, NULL);
    CHECK_DONE();
}
