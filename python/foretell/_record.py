"""The ATen operations of a module, recorded as PyTorch dispatches them, as an archive that the
library reads as it does those of torch.export."""

from __future__ import annotations

import contextlib
import json
import weakref
import zipfile
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode

# Numbers of element types and memory formats in archives of torch.export.
_DTYPES = {
    getattr(torch, name): number
    for name, number in {
        "uint8": 1,
        "int8": 2,
        "int16": 3,
        "int32": 4,
        "int64": 5,
        "float16": 6,
        "float32": 7,
        "float64": 8,
        "complex32": 9,
        "complex64": 10,
        "complex128": 11,
        "bool": 12,
        "bfloat16": 13,
        "uint16": 28,
        "float8_e4m3fn": 29,
        "float8_e5m2": 30,
        "float8_e4m3fnuz": 31,
        "float8_e5m2fnuz": 32,
        "float8_e8m0fnu": 33,
        "uint32": 34,
        "uint64": 35,
    }.items()
    if hasattr(torch, name)
}
_FORMATS = {
    torch.contiguous_format: 1,
    torch.channels_last: 2,
    torch.channels_last_3d: 3,
    torch.preserve_format: 4,
}


class _Recorder(TorchDispatchMode):
    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.nodes: list[dict] = []
        self.values: dict[str, dict] = {}
        self.inputs: list[dict] = []
        self._module = module
        self._names: dict[int, tuple[Any, str]] = {}  # id -> the tensor, weakly, and its name
        self._calls: list[str] = []

    # ---- tensors ----
    def add(self, tensor: torch.Tensor, name: str) -> str:
        """A new name; of a tensor that is written to, too."""
        self._names[id(tensor)] = weakref.ref(tensor), name
        sizes = list(tensor.shape)
        strides = tensor.stride() if tensor.layout is torch.strided else ()
        self.values[name] = {
            "dtype": _DTYPES[tensor.dtype],
            "sizes": [{"as_int": int(n)} for n in sizes],
            "requires_grad": tensor.requires_grad,
            "device": {"type": tensor.device.type, "index": None},
            "strides": [{"as_int": int(n)} for n in strides],
            "storage_offset": {"as_int": 0},
            "layout": 7,
        }
        return name

    def name(self, tensor: torch.Tensor) -> str:
        """That of a tensor; one that nothing made is a constant."""
        known = self._names.get(id(tensor))
        if known and known[0]() is tensor:
            return known[1]
        name = self.add(tensor, f"c_{len(self.values)}")
        self._kept = [*getattr(self, "_kept", []), tensor]
        self.specify(name, "tensor_constant", tensor_constant_name=name)
        return name

    def specify(self, name: str, kind: str, **more: Any) -> None:
        arg = {"as_tensor": {"name": name}} if kind == "user_input" else {"name": name}
        self.inputs.append({kind: {"arg": arg, **more}})

    # ---- calls of modules ----
    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        handles = []
        for path, module in self._module.named_modules():
            if isinstance(module, torch.jit.ScriptModule):
                continue  # takes no hooks
            entry = f"L__self__{path},{path},{type(module).__name__}"

            def enter(_m: Any, _a: Any, entry: str = entry) -> None:
                self._calls.append(entry)

            def leave(*_: Any) -> None:
                self._calls.pop()

            handles.append(module.register_forward_pre_hook(enter))
            handles.append(module.register_forward_hook(leave, always_call=True))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    # ---- operations ----
    def _argument(self, x: Any) -> dict | None:
        if x is None:
            return {"as_none": True}
        if isinstance(x, torch.Tensor):
            return {"as_tensor": {"name": self.name(x)}}
        for kind, tag in (
            (bool, "as_bool"),
            (int, "as_int"),
            (float, "as_float"),
            (str, "as_string"),
        ):
            if isinstance(x, kind):
                return {tag: x}
        if isinstance(x, torch.dtype):
            return {"as_scalar_type": _DTYPES[x]}
        if isinstance(x, torch.memory_format):
            return {"as_memory_format": _FORMATS.get(x, 0)}
        if isinstance(x, (list, tuple)):
            if any(isinstance(one, torch.Tensor) for one in x):
                if all(isinstance(one, torch.Tensor) for one in x):
                    return {"as_tensors": [{"name": self.name(one)} for one in x]}
                return {"as_optional_tensors": [self._argument(one) for one in x]}
            for kind, tag in ((bool, "as_bools"), (int, "as_ints"), (float, "as_floats")):
                if all(isinstance(one, kind) for one in x):
                    return {tag: list(x)}
        if isinstance(x, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return self._argument(x.node.hint)
        return None  # devices, layouts, generators: no matter

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        named = dict(zip((a.name for a in func._schema.arguments), args)) | kwargs
        inputs = [
            {"name": name, "arg": arg, "kind": 1}
            for name, arg in ((name, self._argument(x)) for name, x in named.items())
            if arg is not None
        ]
        result = func(*args, **kwargs)
        if not any(t.numel() for t in _pytree.tree_leaves(result) if isinstance(t, torch.Tensor)):
            return result  # numbers, or a placeholder without elements
        index = len(self.nodes)
        outputs: list[dict[str, Any]] = []
        for one in result if isinstance(result, tuple) else (result,):
            tensors = [
                t for t in (one if isinstance(one, list) else [one]) if isinstance(t, torch.Tensor)
            ]
            names = [self.add(t, f"v{index}_{len(outputs)}_{i}") for i, t in enumerate(tensors)]
            if isinstance(one, list):
                outputs.append({"as_tensors": [{"name": name} for name in names]})
            else:
                outputs.append({"as_tensor": {"name": names[0]}} if names else {"as_none": True})
        self.nodes.append(
            {
                "target": f"torch.ops.{func}",
                "name": f"n{index}",
                "inputs": inputs,
                "outputs": outputs,
                "metadata": {"nn_module_stack": ";".join(self._calls)},
            }
        )
        return result


def _on_fake(mode: Any, x: Any) -> Any:
    """A fake tensor like it, on a processor where it is on the meta device."""
    if not isinstance(x, torch.Tensor):
        return x
    with mode:
        device = "cpu" if x.is_meta else x.device
        fake = (
            torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=device)
            if x.layout is torch.strided
            else mode.from_tensor(x)
        )
        if isinstance(x, torch.nn.Parameter):
            return torch.nn.Parameter(fake, requires_grad=x.requires_grad)
        return fake


