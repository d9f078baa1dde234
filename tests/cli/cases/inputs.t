Open dimensions are bound by the shape of an input; a name is not needed where there
is one input.

  $ foretell ops models/sequence.onnx --input x=4x128x64 --csv
  spec,count,flops,bytes_read,bytes_written,parameters
  linear x=4x128x64 out=256 dtype=fp32,1,16777216,196608,524288,16384
  softmax x=4x128x256 axis=2 dtype=fp32,1,655360,524288,524288,0
  $ foretell ops models/sequence.onnx --input 4x128x64 --csv
  spec,count,flops,bytes_read,bytes_written,parameters
  linear x=4x128x64 out=256 dtype=fp32,1,16777216,196608,524288,16384
  softmax x=4x128x256 axis=2 dtype=fp32,1,655360,524288,524288,0
  $ foretell ops models/sequence.onnx --input 4x128x64 --json | pick assumptions
  assumptions: []
  $ foretell ops models/sequence.onnx --input x=4x128x64 --batch 4 --dim seq=128 --csv | head -2
  spec,count,flops,bytes_read,bytes_written,parameters
  linear x=4x128x64 out=256 dtype=fp32,1,16777216,196608,524288,16384

With several inputs what one says holds for the others.

  $ foretell ops data/models/bert-6.onnx --input input_ids=8x128 --json | pick assumptions flops
  assumptions: []
  flops: 89750805504.0
  $ foretell ops data/models/bert-6.onnx --batch 8 --json | pick assumptions flops
  assumptions: []
  flops: 89750805504.0

