#!/usr/bin/env python3
"""Compiles kernels.py without a GPU: compile.py FOLDER [TARGET...]

Writes FOLDER/sm_TARGET/NAME.ptx and NAME.json, the metadata that Triton's cache has
beside it."""

import json
import os
import sys
import tempfile

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import kernels

# Kernel, types of its parameters, constants, options.
KERNELS = [
    ("add", "*fp32 *fp32 *fp32 i32", {"BLOCK": 1024}, {"num_warps": 4}),
    ("softmax", "*fp32 *fp32 i32 i32", {"BLOCK": 1024}, {"num_warps": 4}),
    ("layer_norm", "*fp32 *fp32 *fp32 *fp32 i32 fp32", {"BLOCK": 512}, {"num_warps": 4}),
    ("matmul", "*fp16 *fp16 *fp16 i32 i32 i32 i32 i32 i32", {"M": 64, "N": 64, "K": 32},
     {"num_warps": 4, "num_stages": 3}),
    ("attention", "*fp16 *fp16 *fp16 *fp16 i32 fp32", {"D": 64, "M": 64, "N": 32},
     {"num_warps": 4, "num_stages": 2}),
    ("gelu_dropout", "*fp32 *fp32 i32 fp32 i32", {"BLOCK": 1024}, {"num_warps": 4}),
    ("histogram", "*i32 *i32 i32", {"BLOCK": 256}, {"num_warps": 2}),
]
ALIGNED = [["tt.divisibility", 16]]


def source(name, types, constants):
    """Pointers are aligned to 16 bytes, numbers are any."""
    function = getattr(kernels, name)
    types = types.split() + ["constexpr"] * len(constants)
    signature = dict(zip(function.arg_names, types))
    attributes = {(i,): ALIGNED for i, t in enumerate(types) if t.startswith("*")}
    constants = {(function.arg_names.index(k),): v for k, v in constants.items()}
    return ASTSource(fn=function, signature=signature, constexprs=constants, attrs=attributes)


def without_paths(value):
    """Libraries by their file's name."""
    if isinstance(value, list):
        return [without_paths(v) for v in value]
    if isinstance(value, dict):
        return {k: without_paths(v) for k, v in value.items()}
    return os.path.basename(value) if isinstance(value, str) and "/" in value else value


def write(folder, name, types, constants, options, target):
    # A version of the ISA that ptxas of CUDA 13.0 knows.
    done = triton.compile(source(name, types, constants), target=GPUTarget("cuda", target, 32),
                          options={"ptx_version": 88, **options})
    os.makedirs(folder, exist_ok=True)
    text = done.asm["ptx"]
    here = os.path.dirname(os.path.abspath(__file__))
    text = text.replace(here, ".").replace(os.path.dirname(triton.__file__), "triton")
    with open(os.path.join(folder, name + ".ptx"), "w", encoding="utf-8") as f:
        f.write(text)
    with open(done.metadata_group[name + ".json"], encoding="utf-8") as f:
        metadata = without_paths(json.load(f))
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as f:
        json.dump(metadata, f, sort_keys=True)
        f.write("\n")


def main():
    folder, targets = sys.argv[1], [int(t) for t in sys.argv[2:]] or [80, 90]
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        for target in targets:
            for name, types, constants, options in KERNELS:
                write(os.path.join(folder, f"sm_{target}"), name, types, constants, options,
                      target)


main()
