"""Steps of a served language model: found once for a device, each then asked in microseconds."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

from . import _ask, _hub, _library
from ._answer import Estimate, _estimate
from ._library import Error, call, check, ffi, lib


class Steps:
    """What steps of a language model take on a device, for schedulers and their simulators.

    model: a path (config.json, .gguf), or an id of Hugging Face in the cache of this machine.
    device: a name. tp, ep, dims: as of predict(). engine, engine_version: what serves ("vllm",
    "sglang", ...). prompt, generate, sequences, tokens: the largest of what is to be asked about:
    tokens of a prompt and of an answer, sequences and tokens of a step. Further keywords as of
    predict() (run_mode=, predictor=, setting=, ...). Raises foretell.Error."""

    def __init__(
        self,
        model: Any,
        device: str,
        *,
        tp: int = 1,
        ep: int = 1,
        dims: dict[str, int] | None = None,
        prompt: int = 8192,
        generate: int = 2048,
        sequences: int = 256,
        tokens: int = 8192,
        data_dir: Any = None,
        **fields: Any,
    ) -> None:
        query = _ask._Query(**fields)
        query.set("model", os.fspath(_hub.path_of(model)))
        query.set("device", device)
        ranks = {name: n for name, n in (("tp", tp), ("ep", ep)) if n > 1}
        query.set_dims({**(dims or {}), **ranks})
        loads = ffi.new("ft_serve_load[]", 2)
        for load, size in (loads[0], (1, 1)), (loads[1], (prompt, generate)):
            load.size = ffi.sizeof("ft_serve_load")
            load.prompt, load.generate = size
            load.concurrency = load.max_seqs = sequences
            load.max_batched_tokens = tokens
        data = _library.folders(data_dir)
        self._steps = call(lambda: _open(query.c, data, loads))

    def ask(
        self, prompts: Sequence[tuple[int, int]] = (), contexts: Iterable[int] = ()
    ) -> tuple[Estimate, Estimate]:
        """Time, and energy of all devices, of a step.

        prompts: of each its new tokens and those before them in the cache. contexts: of each
        sequence that decodes the tokens it attends to, the new one among them. Threads may share
        the tables."""
        decoding = list(contexts)
        if not (prompts or decoding) or not _are_tokens(prompts, decoding):
            raise Error(
                "EINVAL",
                "a step has prompts, each (new tokens from 1 on, tokens before them from 0 on), or "
                "contexts from 1 on",
                "prompts=, contexts=",
            )
        step, time, energy = (ffi.new(t) for t in ("ft_serve_step *", *["ft_estimate *"] * 2))
        step.prefill_tokens = sum(new for new, _ in prompts)
        step.prefill_pairs = sum(new * before + new * (new + 1) / 2 for new, before in prompts)
        step.prefill_seqs, step.decode_seqs = len(prompts), len(decoding)
        step.decode_context = sum(decoding)
        lib.ft_serve_step_ask(time, energy, self._steps, step)
        return _estimate(time, "s"), _estimate(energy, "J")


def _are_tokens(prompts: Sequence[tuple[int, int]], decoding: list[int]) -> bool:
    try:
        return all(1 <= new < math.inf and 0 <= before < math.inf for new, before in prompts) and all(
            1 <= context < math.inf for context in decoding
        )
    except (TypeError, ValueError):
        return False


def _open(query: Any, data: Any, loads: Any) -> Any:
    plan, steps = ffi.new("ft_serve_plan **"), ffi.new("ft_serve_steps **")
    err = ffi.new("ft_error *")
    check(lib.ft_serve_plan_open(plan, query, loads, len(loads), err), err)
    try:
        check(lib.ft_serve_steps_open(steps, data, plan[0], query, err), err)
    finally:
        lib.ft_serve_plan_close(plan[0])
    return ffi.gc(steps[0], lib.ft_serve_steps_close)
