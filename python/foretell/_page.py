"""Answers drawn: HTML with intervals (no scripts, nothing fetched)."""

from __future__ import annotations

import html
import math
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ._answer import Estimate, with_unit
from ._library import Error

if TYPE_CHECKING:
    from ._answer import Prediction

_STYLE = (
    # .ft.ft: before the rules that notebooks have for all tables.
    "<style>.ft{font:14px sans-serif;border-collapse:collapse;table-layout:auto}.ft.ft td,.ft.ft "
    "th{padding:3px 10px;text-align:left;border-bottom:1px solid #ddd}.ft.ft .n{text-align:right}"
    ".ft.ft.rows td,.ft.ft.rows th{white-space:nowrap;padding:3px 7px}.ft caption{"
    "text-align:left;padding:3px 10px}.ft svg{vertical-align:middle;margin-left:4px}</style>"
)


def _interval(e: Estimate, most: float, width: int = 180) -> str:
    """The 90 % interval as a bar, the value as a line, from 0 to `most`."""
    if not e or not most > 0:
        return ""
    low, high = (e.low, e.high) if not math.isnan(e.low) else (e.value, e.value)
    x = [min(max(v / most, 0), 1) * (width - 2) for v in (low, e.value, high)]
    title = html.escape(str(e))
    return (
        f'<svg width="{width}" height="14" role="img" style="max-width:none"><title>{title}</title>'
        f'<line x1="0" y1="7" x2="{width}" y2="7" stroke="#ddd"/>'
        f'<rect x="{x[0]:.1f}" y="3" width="{max(x[2] - x[0], 1):.1f}" height="8" fill="#9ecae1"/>'
        f'<rect x="{x[1]:.1f}" y="1" width="2" height="12" fill="#08519c"/></svg>'
    )


def _most(values: Sequence[Estimate]) -> float:
    ends = [e.value if math.isnan(e.high) else e.high for e in values if e]
    return max((v for v in ends if math.isfinite(v)), default=0.0)


def fragment(predictions: Sequence[Prediction]) -> str:
    """A table: a row a quantity and device, the intervals of a quantity to one scale."""
    rows = []
    for name in ("time", "energy", "power", "memory"):
        values = [getattr(p, name) for p in predictions]
        for p, e in zip(predictions, values):
            said = name if p is predictions[0] else ""
            cells = (
                f"<td class=n>{with_unit(e.value, e.unit)}</td>"
                f"<td>{_interval(e, _most(values))}</td><td>{html.escape(e.basis)}</td>"
                if e
                else f"<td colspan=3>unavailable: {html.escape(e.why)}</td>"
            )
            rows.append(f"<tr><td>{said}</td><td>{html.escape(p.device)}</td>{cells}</tr>")
    first = predictions[0] if predictions else None
    about = f"{first.model}, batch {first.batch}, {first.dtype}, {first.step}" if first else ""
    return (
        f"{_STYLE}<table class=ft><caption>{html.escape(about)}</caption>"
        "<tr><th></th><th>device</th><th class=n>value</th>"
        f"<th>90 % interval</th><th>basis</th></tr>{''.join(rows)}</table>"
    )


def table(names: Sequence[str], rows: Sequence[dict], cell: Callable[[Any], str]) -> str:
    """Rows of a record, estimates with their intervals, those of a column to one scale."""
    most = {n: _most([e for r in rows if isinstance(e := r.get(n), Estimate)]) for n in names}
    aside = {n: " class=n" if any(_is_number(r.get(n)) for r in rows) else "" for n in names}
    lines = []
    for row in rows:
        line = ""
        for name in names:
            value = row.get(name)
            drawn = " " + _interval(value, most[name], 70) if isinstance(value, Estimate) else ""
            line += f"<td{aside[name]}>{html.escape(cell(value))}{drawn}</td>"
        lines.append(f"<tr>{line}</tr>")
    head = "".join(f"<th{aside[name]}>{html.escape(name)}</th>" for name in names)
    inside = f'<table class="ft rows"><tr>{head}</tr>{"".join(lines)}</table>'
    return f'{_STYLE}<div style="overflow-x:auto">{inside}</div>'


def _is_number(value: Any) -> bool:
    """Or several, such as a grid."""
    return isinstance(value, (int, float, list, Estimate)) and not isinstance(value, bool)


def _sums(p: Prediction) -> str:
    rows = []
    for path, row in p.modules().items():
        name = html.escape(path or p.model)
        rows.append(
            f"<tr><td>{name}</td><td class=n>{with_unit(row['total_s'], 's')}</td>"
            f"<td class=n>{100 * row['share']:.1f} %</td>"
            f"<td class=n>{with_unit(row['flops'], '')}</td>"
            f"<td class=n>{with_unit(row['parameters'], '')}</td></tr>"
        )
    return (
        "<table class=ft><tr><th>module</th><th class=n>time</th><th class=n>share</th>"
        "<th class=n>FLOPs</th><th class=n>parameters</th></tr>"
        f"{''.join(rows)}</table>"
    )


def _said(p: Prediction) -> str:
    lines = "".join(
        f"<li>{html.escape(line)}</li>" for line in [*p.notes, *p.assumptions, *p.warnings]
    )
    return f"<ul>{lines}</ul>"


def page(p: Prediction) -> str:
    parts = "".join(
        f"<tr><td>{name}</td><td class=n>{with_unit(value, 'B')}</td></tr>"
        for name, value in p.memory.parts.items()
        if value
    )
    return frame(
        f"{p.model} on {p.device}",
        f"{fragment([p])}{_said(p)}<h2>Memory by part</h2><table class=ft>{parts}</table>"
        f"<h2>Modules</h2>{_sums(p)}",
    )


def page_of_all(predictions: Sequence[Prediction]) -> str:
    lists = "".join(f"<h2>{html.escape(p.device)}</h2>{_said(p)}" for p in predictions)
    n = len(predictions)
    on = f"{n} devices" if n > 1 else predictions[0].device
    return frame(f"{predictions[0].model} on {on}", fragment(predictions) + lists)


def frame(title: str, inside: str) -> str:
    title = html.escape(title)
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
        "<meta name=viewport content='width=device-width'>"
        "<style>body{font:14px/1.5 sans-serif;margin:1em}h1{overflow-wrap:anywhere}"
        "table{display:block;overflow-x:auto}.ft .n{white-space:nowrap}</style>"
        f"<h1>{title}</h1>{inside}</html>\n"
    )


def written(page: str, path: str | os.PathLike | None) -> str:
    """The page, which is also in the file of that path."""
    if path is not None:
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        except OSError as error:
            raise Error("EIO", f"{os.fspath(path)}: {error.strerror}", "") from None
    return page
