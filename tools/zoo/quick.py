"""The graph of a network's forward pass as torch.export would write it, some ten times as quickly:
the operators that a run on the meta device calls, as they are called."""
import json
import zipfile

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._export.serde import serialize
from torch.fx.experimental.proxy_tensor import ProxyTorchDispatchMode
from torch.utils._python_dispatch import TorchDispatchMode


def enum(table, value):
    return int(table[value])


def shape_of(tensor):
    return {'dtype': enum(serialize._TORCH_TO_SERIALIZE_DTYPE, tensor.dtype),
            'sizes': [{'as_int': n} for n in tensor.shape], 'requires_grad': False,
            'device': {'type': 'meta', 'index': None},
            'strides': [{'as_int': n} for n in tensor.stride()],
            'storage_offset': {'as_int': 0}, 'layout': 7}


class Recorder(ProxyTorchDispatchMode):
    """Sees operators before autograd takes them apart, where only this kind of mode is admitted."""

    __enter__, __exit__ = TorchDispatchMode.__enter__, TorchDispatchMode.__exit__

    def __init__(self, x):
        TorchDispatchMode.__init__(self, _dispatch_key=torch._C.DispatchKey.PreDispatch)
        self._mode_key = torch._C._TorchDispatchModeKey.PROXY
        self.nodes, self.weights, self.values = [], [], {}
        self.names, self.alive = {id(x): 'x'}, [x]
        self.values['x'] = shape_of(x)

    def name(self, tensor):
        if id(tensor) not in self.names:    # nothing that ran made it
            self.weights.append(self.give(tensor, f'p_{len(self.weights)}'))
        return {'name': self.names[id(tensor)]}

    def give(self, tensor, name):
        self.names[id(tensor)] = name
        self.values[name] = shape_of(tensor)
        self.alive.append(tensor)           # so that no other takes its id
        return name

    def argument(self, v):
        if v is None:
            return {'as_none': True}
        for kind, label in ((torch.Tensor, 'as_tensor'), (bool, 'as_bool'), (int, 'as_int'),
                            (float, 'as_float'), (str, 'as_string')):
            if isinstance(v, kind):
                return {label: self.name(v) if kind is torch.Tensor else v}
        if isinstance(v, torch.dtype):
            return {'as_scalar_type': enum(serialize._TORCH_TO_SERIALIZE_DTYPE, v)}
        if isinstance(v, torch.memory_format):
            return {'as_memory_format': enum(serialize._TORCH_TO_SERIALIZE_MEMORY_FORMAT, v)}
        if isinstance(v, torch.layout):
            return {'as_layout': enum(serialize._TORCH_TO_SERIALIZE_LAYOUT, v)}
        if isinstance(v, torch.device):
            return {'as_device': {'type': v.type, 'index': v.index}}
        if isinstance(v, (list, tuple)):
            return self.arguments(list(v))
        raise TypeError(f'an argument of type {type(v).__name__}')

    def arguments(self, v):
        if any(isinstance(i, torch.Tensor) for i in v):
            if None in [None if i is None else 0 for i in v]:
                return {'as_optional_tensors': [self.argument(i) for i in v]}
            return {'as_tensors': [self.name(i) for i in v]}
        for kind, label in ((bool, 'as_bools'), (int, 'as_ints'), (float, 'as_floats')):
            if v and all(isinstance(i, kind) for i in v):
                return {label: v}
        return {'as_floats': [float(i) for i in v]} if v else {'as_ints': []}

    def result(self, v, name):
        if isinstance(v, torch.Tensor):
            return {'as_tensor': {'name': self.give(v, name)}}
        return {'as_tensors': [{'name': self.give(t, f'{name}_{i}')} for i, t in enumerate(v)]}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        several = isinstance(out, (list, tuple)) and \
            all(isinstance(t, torch.Tensor) for t in out)
        if not several and not isinstance(out, torch.Tensor):
            return out                      # a size, a flag
        schema = func._schema.arguments
        given = [(s.name, v, 1) for s, v in zip(schema, args)] + \
                [(n, v, 2) for n, v in kwargs.items()]
        inputs = [{'name': n, 'arg': self.argument(v), 'kind': k} for n, v, k in given]
        name = f'v{len(self.nodes)}'
        tuples = isinstance(out, tuple)
        results = [self.result(t, f'{name}_{i}') for i, t in enumerate(out)] if tuples else \
            [self.result(out, name)]
        self.nodes.append({'target': f'torch.ops.{func}', 'inputs': inputs, 'outputs': results,
                           'metadata': {}, 'is_hop_single_tensor_return': None, 'name': name})
        return out


def save(model, x, path):
    """model on the meta device, x its only input there."""
    recorder = Recorder(x)
    with torch.no_grad(), enable_python_dispatcher(), recorder:
        out = model(x)
    results = [recorder.name(t) for t in (out if isinstance(out, (list, tuple)) else [out])]
    inputs = recorder.weights + ['x']
    graph = {'inputs': [{'as_tensor': {'name': n}} for n in inputs],
             'outputs': [{'as_tensor': r} for r in results], 'nodes': recorder.nodes,
             'tensor_values': recorder.values, 'sym_int_values': {}, 'sym_bool_values': {},
             'is_single_tensor_return': False, 'custom_obj_values': {}, 'sym_float_values': {}}
    specs = [{'parameter': {'arg': {'name': n}, 'parameter_name': n}}
             for n in recorder.weights] + [{'user_input': {'arg': {'as_tensor': {'name': 'x'}}}}]
    signature = {'input_specs': specs,
                 'output_specs': [{'user_output': {'arg': {'as_tensor': r}}} for r in results]}
    program = {'graph_module': {'graph': graph, 'signature': signature, 'metadata': {},
                                'treespec_namedtuple_fields': {}},
               'opset_version': {'aten': 10}, 'range_constraints': {},
               'schema_version': {'major': 8, 'minor': 20}, 'verifiers': ['TRAINING'],
               'torch_version': torch.__version__}
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_STORED) as archive:
        archive.writestr('archive/models/model.json', json.dumps(program))
