"""Predicts time, energy and memory of neural networks on devices, before anything runs.

import foretell
print(foretell.predict("resnet50.onnx", device="h100"))
"""

from __future__ import annotations

from ._answer import Estimate, Memory, Op, Prediction, Predictions, Verified
from ._ask import devices, predict
from ._binding import VERSION as __version__
from ._command import collect, evaluate, explore, launches, llm, place, ptx, rank, train
from ._library import Error
from ._measure import Energy, Measurement, Module, measure
from ._memory import MemoryEstimate, estimate_memory
from ._repeat import Measured, Reading, Timer, Timing, measured
from ._steps import Steps
from ._table import Record

__all__ = [
    "Energy",
    "Error",
    "Estimate",
    "Measured",
    "Measurement",
    "Memory",
    "MemoryEstimate",
    "Module",
    "Op",
    "Prediction",
    "Predictions",
    "Reading",
    "Record",
    "Steps",
    "Timer",
    "Timing",
    "Verified",
    "__version__",
    "collect",
    "devices",
    "estimate_memory",
    "evaluate",
    "explore",
    "launches",
    "llm",
    "measure",
    "measured",
    "place",
    "predict",
    "ptx",
    "rank",
    "train",
]
