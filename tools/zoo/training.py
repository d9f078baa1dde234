"""The joint forward and backward graph of a module."""
import torch
from torch.export.exported_program import _decompose_exported_program
from torch.utils import _pytree


class Loss(torch.nn.Module):
    """The module with one number as its result: the sum of the means of all it gives."""
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *inputs):
        results = _pytree.tree_leaves(self.model(*inputs))
        return sum(r.mean() for r in results if torch.is_tensor(r) and r.is_floating_point())


def export_joint(model, inputs):
    """Kernels as the framework's own autograd calls them: convolution_backward and the like."""
    exported = torch.export.export(Loss(model), inputs)
    return _decompose_exported_program(exported, joint_loss_index=0, cia_to_decomp={},
                                       python_decomp_table={}, decompose_custom_triton_ops=False)