def record(module: torch.nn.Module, args: tuple, kwargs: dict, path: str, *, fake: bool) -> None:
    """Write the operations of module(*args, **kwargs) to an archive. fake: nothing is computed."""
    recorder = _Recorder(module)
    weights: tuple[dict, ...] = (dict(module.named_parameters()), dict(module.named_buffers()))
    with contextlib.ExitStack() as stack:
        call = module
        if fake:
            from torch._subclasses.fake_tensor import FakeTensorMode

            mode = FakeTensorMode(allow_non_fake_inputs=True)
            weights = tuple({k: _on_fake(mode, t) for k, t in d.items()} for d in weights)
            args, kwargs = _pytree.tree_map(lambda x: _on_fake(mode, x), (args, kwargs))
            stack.enter_context(mode)

            def call(*a: Any, **k: Any) -> Any:
                return torch.func.functional_call(module, weights[0] | weights[1], a, k)

        for kind, tensors in zip(("parameter", "buffer"), weights):
            for i, (name, tensor) in enumerate(tensors.items()):
                recorder.specify(
                    recorder.add(tensor, f"{kind[0]}_{i}"), kind, **{f"{kind}_name": name}
                )
        leaves = [x for x in _pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        for i, tensor in enumerate(leaves):
            recorder.specify(recorder.add(tensor, f"x_{i}"), "user_input")
        stack.enter_context(recorder.watched())
        with recorder:
            result = call(*args, **kwargs)
        results = [
            recorder.name(x) for x in _pytree.tree_leaves(result) if isinstance(x, torch.Tensor)
        ]
    names = [next(iter(spec.values()))["arg"] for spec in recorder.inputs]
    graph = {
        "inputs": [arg if "as_tensor" in arg else {"as_tensor": arg} for arg in names],
        "outputs": [{"as_tensor": {"name": name}} for name in results],
        "nodes": recorder.nodes,
        "tensor_values": recorder.values,
        "sym_int_values": {},
        "sym_bool_values": {},
    }
    signature = {
        "input_specs": recorder.inputs,
        "output_specs": [
            {"user_output": {"arg": {"as_tensor": {"name": name}}}} for name in results
        ],
    }
    program = {"graph_module": {"graph": graph, "signature": signature}, "range_constraints": {}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("recorded/models/model.json", json.dumps(program))
