"""Labels of axes. Only pictures need it, as it imports matplotlib."""

from __future__ import annotations

from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogFormatter, MaxNLocator


class _Counts(LogFormatter):
    """Writes 20,000 where matplotlib has room for a label."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:,.0f}" if x >= 1 and super().__call__(x, pos) else ""


def count_on(axis: Axis) -> None:
    """Label an axis with whole numbers, such as 20,000."""
    if axis.get_scale() == "linear":
        axis.set_major_locator(MaxNLocator(integer=True))
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    else:
        axis.set_major_formatter(_Counts())
        axis.set_minor_formatter(_Counts())
