/* Plug-ins that must be refused, one per value of FAULT. */
#include "foretell/engine.h"

enum { OTHER_ABI = 1, SCORE_ZERO, NO_ENGINE };

static int score(ft_error *err)
{
    ft_fail(err, FT_EUNSUPPORTED, 0, "the moon is in the wrong phase");
    return 0;
}

FT_API const ft_engine *ft_engine_entry(void);

const ft_engine *ft_engine_entry(void)
{
    static const ft_engine bad = {
        .abi = FT_ENGINE_ABI + (FAULT == OTHER_ABI), .name = "bad", .score = score};

    return FAULT == NO_ENGINE ? NULL : &bad;
}
