"""Statistics of few repeats. Pure: lists in, numbers out; thresholds are arguments. Imports nothing of ours.

SciPy and NumPy are imported where they are used: they cost 0.4 s and 23 MB (scipy.stats another 0.9 s and 47 MB) at the
start of every process, most of which (broker's workers, commands, a web process that shows lists) compare nothing.
"""

from runs.stats.fits import Slope, slope
from runs.stats.levels import (
    Pair,
    SeriesVerdicts,
    judge_levels,
    judge_pairs,
    letters,
    levels_that_count,
    overall_ratio,
    ratios_of_levels,
)
from runs.stats.noise import Noise, geometric_mean_interval, noise_by_machine, page_noise
from runs.stats.ratios import Lack, Ranks, Ratio, Welch, holm, ranks, ratio
from runs.stats.repeats import MOST_REPEATS_ASKED, more_repeats
from runs.stats.summaries import (
    ALPHA,
    CELL_CONFIDENCE,
    CONFIDENCE,
    MIN_REPEATS,
    OF_ALL,
    Interval,
    Moments,
    Summary,
    ends_of,
    geometric_mean,
    interval_of_logs,
    jackknifed,
    log_values,
    mean,
    mean_or_zero,
    stdev,
    summarise,
    t_quantile,
)
from runs.stats.verdicts import PRACTICAL_THRESHOLD, WINNERS, Kind, Verdict, judge, side_of
