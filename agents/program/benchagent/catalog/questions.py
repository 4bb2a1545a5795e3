"""The questions that a comparison answers, as addresses and `benchctl ask` name them."""

QUESTIONS = (
    "best", "rank", "a_b", "loss", "falls_off", "scales", "effects", "load", "since", "newer", "published", "changed",
)  # fmt: skip
