"""Do 90 % intervals hold? Rows of one group err alike: each group counts once."""
import math
from bisect import bisect
from itertools import accumulate
from statistics import mean


def binomial_range(n):
    """The central 95 % of shares of n that hold with 0.9."""
    at_most = list(accumulate(math.comb(n, k) * 9**k / 10**n for k in range(n + 1)))
    return bisect(at_most, 0.025) / n, bisect(at_most, 0.975) / n


def by_group(groups):
    """groups: of each, which of its rows are inside."""
    low, high = binomial_range(len(groups))
    return f'covered {100 * mean(mean(g) for g in groups):5.1f} of {len(groups)} ({100 * low:.0f}-{100 * high:.0f})'
