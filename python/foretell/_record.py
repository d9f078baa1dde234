"""The ATen operations of a module, recorded as PyTorch dispatches them, as an archive that the
library reads as it does those of torch.export: a forward pass, or a training step up to the
gradients (a joint graph)."""

from __future__ import annotations

import contextlib
import json
import weakref
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode

from . import _assume

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
_aten = torch.ops.aten
_READING = {one.default for one in (_aten._local_scalar_dense, _aten.item, _aten.is_nonzero)}
_MOST_VALUES = 1 << 20  # elements of a tensor whose values are kept


def _size(n: Any) -> dict:
    """A dimension: a number, or a formula of the batch that is left open."""
    if not isinstance(n, torch.SymInt) or n.node.expr.is_number:
        return {"as_int": int(n)}
    import sympy

    return {"as_expr": {"expr_str": sympy.srepr(n.node.expr), "hint": {"as_int": n.node.hint}}}


class _Recorder(TorchDispatchMode):
    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.nodes: list[dict] = []
        self.values: dict[str, dict] = {}
        self.numbers: dict[str, dict] = {}  # symbolic ones
        self.inputs: list[dict] = []
        self._module = module
        self._names: dict[int, tuple[Any, str]] = {}  # id -> the tensor, weakly, and its name
        self._calls: list[str] = []
        self._stack_of: dict[int, str] = {}  # modules by number of an operation in autograd
        self._seen: int = torch.autograd._get_sequence_nr()
        self.backward = self.assumes = self.fake = False
        self.mode: Any = None  # of fake tensors, where all are on the meta device
        self._faked: dict[int, tuple] = {}
        self._values: dict[int, tuple] = {}  # id -> the fake tensor, weakly, and its value

    # ---- tensors ----
    def add(self, tensor: torch.Tensor, name: str) -> str:
        """A new name; of a tensor that is written to, too."""
        self._names[id(tensor)] = weakref.ref(tensor), name
        sizes = list(tensor.shape)
        strides = tensor.stride() if tensor.layout is torch.strided else ()
        self.values[name] = {
            "dtype": _DTYPES[tensor.dtype],
            "sizes": [_size(n) for n in sizes],
            "requires_grad": tensor.requires_grad,
            "device": {"type": tensor.device.type, "index": None},
            "strides": [_size(n) for n in strides],
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

    # ---- values of integers that depend on no input, such as positions ----
    def value(self, x: torch.Tensor) -> torch.Tensor | None:
        known = self._values.get(id(x))
        return known[1] if known and known[0]() is x else None

    def _keep_value(self, func: Any, args: tuple, kwargs: dict, result: Any) -> None:
        """Of a fake tensor that is made of such values alone: what a module decides by it is
        decided as where the module runs."""
        leaves = _pytree.tree_leaves((args, kwargs))
        made = isinstance(result, torch.Tensor) and not result.dtype.is_floating_point
        if (
            not made
            or any(isinstance(x, torch.SymInt) for x in (*leaves, result.numel()))
            or any(self.value(x) is None for x in leaves if isinstance(x, torch.Tensor))
            or result.numel() > _MOST_VALUES
            or torch.Tag.nondeterministic_seeded in func.tags
            or "empty" in func.name()
        ):
            if func._schema.is_mutable and self.value(args[0]) is not None:
                self._values.clear()  # of what shares its elements, too
            return

        def real(x: Any) -> Any:
            return self.value(x) if isinstance(x, torch.Tensor) else x

        args, kwargs = _pytree.tree_map(real, (args, kwargs))
        with unset_fake_temporarily():
            value = func(*args, **{**kwargs, **({"device": "cpu"} if "device" in kwargs else {})})
        key = id(result)
        self._values[key] = weakref.ref(result, lambda _: self._values.pop(key, None)), value

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

    def _modules(self) -> str:
        """Those whose forward() runs; in the backward pass those of the operation behind it:
        autograd numbers the nodes it makes, each before its operation is dispatched."""
        if not self.backward:
            stack, now = ";".join(self._calls), torch.autograd._get_sequence_nr()
            self._stack_of.update(dict.fromkeys(range(self._seen, now), stack))
            self._seen = now
            return stack
        node = torch._C._current_autograd_node()
        return self._stack_of.get(node._sequence_nr(), "") if node else ""

    # ---- operations ----
    def _number(self, x: Any) -> dict:
        size = _size(x)
        if "as_int" in size:
            return size
        name = f"n_{len(self.numbers)}"
        self.numbers[name] = size
        return {"as_name": name}

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
            if any(isinstance(one, torch.SymInt) for one in x):
                return {"as_sym_ints": [self._number(one) for one in x]}
            for kind, tag in ((bool, "as_bools"), (int, "as_ints"), (float, "as_floats")):
                if all(isinstance(one, kind) for one in x):
                    return {tag: list(x)}
        if isinstance(x, torch.SymInt):
            return {"as_sym_int": self._number(x)}
        if isinstance(x, (torch.SymFloat, torch.SymBool)):
            return self._argument(x.node.hint)
        return None  # devices, layouts, generators: no matter

    def _as_fake(self, x: Any) -> Any:
        """One of the meta device that is no weight is a fake one like them, the same each time."""
        if type(x) not in (torch.Tensor, torch.nn.Parameter) or not x.is_meta:
            return x
        if id(x) not in self._faked:
            self._faked[id(x)] = x, _on_fake(self.mode, x)
        return self._faked[id(x)][1]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.mode is not None:
            args, kwargs = _pytree.tree_map(self._as_fake, (args, kwargs))
        named = dict(zip((a.name for a in func._schema.arguments), args)) | kwargs
        inputs = [
            {"name": name, "arg": arg, "kind": 1}
            for name, arg in ((name, self._argument(x)) for name, x in named.items())
            if arg is not None
        ]
        if func in _READING and self.value(args[0]) is not None:
            with unset_fake_temporarily():
                return func(self.value(args[0]))
        try:
            result = func(*args, **kwargs)
        except _assume.VALUES_DECIDE:
            if not self.assumes:
                raise
            result = _assume.result_of(func, args)
            if not isinstance(result, (torch.Tensor, tuple)):
                return result
        if self.fake:
            self._keep_value(func, args, kwargs, result)
        if func is torch.ops.aten.detach.default:  # as autograd saves it
            self._names[id(result)] = weakref.ref(result), self.name(args[0])
            return result
        if not any(t.numel() for t in _pytree.tree_leaves(result) if isinstance(t, torch.Tensor)):
            return result  # numbers, or a placeholder without elements
        if func is torch.ops.aten.clone.default:  # it copies, where exporters mean the order
            func = torch.ops.aten.copy.default
            inputs = [{**inputs[0], "name": name} for name in ("self", "src")]
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
                "metadata": {"nn_module_stack": self._modules()},
            }
        )
        return result


