"""What torch's own counter says of a module: the oracle for counts."""
import contextlib
import warnings

import torch
from torch._subclasses import FakeTensorMode
from torch.utils import _pytree
from torch.utils.flop_counter import FlopCounterMode

from . import training


def faked(mode, model, inputs):
    """Tensors without data for all that the module holds."""
    state = {name: mode.from_tensor(t)
             for name, t in [*model.named_parameters(), *model.named_buffers()]}
    return state, _pytree.tree_map_only(torch.Tensor, mode.from_tensor, inputs)


def count(model, inputs, backward=False, unfused=False):
    """-> {operator: floating-point operations}, two per multiply-accumulate"""
    kernels = torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)
    run = training.Loss(model) if backward else model
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    torch.backends.mha.set_fastpath_enabled(False)   # the counter cannot see into the fast path
    with warnings.catch_warnings(), contextlib.ExitStack() as stack:
        warnings.simplefilter('ignore')
        state, arguments = faked(mode, run, inputs)
        stack.enter_context(mode)
        stack.enter_context(torch.set_grad_enabled(backward))
        if unfused:
            stack.enter_context(kernels)
        counter = stack.enter_context(FlopCounterMode(display=False))
        result = torch.func.functional_call(run, state, arguments)
        if backward:
            result.backward()
    return {str(op): flops for op, flops in counter.get_flop_counts()['Global'].items()}


def parameters(model):
    return sum(p.numel() for p in model.parameters())
