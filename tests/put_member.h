#ifndef PUT_MEMBER_H
#define PUT_MEMBER_H

#include "store/store.h"

/* One part of a network, in a transaction of its own. */
static inline ft_status put_member(ft_store *s, const ft_member *member)
{
    ft_status st = ft__store_begin(s, NULL);

    return st ? st : ft__store_end(s, ft__store_add_member(s, member, NULL), NULL);
}

#endif