def is_on_meta(module: torch.nn.Module, args: Any) -> bool:
    """Whether all its tensors are: then those that it makes as it runs are to be there, too."""
    tensors = [*module.parameters(), *module.buffers(), *_pytree.tree_leaves(args)]
    tensors = [t for t in tensors if isinstance(t, torch.Tensor)]
    return bool(tensors) and all(t.is_meta for t in tensors)


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


def _attention(func: Any, args: tuple, kwargs: dict) -> Any:
    """With dropout, or a mask that is trained, by the kernel that GPUs have for it, which has the
    dropout inside."""
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
    given = {**dict(zip(names, args)), **kwargs}
    q, k, v = (given[name] for name in names[:3])
    mask, p = given.get("attn_mask"), given.get("dropout_p", 0.0)
    trained = mask is not None and mask.requires_grad
    alike = q.dim() == k.dim() == v.dim() == 4 and q.shape[:2] == k.shape[:2] == v.shape[:2]
    if not (p or trained) or not alike or given.get("enable_gqa"):
        return func(**{**given, "dropout_p": 0.0})
    if mask is not None:
        if mask.dtype == torch.bool:
            mask = torch.zeros_like(mask, dtype=q.dtype).masked_fill_(~mask, -torch.inf)
        mask = mask.expand(*q.shape[:3], k.shape[2])
    return torch.ops.aten._scaled_dot_product_efficient_attention(
        *(q, k, v, mask, True, p, given.get("is_causal", False)), scale=given.get("scale")
    )[0]


_RECURRENT = {"lstm", "gru", "rnn_tanh", "rnn_relu"}


class _AsOnGpus(TorchFunctionMode):
    """Dropout, and attention with dropout, are one kernel there and several on processors. So are
    recurrent layers, whose gradients cannot be recorded as one."""

    def __init__(self, gradients: bool) -> None:
        super().__init__()
        self._gradients = gradients

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self._gradients and getattr(func, "__name__", "") in _RECURRENT:
            raise ValueError("recurrent layers are one operation of a GPU")
        if func is torch.nn.functional.dropout:
            given = dict(zip(("input", "p", "training", "inplace"), args)) | kwargs
            p, training = given.get("p", 0.5), given.get("training", True)
            if training and 0 < p < 1 and not given.get("inplace"):
                return torch.native_dropout(given["input"], p, True)[0]
        if func is torch.nn.functional.scaled_dot_product_attention:
            return _attention(func, args, kwargs)
        return func(*args, **kwargs)


