"""Do 90 % intervals hold? Rows of one group err alike: each group counts once."""
import math
from statistics import mean


def binomial_range(n):
    """The central 95 % of shares of n that hold with 0.9."""
    low = high = None
    total = 0
    for k in range(n + 1):
        total += math.comb(n, k) * 0.9 ** k * 0.1 ** (n - k)
        low = k if low is None and total > 0.025 else low
        high = k if high is None and total >= 0.975 else high
    return low / n, high / n


def by_group(groups):
    """groups: of each, which of its rows are inside."""
    low, high = binomial_range(len(groups))
    return f'covered {100 * mean(mean(g) for g in groups):5.1f} of {len(groups)} ({100 * low:.0f}-{100 * high:.0f})'
