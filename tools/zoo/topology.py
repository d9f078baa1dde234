"""Model files without their weights: names, types and shapes stay, the data goes."""
import ast
import collections
import math
import os
import zipfile
from unittest import mock

import onnx
import onnx_ir
import torch
from torch.export.pt2_archive import _package

KEPT_ELEMENTS = 64   # tensors up to this size keep their data: shape arithmetic needs it
ABSENT = 'weights-not-included'

# A fresh tensor costs nothing before it is written, so a network of any size may be built.
SLOW_INITS = ['uniform_', 'normal_', 'trunc_normal_', 'xavier_uniform_', 'xavier_normal_',
              'kaiming_uniform_', 'kaiming_normal_', 'orthogonal_', 'sparse_', 'eye_', 'dirac_']
TOUCHED_ELEMENTS = 4096


def skip_random_init():
    """From here on, no module fills its weights with random numbers."""
    for name in SLOW_INITS:
        setattr(torch.nn.init, name, lambda tensor, *_, **__: tensor)


def unsettle_ends(model):
    """As unsettle() of make-models: no bias of zero, no norm of one, no two tensors equal; but
    only the first values of each tensor, which is all that an optimizer's comparison needs."""
    with torch.no_grad():
        for tensor in [*model.parameters(), *model.buffers()]:
            if tensor.is_floating_point() and tensor.is_contiguous():
                tensor.view(-1)[:TOUCHED_ELEMENTS].uniform_(0.5, 1.5)


def module_of(node, initializers):
    """'layer1.0.conv1': whose weight it is (a folded norm's scope would be the norm's), or the
    innermost module it was traced in."""
    for value in node.input:
        if value in initializers and value.endswith('.weight'):
            return value.removesuffix('.weight')
    for prop in node.metadata_props:
        if prop.key == 'pkg.torch.onnx.name_scopes':
            scope = ast.literal_eval(prop.value)[-2]
            return '' if scope.startswith('_empty_nn_module_stack') else scope
    return ''


def name_nodes(graph):
    """Names nodes and their outputs after the modules of the source: layer1.0.conv1/Conv."""
    initializers = {t.name for t in graph.initializer}
    kept = initializers | {v.name for v in [*graph.input, *graph.output]}
    seen, renamed = collections.Counter(), {}
    for node in graph.node:
        base = f'{module_of(node, initializers)}/{node.op_type}'.lstrip('/')
        node.name = f'{base}_{seen[base]}' if seen[base] else base
        seen[base] += 1
        for i, out in enumerate(node.output):
            if out and out not in kept:
                renamed[out] = f'{node.name}.{i}' if i else node.name
    for node in graph.node:
        node.input[:] = [renamed.get(v, v) for v in node.input]
        node.output[:] = [renamed.get(v, v) for v in node.output]


def strip_notes(proto):
    """Without stack traces, and without value_info: a reader must infer the shapes itself."""
    proto.doc_string = ''
    del proto.metadata_props[:], proto.functions[:], proto.graph.value_info[:]
    graph = proto.graph
    for part in [graph, *graph.node, *graph.input, *graph.output, *graph.initializer]:
        part.doc_string = ''
        del part.metadata_props[:]
    for tensor in graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            tensor.ClearField('doc_string')   # written alike whoever made the reference


def strip_weights(program):
    """Before there is a proto, which must not grow above 2 GB: large float tensors become
    references to a file that does not exist."""
    for value in program.model.graph.initializers.values():
        tensor = value.const_value
        if tensor.dtype.is_floating_point() and math.prod(tensor.shape) > KEPT_ELEMENTS:
            value.const_value = onnx_ir.ExternalTensor(
                ABSENT, None, None, tensor.dtype, shape=tensor.shape, name=value.name)


def write_atomic(path, write):
    """Under its own name elsewhere first: an archive has its file's name inside."""
    folder, name = os.path.split(path)
    part = os.path.join(folder, '.part', name)
    os.makedirs(os.path.dirname(part), exist_ok=True)
    write(part)
    os.replace(part, path)


def save_onnx(exported, path, opset):
    program = torch.onnx.export(exported, dynamo=True, opset_version=opset, optimize=True,
                                verbose=False)
    strip_weights(program)
    proto = program.model_proto
    if not proto.functions:
        name_nodes(proto.graph)
        strip_notes(proto)
    write_atomic(path, lambda part: onnx.save(proto, part))


def kept_bytes(tensor, whole=_package._get_raw_tensor_bytes):
    return whole(tensor) if tensor.numel() <= KEPT_ELEMENTS else b''


def save_archive(exported, path, extra=None):
    """As torch.export.save writes it, with empty records in the place of large weights."""
    exported._example_inputs = None
    with mock.patch.object(_package, '_get_raw_tensor_bytes', kept_bytes):
        write_atomic(path, lambda part: torch.export.save(exported, part, extra_files=extra))


def read_extra(path, name):
    """-> what save_archive was given as extra, None where there is no such archive"""
    try:
        with zipfile.ZipFile(path) as archive:
            folder = archive.namelist()[0].split('/')[0]
            return archive.read(f'{folder}/extra/{name}').decode()
    except (FileNotFoundError, KeyError):
        return None
