"""Records of commands, and their tables."""

from __future__ import annotations

import math
from typing import Any

from ._answer import Estimate, _pandas, _table, with_unit
from ._library import Error

# Which list of a record is its table, where that is not the first one; of several names the one
# that it has.
_TABLE = {
    "rank": "choices placed",
    "explore": "trials",
    "train": "regressors",
    "ptx": "launches",
    "predict": "answers",
}
# Members whose own members need no prefix.
_PLAIN = {"values", "launch", "counts", "classes", "spaces", "estimate", "served"}
# Columns that are shown; of others all that are not empty.
_SHOWN = {
    "rank": "place device batch clock_hz tp concurrency rate precision state chance regret time "
    "energy memory cost_of_a_million_passes cost_of_a_million_items co2 ttft_mean tpot_mean "
    "tokens_per_s_per_device joules_per_token cost_per_million_tokens",
    "evaluate": "name learned_n learned_mape learned_median_ape learned_within_10 constant_mape "
    "physics_mape covered",
    "predict": "model device batch tp concurrency rate run_mode setting time energy power "
    "memory_total ttft_mean tpot_mean e2e_mean tokens_per_s tokens_per_s_per_user "
    "joules_per_token cost_per_million_tokens fits fit_fits",
    "train": "kind phase metric method forest_n forest_mape forest_median_ape roofline_mape",
    "ptx": "name kernel file times grid block warps exact all_warp flops_fp32 flops_tensor "
    "global_bytes_loaded global_bytes_stored time bound occupancy line registers_32 "
    "registers_64 shared_bytes allocated",
}


def _flat(record: dict, counted: set[str], prefix: str = "") -> dict[str, Any]:
    """Members by their path; lists of records are tables of their own."""
    row: dict[str, Any] = {}
    for name, value in record.items():
        path = prefix + name
        if isinstance(value, dict) and "unit" in value:
            middle, low, high = (
                math.nan if value[k] is None else value[k] for k in ("value", "low", "high")
            )
            unit, basis, why = value["unit"], value["basis"], value.get("why", "")
            row[path] = Estimate(middle, low, high, unit, basis, why)
        elif isinstance(value, dict) and "value" in value:
            row[path] = value["value"]
            counted.add(path)
        elif isinstance(value, dict):
            row |= _flat(value, counted, "" if name in _PLAIN else path + "_")
        elif not _is_table(value):
            row[path] = value
    return row


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


class Record(dict):
    """The record of a command, as its --json, and the table in it."""

    def __init__(self, record: dict, command: str) -> None:
        super().__init__(record)
        self.command = command

    def rows(self, table: str | None = None) -> list[dict[str, Any]]:
        """Its table, a dict a row: nested names are joined by "_", what has a unit is an Estimate,
        a count is its value. table: the name of a list of the record; otherwise "choices" of rank
        (of served models "placed"), "launches" or kernels of ptx, "regressors" of train, "trials"
        of explore, the first list of others; without one the record itself is the row. Raises
        Error."""
        names = _TABLE.get(self.command, "").split()
        name = table or next((one for one in names if one in self), " ".join(names))
        if not name:
            name = next((k for k, v in self.items() if _is_table(v)), "")
        records: Any = self.get(name, [self] if table is None else None)
        if records != [] and not _is_table(records):
            names = [k for k, v in self.items() if _is_table(v)]
            said = f"there is no table {table!r} of {self.command}; there are {', '.join(names)}"
            raise Error("EINVAL", said, "table=")
        if table is None and "files" in self:
            records = [{"file": f["file"], **k} for f in self["files"] for k in f["kernels"]]
        counted: set[str] = set()
        rows = [_flat(one, counted) for one in records]
        for row, one in zip(rows, records):  # what a launch does not execute is not listed
            if one.get("counts"):
                row |= dict.fromkeys(counted - row.keys(), 0)
        return rows

    def to_pandas(self, table: str | None = None) -> Any:
        """rows() as a frame: an Estimate is time_s, time_low_s, time_high_s and time_basis. Needs
        pandas."""
        pandas, rows = _pandas(), []
        for one in self.rows(table):
            row: dict[str, Any] = {}
            for name, e in one.items():
                if isinstance(e, Estimate):
                    unit = "_" + e.unit.lower().replace(" ", "_") if e.unit else ""
                    row |= {f"{name}{unit}": e.value, f"{name}_low{unit}": e.low}
                    row |= {f"{name}_high{unit}": e.high, f"{name}_basis": e.basis}
                else:
                    row[name] = e
            rows.append(row)
        return pandas.DataFrame(rows)

    def _cost_of_a_million(self, row: dict[str, Any]) -> dict[str, Estimate]:
        """As the command's table: a pass costs too little to be read."""
        cost = row.get("cost")
        if not cost:
            return {}
        passes = self["by"] == "cost" and self["per"] == "pass"
        of = 1e6 if passes else 1e6 * row["cost_per_item"] / cost.value
        ends = (of * v for v in (cost.value, cost.low, cost.high))
        name = "passes" if passes else "items"
        return {f"cost_of_a_million_{name}": Estimate(*ends, cost.unit, cost.basis, cost.why)}

    def _shown(self) -> tuple[list[str], list[dict[str, Any]]]:
        """Columns of the table that say something, and its rows."""
        rows = self.rows()
        if self.command == "rank":
            rows = [row | self._cost_of_a_million(row) for row in rows]
        names = dict.fromkeys(name for row in rows for name in row)
        some = [n for n in names if any(_cell(row.get(n)) for row in rows)]
        shown = _SHOWN.get(self.command, "").split()
        return [n for n in shown if n in some] or some, rows

    def __str__(self) -> str:
        names, rows = self._shown()
        return _table([tuple(names), *(tuple(_cell(row.get(n)) for n in names) for row in rows)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from . import _page

        return _page.table(*self._shown(), _cell)


def _cell(value: Any) -> str:
    """As it is shown; "" for what is not known."""
    if isinstance(value, Estimate):
        if value.unit in ("", "1/s"):  # money and rates have no prefixes
            return f"{value.value:.4g} {value.unit}".strip() if value else ""
        return with_unit(value.value, value.unit) if value else ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if abs(value) >= 1e4:
            return with_unit(value, "").strip()
        return "" if math.isnan(value) else f"{value:.4g}"
    if isinstance(value, list):
        return " x ".join(map(str, value))
    return "" if value is None else str(value)
