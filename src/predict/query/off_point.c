/* Is a device asked about at another clock, or under another cap, than it was
 * measured? */
#include <math.h>

#include "predict/query/op_query.h"

/* Formulae alone erred 7 to 12 % on benchmarks left out (docs/notes/clocks-model.md).
 */
const double ft__elsewhere_error = 0.2;

static bool differs(double asked, double measured)
{
    return isfinite(asked) && !(fabs(asked - measured) <= 1e-3 * asked);
}

bool ft__drive_differs(const ft__drive *asked, const ft__drive *measured)
{
    return differs(asked->clock_hz, measured->clock_hz) ||
           differs(asked->memory_hz, measured->memory_hz) ||
           differs(asked->power_w, measured->power_w);
}

bool ft__setting_differs(const char *asked, const char *measured)
{
    const ft__drive a = ft__drive_of(asked), b = ft__drive_of(measured);

    return ft__drive_differs(&a, &b);
}
