"""Results that values of tensors decide, where there are none: sizes are the largest there can be,
numbers are 1."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException

VALUES_DECIDE = (DataDependentOutputException, DynamicOutputShapeException)


def _places(mask: Any) -> tuple:
    """Indices of all that a mask could choose, one tensor a dimension."""
    return (mask.new_empty((mask.numel(),), dtype=torch.long),) * mask.dim()


def _index(x: Any, indices: Any) -> Any:
    every: list[Any] = []
    for one in indices:
        is_mask = one is not None and one.dtype in (torch.bool, torch.uint8)
        every += _places(one) if is_mask else [one]
    return torch.ops.aten.index.Tensor(x, every)


def _number(x: Any) -> Any:
    return True if x.dtype == torch.bool else 1.0 if x.dtype.is_floating_point else 1


def _unique(x: Any, *_: Any) -> tuple:
    places = x.new_empty((x.numel(),), dtype=torch.long)
    return x.new_empty((x.numel(),)), places.view(x.shape), places


_RESULTS = {
    "aten::_local_scalar_dense": _number,
    "aten::equal": lambda x, y: True,
    "aten::index.Tensor": _index,
    "aten::masked_select": lambda x, mask: x.new_empty((x.numel(),)),
    "aten::nonzero": lambda x: x.new_empty((x.numel(), x.dim()), dtype=torch.long),
    "aten::_unique2": _unique,
    "torchvision::nms": lambda boxes, *_: boxes.new_empty((len(boxes),), dtype=torch.long),
}


def result_of(func: Any, args: tuple) -> Any:
    """Of an operation that raised one of VALUES_DECIDE, which is raised again if unknown here."""
    find = _RESULTS.get(func.name())
    if find is None:
        raise
    return find(*args)


def _at_once(before: Any, boxes: Any) -> Any:
    """Boxes of all classes are suppressed in one call, as torchvision does up to 5000 of them on
    GPUs; of more, and on processors, it asks which classes there are."""
    return getattr(boxes, "_batched_nms_coordinate_trick", before)


def _over_the_image(before: Any, _: Any) -> Any:
    """The mask of a box is pasted over the image: as large as a box can be."""

    def paste(mask: Any, box: Any, height: int, width: int) -> Any:
        return before(mask, (0, 0, width - 1, height - 1), height, width)

    return paste


_DETECTION = (
    ("torchvision.ops.boxes", "_batched_nms_vanilla", _at_once),
    ("torchvision.models.detection.roi_heads", "paste_mask_in_image", _over_the_image),
)


def _is_unknown(value_of: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """transformers reads no values of fake tensors: of those that have them it does."""
    return lambda before, _: lambda x: before(x) and value_of(x) is None


@contextlib.contextmanager
def _replaced(functions: Any) -> Iterator[None]:
    """(module, name, function that makes it of what it was) ..., where the module is loaded."""
    with contextlib.ExitStack() as stack:
        for where, name, made in functions:
            found = sys.modules.get(where)
            before = getattr(found, name, None)
            if before is not None:
                setattr(found, name, made(before, found))
                stack.callback(setattr, found, name, before)
        yield


def detection() -> Any:
    """What torchvision's detectors do where values of boxes decide."""
    return _replaced(_DETECTION)


def values_read(value_of: Callable[[Any], Any]) -> Any:
    """Fake tensors with a value are read as others. value_of: -> value, None where unknown."""
    where = "transformers.utils.import_utils"
    return _replaced([(where, "is_fake_tensor", _is_unknown(value_of))])
