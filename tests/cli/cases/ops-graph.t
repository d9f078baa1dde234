The nodes in the order in which they run.

  $ foretell ops models/sequence.onnx --input 4x128x64 --graph
  sequence.onnx: 2 nodes in the order in which they run
  input   x  fp32 4x128x64
  output  z  fp32 4x128x256
  
  forward
       0  linear x=4x128x64 out=256 dtype=fp32
           project
           in   x  fp32 4x128x64
           with w  fp32 64x256
           out  y  fp32 4x128x256
       1  softmax x=4x128x256 axis=2 dtype=fp32
           z
           in   y  fp32 4x128x256
           out  z  fp32 4x128x256
  $ foretell ops data/models/squeezenet1_1.onnx --graph | tail -8
      63  reduce_mean x=1x1000x13x13 axes=2x3 dtype=fp32
           classifier.3/ReduceMean
           in   classifier.2/Relu  fp32 1x1000x13x13
           out  classifier.3/ReduceMean  fp32 1x1000x1x1
      64  view x=1x1000x1x1 out=1x1000 dtype=fp32
           Reshape
           in   classifier.3/ReduceMean  fp32 1x1000x1x1
           out  output  fp32 1x1000, a view of classifier.3/ReduceMean
  $ foretell ops models/unknown-op.onnx --graph
  bounded: Frobnicate (node bad?[31mname), by the bytes it moves
  unknown-op.onnx: 2 nodes in the order in which they run
  input   x  fp32 1x8x16x16
  output  y  fp32 1x8x16x16
  output  z  fp32 1x8x16x16
  
  forward
       0  generic read=2048 out=1x8x16x16 dtype=fp32
           bad?[31mname
           in   x  fp32 1x8x16x16
           out  y  fp32 1x8x16x16
       1  relu x=1x8x16x16 dtype=fp32
           z
           in   y  fp32 1x8x16x16
           out  z  fp32 1x8x16x16

As JSON and as CSV.

  $ foretell ops data/models/squeezenet1_1.onnx --graph --json | pick model assumptions nodes.# nodes.3.spec nodes.3.inputs nodes.3.params.1 nodes.64
  model: "squeezenet1_1.onnx"
  assumptions: ["batch 1 (the model leaves it open; --batch N sets it)"]
  nodes.#: 65
  nodes.3.spec: "conv2d x=1x64x55x55 out=16 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32"
  nodes.3.inputs: [{"name": "features.2/MaxPool", "dtype": "fp32", "shape": [1, 64, 55, 55], "open": [], "role": "activation", "bytes": 774400.0, "view_of": null}]
  nodes.3.params.1: {"name": "features.3.squeeze.bias", "dtype": "fp32", "shape": [16], "open": [], "role": "weight", "bytes": 64.0, "view_of": null}
  nodes.64: {"number": 64, "name": "Reshape", "spec": "view x=1x1000x1x1 out=1x1000 dtype=fp32", "phase": "forward", "repeat": 1, "inputs": [{"name": "classifier.3/ReduceMean", "dtype": "fp32", "shape": [1, 1000, 1, 1], "open": [], "role": "activation", "bytes": 4000.0, "view_of": null}], "params": [], "outputs": [{"name": "output", "dtype": "fp32", "shape": [1, 1000], "open": [], "role": "activation", "bytes": 4000.0, "view_of": "classifier.3/ReduceMean"}]}
  $ foretell ops data/models/squeezenet1_1.onnx --graph --json | pick inputs outputs
  inputs: [{"name": "input", "dtype": "fp32", "shape": [1, 3, 224, 224], "open": [], "role": "input", "bytes": 602112.0, "view_of": null}]
  outputs: [{"name": "output", "dtype": "fp32", "shape": [1, 1000], "open": [], "role": "activation", "bytes": 4000.0, "view_of": "classifier.3/ReduceMean"}]
  $ foretell ops models/sequence.onnx --input 4x128x64 --graph --csv
  number,phase,spec,name,repeat,inputs,params,outputs
  0,forward,linear x=4x128x64 out=256 dtype=fp32,project,1,x  fp32 4x128x64,w  fp32 64x256,y  fp32 4x128x256
  1,forward,softmax x=4x128x256 axis=2 dtype=fp32,z,1,y  fp32 4x128x256,,z  fp32 4x128x256

An operation of a list runs more than once.

  $ echo 'relu x=1x8 dtype=fp32 *3' | foretell ops - --graph
  standard input: 1 node in the order in which they run
  
  forward
       0  relu x=1x8 dtype=fp32, 3 times
           in   fp32 1x8
           out  fp32 1x8

For Graphviz; names cannot break out of their quotes.

  $ foretell ops models/sequence.onnx --input 4x128x64 --dot
  digraph "sequence.onnx" {
    node [shape=box, style=filled, fontname="sans-serif", fontsize=10];
    edge [fontname="sans-serif", fontsize=8];
      n0 [label="linear\n4x128x256", fillcolor="#d9d2e9", tooltip="project"];
      n1 [label="softmax\n4x128x256", fillcolor="#d9ead3", tooltip="z"];
    t0 [shape=ellipse, label="x\nfp32 4x128x64"];
    o3 [shape=ellipse, label="z\nfp32 4x128x256"];
    n1 -> o3 [label=" 512 KiB"];
    t0 -> n0 [label=" 128 KiB"];
    n0 -> n1 [label=" 512 KiB"];
  }
  $ foretell ops models/unknown-op.onnx --dot | grep tooltip
      n0 [label="generic\n1x8x16x16", fillcolor="#ea9999", tooltip="bad?[31mname"];
      n1 [label="relu\n1x8x16x16", fillcolor="#f3f3f3", tooltip="z"];
  $ for m in data/models/*.onnx; do foretell ops $m --dot > g.dot; ! command -v dot > dot.path || dot -Tplain g.dot | tail -1; done | grep -v stop
  [1]

What changed between two models.

  $ printf '%s\n' 'linear x=8x64 out=32 bias=1 dtype=fp32 *4' 'relu x=8x32 dtype=fp32 *4' 'softmax x=8x32 axis=1 dtype=fp32' > a.ops
  $ printf '%s\n' 'linear x=8x64 out=32 bias=1 dtype=fp32 *6' 'gelu x=8x32 dtype=fp32 *4' 'softmax x=8x32 axis=1 dtype=fp32' > b.ops
  $ foretell ops --diff a.ops b.ops
  A: a.ops
  B: b.ops
  
                              A          B   change
  -------------------------------------------------
  operations                  9         11  +22.2 %
  unique                      3          3     same
  FLOPs               134 kFLOP  208 kFLOP  +54.5 %
  bytes moved          54.5 KiB   76.8 KiB  +40.8 %
  parameters             8.32 k     12.5 k  +50.0 %
  weights              32.5 KiB   48.8 KiB  +50.0 %
  memory at its peak   35.5 KiB   51.8 KiB  +45.8 %
  
  1 only in A
  
  operation               count       FLOPs     moved
  ---------------------------------------------------
  relu x=8x32 dtype=fp32      4  1.02 kFLOP  8.00 KiB
  
  1 only in B
  
  operation               count       FLOPs     moved
  ---------------------------------------------------
  gelu x=8x32 dtype=fp32      4  8.19 kFLOP  8.00 KiB
  
  1 in both, but not equally often
  
  operation                               A  B        FLOPs      moved
  --------------------------------------------------------------------
  linear x=8x64 out=32 bias=1 dtype=fp32  4  6  +66.0 kFLOP  +22.2 KiB
  $ foretell ops a.ops --diff b.ops --csv
  spec,count_a,count_b,flops,bytes
  linear x=8x64 out=32 bias=1 dtype=fp32,4,6,33024,11392
  gelu x=8x32 dtype=fp32,0,4,2048,2048
  relu x=8x32 dtype=fp32,4,0,256,2048
  $ foretell ops --diff a.ops b.ops --json | pick identical a b only_a only_b changed
  identical: false
  a: {"model": "a.ops", "assumptions": [], "bounded": [], "operations": 9, "unique": 3, "flops": 134400.0, "bytes_read": 46592.0, "bytes_written": 9216.0, "parameters": 8320.0, "weight_bytes": 33280.0, "memory": {"peak": 36352, "weights": 33280, "inputs": 0, "gradients": 0, "state": 0, "saved": 0, "activations": 3072, "workspace": 0, "two_largest": 38400.0, "twice_mean": 26965.3333333333}}
  b: {"model": "b.ops", "assumptions": [], "bounded": [], "operations": 11, "unique": 3, "flops": 207616.0, "bytes_read": 67328.0, "bytes_written": 11264.0, "parameters": 12480.0, "weight_bytes": 49920.0, "memory": {"peak": 52992, "weights": 49920, "inputs": 0, "gradients": 0, "state": 0, "saved": 0, "activations": 3072, "workspace": 0, "two_largest": 55040.0, "twice_mean": 38058.6666666667}}
  only_a: [{"spec": "relu x=8x32 dtype=fp32", "count_a": 4, "count_b": 0, "flops": 256.0, "bytes": 2048.0}]
  only_b: [{"spec": "gelu x=8x32 dtype=fp32", "count_a": 0, "count_b": 4, "flops": 2048.0, "bytes": 2048.0}]
  changed: [{"spec": "linear x=8x64 out=32 bias=1 dtype=fp32", "count_a": 4, "count_b": 6, "flops": 33024.0, "bytes": 11392.0}]
  $ foretell ops --diff data/models/resnet18.onnx data/models/resnet50.onnx --batch 2 --top 2
  A: data/models/resnet18.onnx
  B: data/models/resnet50.onnx
  
                               A           B    change
  ----------------------------------------------------
  operations                  49         122  +149.0 %
  unique                      24          43   +79.2 %
  FLOPs               7.27 GFLOP  16.4 GFLOP  +125.7 %
  bytes moved            140 MiB     545 MiB  +287.9 %
  parameters              11.7 M      25.5 M  +118.5 %
  weights               44.6 MiB    97.4 MiB  +118.5 %
  memory at its peak    58.0 MiB     117 MiB  +101.7 %
  
  13 only in A
  
  operation                                                                     count      FLOPs     moved
  --------------------------------------------------------------------------------------------------------
  conv2d x=2x64x56x56 out=128 kernel=3x3 stride=2x2 pad=1x1 bias=1 dtype=fp32       1  231 MFLOP  2.58 MiB
  conv2d x=2x128x28x28 out=256 kernel=3x3 stride=2x2 pad=1x1 bias=1 dtype=fp32      1  231 MFLOP  2.27 MiB
  and 11 with less work: --top 13 lists them
  
  32 only in B
  
  operation                                                                      count       FLOPs     moved
  ----------------------------------------------------------------------------------------------------------
  conv2d x=2x256x14x14 out=1024 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32      6  1.24 GFLOP  17.5 MiB
  conv2d x=2x1024x14x14 out=256 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32      5  1.03 GFLOP  14.6 MiB
  and 30 with less work: --top 32 lists them
  
  7 in both, but not equally often
  
  operation                                                                     A  B       FLOPs      moved
  ---------------------------------------------------------------------------------------------------------
  conv2d x=2x256x14x14 out=256 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32  3  5  +925 MFLOP  +6.03 MiB
  conv2d x=2x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32    4  3  -463 MFLOP  -3.20 MiB
  and 5 with less work: --top 7 lists them
  $ foretell ops --diff a.ops a.ops
  A: a.ops
  B: a.ops
  
                              A          B  change
  ------------------------------------------------
  operations                  9          9    same
  unique                      3          3    same
  FLOPs               134 kFLOP  134 kFLOP    same
  bytes moved          54.5 KiB   54.5 KiB    same
  parameters             8.32 k     8.32 k    same
  weights              32.5 KiB   32.5 KiB    same
  memory at its peak   35.5 KiB   35.5 KiB    same
  
  no difference: A and B run the same operations, equally often
  $ foretell ops --diff a.ops a.ops --json | pick identical only_a only_b changed
  identical: true
  only_a: []
  only_b: []
  changed: []

What does not go together.

  $ foretell ops a.ops --graph --dot
  foretell ops: --graph and --dot exclude each other
  [2]
  $ foretell ops a.ops --dot --json
  {
    "command": "ops",
    "exit": 2,
    "message": "--dot is a format of its own: without --json and --csv"
  }
  [2]
  $ foretell ops a.ops b.ops
  foretell ops: one argument too many: "b.ops"; --diff compares two models
  [2]
  $ foretell ops --diff a.ops
  foretell ops: --diff wants two models
  [2]
  $ foretell ops --diff a.ops missing.ops
  foretell ops: missing.ops: No such file or directory
  [3]
  $ foretell ops a.ops b.ops c.ops --diff
  foretell ops: one argument too many: "c.ops"
  see foretell ops --help
  [2]

A long list is cut in text, never in JSON and CSV.

  $ foretell ops data/models/efficientnet_b0.onnx --top 3
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  efficientnet_b0.onnx: one forward pass; a multiply-accumulate is 2 FLOPs; parameters that are shared count once in the sum
  
  operation                                                                     count   GFLOP  MiB read  MiB written  parameters
  ------------------------------------------------------------------------------------------------------------------------------
  conv2d x=1x112x14x14 out=672 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32      3  0.0889      1.12         1.51      227808
  conv2d x=1x192x7x7 out=1152 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32       4  0.0869      3.54         0.86      889344
  conv2d x=1x1152x7x7 out=192 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32       3  0.0651      3.18         0.11      664128
  97 others, lighter (--top 100 lists all)                                        180  0.5732     81.33        56.43     3486260
  ------------------------------------------------------------------------------------------------------------------------------
  100 unique                                                                      190  0.8141     89.17        58.91     5267540
  
  memory at its peak: 29.9 MiB = weights 20.1 MiB + inputs 588 KiB + activations 9.19 MiB
  activations and inputs at planned offsets: 9.76 MiB
  $ foretell ops data/models/efficientnet_b0.onnx | wc -l
  51
  $ foretell ops data/models/efficientnet_b0.onnx --csv | wc -l
  101
