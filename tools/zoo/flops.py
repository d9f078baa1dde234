"""What torch's own counter says of a module: the oracle for counts."""
import contextlib
import warnings

import torch
from torch._subclasses.fake_tensor import DynamicOutputShapeException, FakeTensorMode
from torch.utils import _pytree
from torch.utils import flop_counter

from . import training


class DenseExtra:
    """The counter takes the weight gradient of a grouped convolution for that of a dense one: it
    multiplies by the groups. How much too much that is, is added up beside its own formula."""
    def __init__(self):
        self.flops = 0

    def formula(self, *shapes, out_shape=None, **named):
        groups, mask = shapes[9:11]
        if mask[1]:
            weights_only = [*shapes[:10], [False, True, False]]
            dense = flop_counter.conv_backward_flop(*weights_only, out_val=out_shape)
            self.flops += dense - dense // groups
        return flop_counter.conv_backward_flop(*shapes, out_val=out_shape, **named)


def faked(mode, model, inputs, backward):
    """Tensors without data for all that the module holds."""
    state = {name: mode.from_tensor(t if backward else t.detach())
             for name, t in [*model.named_parameters(), *model.named_buffers()]}
    return state, _pytree.tree_map_only(torch.Tensor, mode.from_tensor, inputs)


def run_counted(model, inputs, backward, mode):
    extra = DenseExtra()
    state, arguments = faked(mode, model, inputs, backward) if mode else ({}, inputs)
    counter = flop_counter.FlopCounterMode(
        display=False, custom_mapping={torch.ops.aten.convolution_backward: extra.formula})
    with mode or contextlib.nullcontext(), torch.set_grad_enabled(backward), counter:
        result = torch.func.functional_call(model, state, arguments)
        if backward:
            result.backward()
    counts = counter.get_flop_counts()['Global']
    return {str(op): flops for op, flops in counts.items()}, extra.flops


def count(model, inputs, backward=False):
    """-> {operator: floating-point operations}, two per multiply-accumulate; what is too much"""
    run = training.Loss(model) if backward else model
    torch.backends.mha.set_fastpath_enabled(False)   # the counter cannot see into the fast path
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            return run_counted(run, inputs, backward, FakeTensorMode(allow_non_fake_inputs=True))
        except DynamicOutputShapeException:   # a shape within depends on data: compute it
            return run_counted(run, inputs, backward, None)


def parameters(model):
    return sum(p.numel() for p in model.parameters())
