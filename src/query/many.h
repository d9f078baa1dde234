#ifndef QUERY_MANY_H
#define QUERY_MANY_H

#include "query/answer.h"

/* One network under many settings, and many networks: fills a->s and a->many. */
ft_status ft__ask_settings(ft__question *a, ft_data *d, ft_error *err);
ft_status ft__ask_lists(ft__question *a, ft_data *d, ft_error *err);
void ft__many_free(ft__many_asked *m);

#endif
