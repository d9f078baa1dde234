"""The loss of a training step that is recorded, chosen as the library chooses that of a step which
it derives: cross entropy where the result looks like logits, else the mean square error."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree

from ._library import Error

_MOVES = {"View", "UnsafeView", "ReshapeAlias", "Transpose", "Permute", "T", "Squeeze", "Unsqueeze"}
_PASSED = _MOVES | {"Add", "ToCopy", "Alias", "Clone"}
_PRODUCTS = {"Addmm", "Mm", "Bmm", "Baddbmm", "Linear"}


def _made_by(tensor: Any) -> str:
    """The operation in autograd's graph, but for what only moves or adds to it."""
    node = tensor.grad_fn
    while node is not None:
        name = re.sub(r"Backward\d*$", "", node.name())
        if name not in _PASSED:
            return name
        node = node.next_functions[0][0] if node.next_functions else None
    return ""


def _class_axis(tensor: Any) -> int | None:
    """The axis of the classes; None: these are no logits."""
    rank, name = tensor.dim(), _made_by(tensor)
    if rank == 2 and tensor.shape[1] > 1:
        return 1
    if rank > 2 and name in _PRODUCTS:
        return rank - 1
    convolved = name.startswith(("Convolution", "Upsample"))
    return 1 if rank > 3 and tensor.shape[1] > 1 and convolved else None


class Loss:
    """kind: "auto", "none", "cross_entropy", "mse"; on: "first" or "all" results. `said`: what was
    chosen, once it was."""

    def __init__(self, kind: str | None, on: str | None) -> None:
        if kind not in (None, "auto", "none", "cross_entropy", "mse"):
            raise Error("EINVAL", f"there is no loss {kind}: auto, none, cross_entropy, mse")
        if on not in (None, "first", "all"):
            raise Error("EINVAL", f"loss_on is first or all, not {on}")
        self._kind, self._all, self.said = kind or "auto", on == "all", []

    def __call__(self, result: Any) -> tuple[list, Callable[[], tuple]]:
        """-> (labels and targets, function -> (losses, their gradients))."""
        self.said: list[str] = []
        results = [
            t for t in _pytree.tree_leaves(result) if isinstance(t, torch.Tensor) and t.requires_grad
        ]
        chosen = [self._one(t) for t in (results if self._all else results[:1])]
        if not chosen:
            raise ValueError("no result has a gradient")
        outside = [t for tensors, _ in chosen for t in tensors]
        return outside, lambda: self._values([of() for _, of in chosen])

    @staticmethod
    def _values(each: list[tuple]) -> tuple[list, list]:
        return [value for value, _ in each], [seed for _, seed in each]

    def _one(self, t: Any) -> tuple[list, Callable[[], tuple]]:
        axis, kind = _class_axis(t), self._kind
        if kind == "auto":
            one = all(n == 1 for n in t.shape)
            kind = "none" if one else "mse" if axis is None else "cross_entropy"
        if kind == "cross_entropy":
            axis = axis if axis is not None else t.dim() - 1
            self.said.append(f"loss: cross entropy over the {t.shape[axis]} classes")
            labels = torch.empty(
                [n for i, n in enumerate(t.shape) if i != axis], dtype=torch.long, device=t.device
            )
            return [labels], lambda: (_cross_entropy(t, labels, axis), None)
        if kind == "mse":
            self.said.append("loss: mean square error")
            target = torch.empty_like(t, requires_grad=False)
            return [target], lambda: (torch.nn.functional.mse_loss(t, target), None)
        if math.prod(t.shape) == 1:
            self.said.append("loss: the result itself")
            return [], lambda: (t, torch.ones_like(t))
        self.said.append("loss: none; the gradient of the result is given")
        seed = torch.empty_like(t, requires_grad=False)
        return [seed], lambda: (t, seed)


def _cross_entropy(t: Any, labels: Any, axis: int) -> Any:
    if axis != 1:
        t, labels = t.reshape(-1, t.shape[axis]), labels.reshape(-1)
    return torch.nn.functional.cross_entropy(t, labels)
