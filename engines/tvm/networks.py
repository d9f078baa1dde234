# Whole networks, as they are deployed: an ONNX file through relax, its operators fused, each function
# scheduled; weights are arguments. Beside the module stands what its arguments are.
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


def compile_network(path, target, how, shared, model_path, *inputs):
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
    mod, params = relax.frontend.detach_params(mod)
    given = [v.name for v in mod["main"].params][:int(mod["main"].attrs["num_input"])]
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
