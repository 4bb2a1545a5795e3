"""Numbers as people read them, beyond `runs.charts.base.format_number`."""

from __future__ import annotations

THIN = "\u202f"
MINUS = "−"


def exact(value: float | None) -> str:
    """All digits that a source prints (up to ten), thousands apart: 1,813.969025."""
    if value is None:
        return ""
    text = f"{value:,.10g}"
    return text.replace("-", MINUS) if value < 0 else text


def times(value: float) -> str:
    """A ratio: 4.74 ×."""
    return f"{three_digits(value)}{THIN}×"


def three_digits(value: float) -> str:
    """Three significant digits, zeros kept: 0.224, 2.80, 31.5, 1,204."""
    return (
        f"{value:#.3g}".removesuffix(".") if 0.001 <= value < 100 else f"{value:,.3g}" if value < 1 else f"{value:,.0f}"
    )


def percent(share: float, *, signed: bool = False) -> str:
    """A share of 1 in per cent: 6.7 %, −17.5 %."""
    sign = MINUS if share < 0 else "+" if signed else ""
    return f"{sign}{abs(share) * 100:.1f}{THIN}%"
