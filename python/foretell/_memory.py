"""Whether a model fits, with the names of PyTorch's RFC 108 (torch.cuda.estimate_memory)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._answer import Memory, Prediction
from ._ask import device_name, predict

_MB = 2.0**20
# Each part of the peak is in one of them, so that they sum to total_mb.
_PARTS = {
    "params_mb": ("weights",),
    "gradients_mb": ("gradients",),
    "optimizer_mb": ("state",),
    "activations_mb": ("inputs", "saved", "activations"),
    "other_mb": ("workspace", "context"),
}


class MemoryEstimate:
    """Peak memory on a GPU in MB of 2^20 bytes, as PyTorch counts: total_mb and the parts it has at
    the peak, params_mb (buffers, too), gradients_mb, optimizer_mb, activations_mb (inputs, too)
    and other_mb (workspaces, CUDA context). total: B, with its 90 % interval; prediction: all that
    predict() says."""

    params_mb: float
    gradients_mb: float
    optimizer_mb: float
    activations_mb: float
    other_mb: float

    def __init__(self, ask: Callable[[str], Prediction], device: str) -> None:
        self._ask, self.prediction = ask, ask(device)
        self.total: Memory = self.prediction.memory
        self.total_mb = self.total.value / _MB
        for name, parts in _PARTS.items():
            sizes = [self.total.parts[part] for part in parts]
            setattr(self, name, sum(b for b in sizes if b == b) / _MB)  # NaN: not a part here

    def fits(self, device: Any = None) -> bool | None:
        """Whether it is at most the device's memory; device: as of estimate_memory(), None: the
        same. None: the device's memory is not known."""
        name = self.prediction.device if device is None else device_name(device)
        same = name == self.prediction.device
        return (self.prediction if same else self._ask(name)).fits()

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={getattr(self, name):.1f}" for name in _PARTS)
        of = f"{self.prediction.model} on {self.prediction.device}"
        return f"<foretell.MemoryEstimate {of}: total_mb={self.total_mb:.1f}, {parts}>"


def estimate_memory(
    model: Any, sample_input: Any, optimizer: Any = None, device: Any = 0, **options: Any
) -> MemoryEstimate:
    """Peak memory of a training step, without an optimizer of a forward pass, before it runs.

    sample_input: a tensor, a tuple of arguments or a dict of them by name; meta tensors will do.
    optimizer: of torch.optim, its class or name. device: a name ("a100"), or a number, "cuda:0" or
    torch.device of this machine, whose GPU is asked for its name. options: of predict(). Raises
    foretell.Error."""
    args, kwargs = ((), sample_input) if isinstance(sample_input, dict) else (sample_input, None)
    if optimizer is not None:
        options = {"mode": "training", "optimizer": optimizer, **options}

    def ask(name: str) -> Prediction:
        return predict(model, args, kwargs, device=name, **options)

    return MemoryEstimate(ask, device_name(device))
