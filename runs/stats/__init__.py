"""Statistics of few repeats. Pure: lists in, numbers out; thresholds are arguments. Imports nothing of ours."""

from __future__ import annotations

from runs.stats.ratio import Ratio, ratio
from runs.stats.summary import Interval, Summary, geometric_mean, geometric_mean_interval, summarise, t_quantile
from runs.stats.verdict import Kind, Verdict, judge, repeats_needed