What does not fit is told, once.

  $ foretell ops models/sequence.onnx --input y=4x128x64
  foretell ops: sequence.onnx: --input y=4x128x64: the model has no such input, but "x" [batch, seq, 64]
  [2]
  $ foretell ops data/models/bert-6.onnx --input ids=8x128
  foretell ops: bert-6.onnx: --input ids=8x128: the model has no such input, but "input_ids" [batch, 128], "attention_mask" [batch, 128]
  [2]
  $ foretell ops data/models/bert-6.onnx --input 8x128
  foretell ops: bert-6.onnx: --input 8x128: the model has several inputs, say NAME=SHAPE: "input_ids" [batch, 128], "attention_mask" [batch, 128]
  [2]
  $ foretell ops models/sequence.onnx --input x=4x128
  foretell ops: sequence.onnx: --input x=4x128 contradicts the file, where that input is "x" [batch, seq, 64]
  [2]
  $ foretell ops models/sequence.onnx --input x=4x128x65
  foretell ops: sequence.onnx: --input x=4x128x65 contradicts the file, where that input is "x" [batch, seq, 64]
  [2]
  $ foretell ops models/sequence.onnx --input x=4x128x64 --batch 2
  foretell ops: sequence.onnx: --input x=4x128x64 contradicts --batch 2
  [2]
  $ foretell ops models/sequence.onnx --input x=4x128x64 --dim seq=64
  foretell ops: sequence.onnx: --input x=4x128x64 contradicts --dim seq=64
  [2]
  $ foretell ops models/sequence.onnx --input x=4x128x64 --input x=4x128x64
  foretell ops: sequence.onnx: --input x=4x128x64 names the same input as --input x=4x128x64
  [2]
  $ foretell ops data/models/bert-6.onnx --input input_ids=8x128 --input attention_mask=4x128
  foretell ops: bert-6.onnx: --input attention_mask=4x128 contradicts --input input_ids=8x128: both have the dimension "batch"
  [2]
  $ foretell ops data/models/bert-6.onnx --dim seq=128
  foretell ops: bert-6.onnx: --dim seq=128: no input has an open dimension of that name; there is batch
  [2]
  $ foretell ops models/unknown-op.onnx --batch 4
  foretell ops: unknown-op.onnx: the file fixes its batch, and node bad?[31mname (generic) goes with no other: export it with an open batch
  [2]
  $ foretell ops models/sequence.onnx --input x
  foretell ops: --input wants NAME=SHAPE, such as x=1x3x224x224, not "x"
  [2]
  $ foretell ops models/sequence.onnx --input x=
  foretell ops: --input wants NAME=SHAPE, such as x=1x3x224x224, not "x="
  [2]
  $ foretell ops models/sequence.onnx --input =1x2
  foretell ops: --input wants NAME=SHAPE, such as x=1x3x224x224, not "=1x2"
  [2]
  $ foretell ops models/sequence.onnx --input x=1x0x3
  foretell ops: --input wants NAME=SHAPE, such as x=1x3x224x224, not "x=1x0x3"
  [2]
  $ foretell ops models/sequence.onnx --input x=1,128,64
  foretell ops: --input wants NAME=SHAPE, such as x=1x3x224x224, not "x=1,128,64"
  [2]
  $ foretell ops models/sequence.onnx --input x=99999999999999999999x1x1
  foretell ops: --input wants NAME=SHAPE, such as x=1x3x224x224, not "x=99999999999999999999x1x1"
  [2]
  $ foretell ops models/sequence.onnx --input x=9007199254740993x1x64
  foretell ops: sequence.onnx: --input x=9007199254740993x1x64 is no shape
  [2]
  $ echo 'relu x=1x8 dtype=fp32' > one.ops
  $ foretell ops one.ops --batch 4
  foretell ops: one.ops: a list of operations has its sizes in its lines: --batch, --dim and --input do not apply
  [2]
  $ foretell ops - --input 4x8 < one.ops
  foretell ops: standard input: a list of operations has its sizes in its lines: --batch, --dim and --input do not apply
  [2]

How often a loop runs that data decides about can be said.

  $ foretell ops models/loop.onnx
  bounded: Loop (node decode), counted 1 time: how often it runs depends on data (--trips N sets it)
  loop.onnx: one forward pass; a multiply-accumulate is 2 FLOPs; parameters that are shared count once in the sum
  
  operation                        count   GFLOP  MiB read  MiB written  parameters
  ---------------------------------------------------------------------------------
  fill out=1 dtype=int64               1  0.0000      0.00         0.00           0
  linear x=1x64 out=64 dtype=fp32      1  0.0000      0.02         0.00        4096
  view x=1x64 out=1x64 dtype=fp32      1  0.0000      0.00         0.00           0
  ---------------------------------------------------------------------------------
  3 unique                             3  0.0000      0.02         0.00        4096
  
  memory at its peak: 16.5 KiB = weights 16.0 KiB + inputs 264 B + activations 256 B
  activations and inputs at planned offsets: 576 B
  $ foretell ops models/loop.onnx --trips 20 --csv
  spec,count,flops,bytes_read,bytes_written,parameters
  fill out=1 dtype=int64,1,0,0,8,0
  linear x=1x64 out=64 dtype=fp32,20,163840,332800,5120,81920
  view x=1x64 out=1x64 dtype=fp32,1,0,0,0,0
  $ foretell predict models/loop.onnx --trips 20 --device a30 --json | pick bounded verify
  bounded: ["Loop (node decode), counted 20 times: how often it runs depends on data (--trips N sets it)"]
  verify: "foretell measure models/loop.onnx --engine torch,device=cuda --trips 20"

Sizes that depend on data are bounds.

  $ foretell ops models/nonzero.onnx --graph
  bounded: NonZero (node where), its size bounded
  nonzero.onnx: 2 nodes in the order in which they run
  input   x  fp32 4x8
  output  where  int64 2x<=32
  
  forward
       0  relu x=4x8 dtype=fp32
           r
           in   x  fp32 4x8
           out  r  fp32 4x8
       1  nonzero x=4x8 out=2x32 dtype=int64
           where
           in   r  fp32 4x8
           out  where  int64 2x<=32
  $ foretell ops models/nonzero.onnx --graph --json | pick outputs
  outputs: [{"name": "where", "dtype": "int64", "shape": [2, 32], "open": [1], "role": "activation", "bytes": 512.0, "view_of": null}]
