# Compiles what the plug-in asks for: a line of fields separated by tabs for each module, answered by
# one line, "ok", "refused WHY" or "failed WHY".
#   op       MODULE TARGET SCHEDULE SHARED SPEC   "in fp32 1x3x8x8", "weight ...", "out ..." ...
#   network  MODULE TARGET SCHEDULE SHARED MODEL  "in fp32 1x3x224x224 NAME" ...
# SHARED: 1 among several threads.
import os
import shutil
import subprocess
import sys


def linker_for(target, how):
    """A linker alone: a compiler takes ten times as long. LLVM's knows every processor."""
    if how.startswith("tuned") and target != "host":
        raise Refused("schedule=tuned runs what it tries: without target=")
    if "LD" in os.environ:
        return os.environ["LD"]
    linker = "ld" if target == "host" else "ld.lld"
    if not shutil.which(linker):
        raise Refused(f"{linker} is needed, to link modules for {target} (Debian: {'binutils' if target == 'host' else 'lld'}), or LD=LINKER")
    return linker


def link_with(linker):
    def link(path, objects, **_):
        subprocess.run([linker, "-shared", "-o", path, *objects], check=True, capture_output=True)
    return link


def operand(text):
    role, dtype, shape, *name = text.split(" ", 3)
    return role, dtype, [] if shape == "-" else [int(d) for d in shape.split("x")], name


def target_of(text):
    """"host", or "llvm:mcpu=cortex-a72:mtriple=aarch64-linux-gnu"."""
    if text == "host":
        name = tvm.get_global_func("tvm.codegen.llvm.GetHostCPUName")()
        return tvm.target.Target({"kind": "llvm", "mcpu": str(name)})
    kind, *pairs = text.split(":")
    return tvm.target.Target({"kind": kind, **dict(p.split("=", 1) for p in pairs)})


def schedule(func, how, target, linker, shared, folder):
    """folder: of the modules, where the tiles that were found lie as well."""
    if how == "default":
        return func
    if how.startswith("tiles"):
        return by_rules(func, shared, tuple(map(int, how[6:].split("x"))))
    if how.startswith("tuned"):
        return tuned(func, target, linker, int(how.split(":")[1]), shared, folder)
    return by_rules(func, shared)


def build(mod, target, linker, path):
    with tvm.transform.PassContext(opt_level=3):
        library = tvm.compile(mod, target=target)
    made = f"{path}.{os.getpid()}"
    library.export_library(made, fcompile=link_with(linker))
    os.replace(made, path)


def workspace(func):
    """Bytes of what the function makes on its way, counted where TVM has decided what shares memory."""
    passes = [s_tir.transform.LowerInitBlock(), s_tir.transform.PlanAndUpdateBufferAllocationLocation(),
              s_tir.transform.ConvertBlocksToOpaque(), s_tir.transform.CompactBufferAllocation(),
              s_tir.transform.LowerOpaqueBlock(), tirx.transform.FlattenBuffer(), tirx.transform.VectorizeLoop(),
              tirx.transform.StorageRewrite()]
    lowered = tvm.ir.transform.Sequential(passes)(tvm.IRModule({"main": func}))
    return sum(s_tir.analysis.calculate_allocated_bytes(lowered["main"])["main"].values())


def compile_op(path, target, how, shared, spec, *operands):
    by_role = {"in": [], "weight": [], "out": []}
    for role, dtype, shape, _ in map(operand, operands):
        if dtype not in DTYPES:
            raise Refused(f"TVM has no {dtype} on a CPU")
        by_role[role].append((dtype, shape))
    op = Op(spec, by_role["in"], by_role["weight"], by_role["out"])
    arguments, results = expression(op)
    func = te.create_prim_func(arguments + results)
    linker, target = linker_for(target, how), target_of(target)
    func = schedule(func, how, target, linker, shared == "1", os.path.dirname(path))
    with open(f"{path}.{os.getpid()}", "w", encoding="ascii") as f:  # a second function would make the first slow
        print(workspace(func), file=f)
    os.replace(f.name, path + ".workspace")  # before the module: who finds that one finds this
    build(tvm.IRModule({"main": func}), target, linker, path)


def answer(fields):
    try:
        os.makedirs(os.path.dirname(fields[1]), exist_ok=True)
        {"op": compile_op, "network": compile_network}[fields[0]](*fields[1:])
    except Refused as e:
        return f"refused {e}"
    except Exception as e:  # TVM's errors have many types
        return f"failed {type(e).__name__}: {str(e).strip().splitlines()[-1] if str(e).strip() else ''}"
    return "ok"


def main():
    """Whatever prints goes elsewhere: the plug-in reads the answers."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(answer(line.rstrip("\n").split("\t")).replace("\n", " "), file=out, flush=True)


main()
