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


def freeze_unused(exported):
    """Parameters that nothing reads (of tied ones, all names but one) have no gradient, which the
    framework takes for an error."""
    unused = {node.name: node for node in exported.graph.nodes if not node.users}
    for node, name in exported.graph_signature.inputs_to_parameters.items():
        if node in unused:
            exported.state_dict[name] = torch.nn.Parameter(exported.state_dict[name].detach(),
                                                           requires_grad=False)
            unused[node].meta['val'].requires_grad_(False)


def export_joint(model, inputs):
    """Kernels as the framework's own autograd calls them: convolution_backward and the like."""
    exported = torch.export.export(Loss(model), inputs)
    freeze_unused(exported)
    return _decompose_exported_program(exported, joint_loss_index=0, cia_to_decomp={},
                                       python_decomp_table={}, decompose_custom_triton_ops=False)
