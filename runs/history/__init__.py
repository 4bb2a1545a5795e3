"""Did it move, since when, why: benchmarks over time, their changes, and the alerts of these.

A batch is filed into the series of its benchmarks (`filing`), which are watched (`watching`); changes at one place are
one alert (`alerts`), whose state passes one function. `causes` says what else changed there.
"""
