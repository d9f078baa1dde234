# Whole networks, as they are deployed: an ONNX file, or a graph of operations as kinds.py has them,
# through relax, its operators fused, each function scheduled; weights are arguments. Beside the module
# stands what its arguments are.
import collections

from tvm import relax

ONNX_DTYPES = {"float32": "fp32", "float64": "fp64", "float16": "fp16", "bfloat16": "bf16", "bool": "bool",
               "int8": "int8", "uint8": "uint8", "int32": "int32", "int64": "int64"}


def fill_missing(onnx, graph):
    """Weights that lie in files that are not there: zeros, which become arguments."""
    for tensor in graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            size = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
            tensor.ClearField("external_data")
            tensor.data_location = onnx.TensorProto.DEFAULT
            tensor.raw_data = bytes(size * math.prod(tensor.dims))


def turn_weights(graph):
    """Matrices lie as products read them, in x out: deployed networks turn them once, before they run."""
    weights = {tensor.name: tensor for tensor in graph.initializer}
    seen = {value.name for value in [*graph.input, *graph.output]}
    uses = collections.Counter(name for node in graph.node for name in node.input)

    def own(name):
        return name in weights and name not in seen and uses[name] == 1
    for node in list(graph.node):
        attributes = {a.name: a for a in node.attribute}
        if node.op_type == "Gemm" and own(node.input[1]) and "transB" in attributes and attributes["transB"].i:
            attributes["transB"].i = 0
            weights[node.input[1]].dims[:] = list(weights[node.input[1]].dims)[::-1]
        elif node.op_type == "Transpose" and own(node.input[0]) and node.output[0] not in seen:
            tensor = weights[node.input[0]]
            order = list(attributes["perm"].ints) if "perm" in attributes else range(len(tensor.dims))[::-1]
            tensor.dims[:] = [tensor.dims[axis] for axis in order]
            tensor.name = node.output[0]
            graph.node.remove(node)


def describe(role, var):
    shape = "x".join(str(int(d)) for d in var.ty.shape) or "-"
    return f"{role} {ONNX_DTYPES[str(var.ty.dtype)]} {shape} {var.name}"


class Graph:
    """The lines of foretell/engine.h: tensors (role, dtype, shape, name), operations (spec, operands,
    weights, results), the tensors that are results."""

    def __init__(self, path):
        self.tensors, self.operations, self.results = [], [], []
        with open(path, encoding="utf-8") as f:
            for what, first, *lists in (line.rstrip("\n").split("\t") for line in f):
                if what == "tensor":
                    self.tensors.append(operand(first))
                elif what == "op":
                    self.operations.append((first, *([int(i) for i in ids.split()] for ids in lists)))
                else:
                    self.results = [int(i) for i in first.split()]

    @staticmethod
    def turned(spec, n):
        """Is the n-th weight the matrix of a linear layer, which lies in x out?"""
        return spec.startswith("linear ") and n == 0

    def typed(self, i, turned=False):
        _, dtype, shape, _ = self.tensors[i]
        if dtype not in DTYPES:
            raise Refused(f"TVM has no {dtype} on a CPU")
        return dtype, shape[::-1] if turned else shape

    def arguments(self):
        """By (tensor, whether it lies turned): inputs, then weights."""
        keys = [(i, False) for i, t in enumerate(self.tensors) if t[0] == "in"]
        for spec, operands, weights, _ in self.operations:
            keys += [(i, False) for i in operands if self.tensors[i][0] == "weight"]
            keys += [(i, self.turned(spec, n)) for n, i in enumerate(weights)]
        made = {}
        for key in dict.fromkeys(keys):
            dtype, shape = self.typed(*key)
            made[key] = relax.Var(self.tensors[key[0]][3][0], relax.TensorType(shape, DTYPES[dtype]))
        return made


def function_of(builder, made, op):
    """(its name in the module, types of its results): the same for the same operation."""
    key = str((op.spec, op.inputs, op.params, op.outputs))
    if key not in made:
        operands, results = expression(op)
        func = te.create_prim_func(operands + results, "int64").without_attr("global_symbol")
        made[key] = (builder.add_func(func, op.kind),
                     [relax.TensorType([int(d) for d in r.shape], r.dtype) for r in results])
    return made[key]


def emit(builder, made, graph, values, operation):
    """One operation after those that make its operands; values: of every tensor until now."""
    spec, operands, weights, results = operation
    keys = [(i, False) for i in operands] + [(i, graph.turned(spec, n)) for n, i in enumerate(weights)]
    arguments = [values[key] for key in keys]
    if spec.startswith("view "):
        values[results[0], False] = builder.emit(relax.op.reshape(arguments[0], graph.tensors[results[0]][2]))
        return
    shaped = [graph.typed(*key) for key in keys]
    op = Op(spec, shaped[:len(operands)], shaped[len(operands):], [graph.typed(i) for i in results])
    function, types = function_of(builder, made, op)
    call = builder.emit(relax.call_tir(function, arguments, types if len(types) > 1 else types[0]))
    for n, i in enumerate(results):
        values[i, False] = builder.emit(relax.TupleGetItem(call, n)) if len(types) > 1 else call


def module_of_graph(path):
    graph, builder, made = Graph(path), relax.BlockBuilder(), {}
    values = graph.arguments()
    given = [var.name for (i, _), var in values.items() if graph.tensors[i][0] == "in"]
    with builder.function("main", list(values.values())):
        with builder.dataflow():
            for operation in graph.operations:
                emit(builder, made, graph, values, operation)
            results = [values[i, False] for i in graph.results]
            out = builder.emit_output(results[0] if len(results) == 1 else relax.Tuple(results))
        builder.emit_func_output(out)
    return builder.finalize(), given


def module_of_onnx(model_path, inputs):
    try:
        import onnx
        from tvm.relax.frontend import onnx as frontend
    except ImportError:
        raise Refused("ONNX files need the package onnx as well: pip install onnx") from None
    model = onnx.load(model_path, load_external_data=False)
    fill_missing(onnx, model.graph)
    turn_weights(model.graph)
    shapes = {}
    for role, _, shape, name in map(operand, inputs):
        shapes[name[0]] = shape
    mod = frontend.from_onnx(model, shape_dict=shapes, keep_params_in_input=True, sanitize_input_names=False)
    mod, _ = relax.frontend.detach_params(mod)
    return mod, [v.name for v in mod["main"].params][:int(mod["main"].attrs["num_input"])]


def compile_network(path, target, how, shared, model_path, *inputs):
    with open(model_path, "rb") as f:
        own = f.read(7) == b"tensor\t"
    mod, given = module_of_graph(model_path) if own else module_of_onnx(model_path, inputs)
    linker, target = linker_for(target, how), target_of(target)
    with target, tvm.transform.PassContext(opt_level=3):
        mod = relax.transform.DecomposeOpsForInference()(mod)
        mod = relax.get_pipeline("zero")(mod)
    for name, func in list(mod.functions_items()):
        if isinstance(func, tirx.PrimFunc):
            mod.update_func(name, schedule(func, how, target, linker, shared == "1", os.path.dirname(path)))
    with open(path + ".args", "w", encoding="utf-8") as f:
        for var in mod["main"].params:
            print(describe("in" if var.name in given else "weight", var), file=f)
    build(mod, target, linker, path)