def _open_batch(mode: Any, hint: int) -> Any:
    """A batch without a value, in a mode with fake tensors."""
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic

    source = ConstantSource("batch")
    symbol = mode.shape_env.create_symbol(hint, source, dynamic_dim=DimDynamic.DYNAMIC)
    return mode.shape_env.create_symintnode(symbol, hint=hint, source=source)


def record(
    module: torch.nn.Module,
    args: tuple,
    kwargs: dict,
    path: str,
    *,
    fake: bool,
    batch: int | None = None,
    loss: Callable[[Any], tuple] | None = None,
    assumes: bool = False,
) -> None:
    """Write the operations of module(*args, **kwargs) to an archive. fake: nothing is computed.
    batch: the first dimension of arguments that is left open (fake tensors). loss: result ->
    (tensors from outside, function -> (losses, their gradients)): the backward pass is recorded,
    too. assumes: of fake tensors, what their values decide is assumed (_assume)."""
    recorder = _Recorder(module)
    recorder.assumes, recorder.fake = assumes, fake
    on_meta = is_on_meta(module, (args, kwargs))
    weights: tuple[dict, ...] = (dict(module.named_parameters()), dict(module.named_buffers()))
    with contextlib.ExitStack() as stack:
        call = module
        if fake:
            from torch._subclasses.fake_tensor import FakeTensorMode
            from torch.fx.experimental.symbolic_shapes import ShapeEnv

            mode = FakeTensorMode(
                allow_non_fake_inputs=True, shape_env=ShapeEnv() if batch else None
            )
            weights = tuple({k: _on_fake(mode, t) for k, t in d.items()} for d in weights)
            opened = _open_batch(mode, batch) if batch else None

            def argument(x: Any) -> Any:
                x = _on_fake(mode, x)
                if not batch or not isinstance(x, torch.Tensor) or x.shape[:1] != (batch,):
                    return x
                with mode:
                    return torch.empty((opened, *x.shape[1:]), dtype=x.dtype, device=x.device)

            if on_meta:  # what it makes as it runs, and has beside its weights
                stack.enter_context(torch.device("cpu"))
                recorder.mode = mode
            args, kwargs = _pytree.tree_map(argument, (args, kwargs))
            stack.enter_context(mode)
            stack.enter_context(_assume.values_read(recorder.value))
            if assumes:
                stack.enter_context(_assume.detection())

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
        with recorder.watched(), _AsOnGpus(loss is not None), recorder:
            result = call(*args, **kwargs)
        outputs = [  # of a training step too: its caller holds them
            {"user_output": {"arg": {"as_tensor": {"name": recorder.name(x)}}}}
            for x in _pytree.tree_leaves(result)
            if isinstance(x, torch.Tensor)
        ]
        if loss is not None:
            outputs += _gradients(recorder, weights[0], result, loss)
        if fake and batch and opened.node.expr.is_number:
            raise ValueError(f"it runs at batch {opened.node.expr} alone")
    names = [next(iter(spec.values()))["arg"] for spec in recorder.inputs]
    graph = {
        "inputs": [arg if "as_tensor" in arg else {"as_tensor": arg} for arg in names],
        "outputs": [
            arg if "as_tensor" in arg else {"as_tensor": arg}
            for arg in (next(iter(spec.values()))["arg"] for spec in outputs)
        ],
        "nodes": recorder.nodes,
        "tensor_values": recorder.values,
        "sym_int_values": recorder.numbers,
        "sym_bool_values": {},
    }
    signature = {"input_specs": recorder.inputs, "output_specs": outputs}
    program = {"graph_module": {"graph": graph, "signature": signature}, "range_constraints": {}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("recorded/models/model.json", json.dumps(program))


def _gradients(
    recorder: _Recorder,
    parameters: dict[str, torch.Tensor],
    result: Any,
    loss: Callable[[Any], tuple],
) -> list[dict]:
    """Record the backward pass; -> the outputs of the joint graph: loss, gradients."""
    outside, values_of = loss(result)
    for i, tensor in enumerate(outside):
        recorder.specify(recorder.add(tensor, f"y_{i}"), "user_input")
    trained = {name: t for name, t in parameters.items() if t.requires_grad}
    with recorder:
        values, seeds = values_of()
        recorder.backward = True
        found = torch.autograd.grad(values, list(trained.values()), seeds, allow_unused=True)
    if all(t is None for t in found):
        raise ValueError("no parameter has a gradient")
    outputs = [{"loss_output": {"arg": {"name": recorder.name(t)}}} for t in values]
    return outputs + [
        {
            "gradient_to_parameter": {
                "arg": {"name": recorder.name(t)},
                "parameter_name": name,
            }
        }
        for name, t in zip(trained, found)
        if t is not None
    ]
