Unique operations with what they cost.

  $ foretell ops data/models/squeezenet1_1.onnx
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  squeezenet1_1.onnx: one forward pass; a multiply-accumulate is 2 FLOPs; parameters that are shared count once in the sum
  
  operation                                                                      count   GFLOP  MiB read  MiB written  parameters
  -------------------------------------------------------------------------------------------------------------------------------
  conv2d x=1x3x224x224 out=64 kernel=3x3 stride=2x2 pad=0x0 bias=1 dtype=fp32        1  0.0434      0.58         3.01        1792
  relu x=1x64x111x111 dtype=fp32                                                     1  0.0008      3.01         3.01           0
  maxpool2d x=1x64x111x111 kernel=3x3 stride=2x2 pad=0x0 ceil=1 dtype=fp32           1  0.0017      3.01         0.74           0
  conv2d x=1x64x55x55 out=16 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32         1  0.0062      0.74         0.18        1040
  relu x=1x16x55x55 dtype=fp32                                                       2  0.0001      0.37         0.37           0
  conv2d x=1x16x55x55 out=64 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32         2  0.0128      0.38         1.48        2176
  relu x=1x64x55x55 dtype=fp32                                                       4  0.0008      2.95         2.95           0
  conv2d x=1x16x55x55 out=64 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32         2  0.1119      0.44         1.48       18560
  concat x=1x64x55x55 axis=1 sizes=64x64 dtype=fp32                                  2  0.0000      2.95         2.95           0
  conv2d x=1x128x55x55 out=16 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32        1  0.0124      1.48         0.18        2064
  maxpool2d x=1x128x55x55 kernel=3x3 stride=2x2 pad=0x0 ceil=1 dtype=fp32            1  0.0008      1.48         0.36           0
  conv2d x=1x128x27x27 out=32 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32        1  0.0060      0.37         0.09        4128
  relu x=1x32x27x27 dtype=fp32                                                       2  0.0000      0.18         0.18           0
  conv2d x=1x32x27x27 out=128 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32        2  0.0121      0.21         0.71        8448
  relu x=1x128x27x27 dtype=fp32                                                      4  0.0004      1.42         1.42           0
  conv2d x=1x32x27x27 out=128 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32        2  0.1077      0.46         0.71       73984
  concat x=1x128x27x27 axis=1 sizes=128x128 dtype=fp32                               2  0.0000      1.42         1.42           0
  conv2d x=1x256x27x27 out=32 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32        1  0.0120      0.74         0.09        8224
  maxpool2d x=1x256x27x27 kernel=3x3 stride=2x2 pad=0x0 ceil=1 dtype=fp32            1  0.0004      0.71         0.17           0
  conv2d x=1x256x13x13 out=48 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32        1  0.0042      0.21         0.03       12336
  relu x=1x48x13x13 dtype=fp32                                                       2  0.0000      0.06         0.06           0
  conv2d x=1x48x13x13 out=192 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32        2  0.0063      0.13         0.25       18816
  relu x=1x192x13x13 dtype=fp32                                                      4  0.0001      0.50         0.50           0
  conv2d x=1x48x13x13 out=192 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32        2  0.0561      0.70         0.25      166272
  concat x=1x192x13x13 axis=1 sizes=192x192 dtype=fp32                               2  0.0000      0.50         0.50           0
  conv2d x=1x384x13x13 out=48 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32        1  0.0062      0.32         0.03       18480
  conv2d x=1x384x13x13 out=64 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32        1  0.0083      0.34         0.04       24640
  relu x=1x64x13x13 dtype=fp32                                                       2  0.0000      0.08         0.08           0
  conv2d x=1x64x13x13 out=256 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32        2  0.0112      0.21         0.33       33280
  relu x=1x256x13x13 dtype=fp32                                                      4  0.0002      0.66         0.66           0
  conv2d x=1x64x13x13 out=256 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32        2  0.0998      1.21         0.33      295424
  concat x=1x256x13x13 axis=1 sizes=256x256 dtype=fp32                               2  0.0000      0.66         0.66           0
  conv2d x=1x512x13x13 out=64 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32        1  0.0111      0.46         0.04       32832
  conv2d x=1x512x13x13 out=1000 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32      1  0.1732      2.29         0.64      513000
  relu x=1x1000x13x13 dtype=fp32                                                     1  0.0002      0.64         0.64           0
  reduce_mean x=1x1000x13x13 axes=2x3 dtype=fp32                                     1  0.0002      0.64         0.00           0
  view x=1x1000x1x1 out=1x1000 dtype=fp32                                            1  0.0000      0.00         0.00           0
  -------------------------------------------------------------------------------------------------------------------------------
  37 unique                                                                         65  0.7066     32.53        26.55     1235496
  
  memory at its peak: 11.3 MiB = weights 4.71 MiB + inputs 588 KiB + activations 6.02 MiB
  activations and inputs at planned offsets: 6.59 MiB

The batch is taken where the model leaves it open.

  $ foretell ops data/models/squeezenet1_1.onnx --batch 16 | tail -4
  37 unique                                                                          65  11.3060    449.73       424.83     1235496
  
  memory at its peak: 110 MiB = weights 4.71 MiB + inputs 9.19 MiB + activations 96.3 MiB
  activations and inputs at planned offsets: 105 MiB

As JSON and as CSV.

  $ foretell ops data/models/resnet50.onnx --json | pick model flops parameters weight_bytes activation_bytes assumptions bounded ops.# ops.0
  model: "resnet50.onnx"
  flops: 8206518248.0
  parameters: 25530472.0
  weight_bytes: 102121888.0
  activation_bytes: 10235904
  assumptions: ["batch 1 (the model leaves it open; --batch N sets it)"]
  bounded: []
  ops.#: 43
  ops.0: {"spec": "conv2d x=1x3x224x224 out=64 kernel=7x7 stride=2x2 pad=3x3 bias=1 dtype=fp32", "count": 1, "flops": 236830720.0, "bytes_read": 640000.0, "bytes_written": 3211264.0, "parameters": 9472.0}
  $ foretell ops data/models/vgg16.onnx --csv | head -4
  spec,count,flops,bytes_read,bytes_written,parameters
  conv2d x=1x3x224x224 out=64 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32,1,176619520,609280,12845056,1792
  relu x=1x64x224x224 dtype=fp32,2,6422528,25690112,25690112,0
  conv2d x=1x64x224x224 out=64 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32,1,3702587392,12992768,12845056,36928

A list of operations, from standard input.

  $ printf 'linear x=1x512 out=1000 dtype=fp32 *3\n# nothing\n\nrelu x=8x8 dtype=fp32\n' | foretell ops -
  standard input: one forward pass; a multiply-accumulate is 2 FLOPs; parameters that are shared count once in the sum
  
  operation                           count   GFLOP  MiB read  MiB written  parameters
  ------------------------------------------------------------------------------------
  linear x=1x512 out=1000 dtype=fp32      3  0.0031      5.87         0.01     1536000
  relu x=8x8 dtype=fp32                   1  0.0000      0.00         0.00           0
  ------------------------------------------------------------------------------------
  2 unique                                4  0.0031      5.87         0.01     1536000
  
  memory at its peak: 5.87 MiB = weights 5.86 MiB + activations 5.91 KiB
  activations and inputs at planned offsets: 5.94 KiB

  $ printf '\357\273\277relu x=1x8 dtype=fp32\r\n' | foretell ops - --list
  relu x=1x8 dtype=fp32
  $ printf 'linear x=1x512 oot=1000 dtype=fp32' | foretell ops -
  foretell ops: standard input: line 1: byte 15: linear has no key "oot"
  [3]
  $ printf 'linear x=1x512 out=1000 dtype=fp32 *0' | foretell ops -
  foretell ops: standard input: line 1: byte 35: the count must be 1 to 2^52
  [3]
  $ foretell ops - < /dev/null
  foretell ops: standard input: holds no operation
  [3]

A dimension that is left open is asked for, with the flag that gives it.

  $ foretell ops models/sequence.onnx
  foretell ops: sequence.onnx: dimension "seq" of input "x" is open: add --dim seq=N
  [2]
  $ foretell ops models/sequence.onnx --dim sqe=128
  foretell ops: sequence.onnx: dimension "seq" of input "x" is open: add --dim seq=N
  [2]
  $ foretell ops models/sequence.onnx --dim seq=128 --batch 4
  sequence.onnx: one forward pass; a multiply-accumulate is 2 FLOPs; parameters that are shared count once in the sum
  
  operation                              count   GFLOP  MiB read  MiB written  parameters
  ---------------------------------------------------------------------------------------
  linear x=4x128x64 out=256 dtype=fp32       1  0.0168      0.19         0.50       16384
  softmax x=4x128x256 axis=2 dtype=fp32      1  0.0007      0.50         0.50           0
  ---------------------------------------------------------------------------------------
  2 unique                                   2  0.0174      0.69         1.00       16384
  
  memory at its peak: 1.19 MiB = weights 64.0 KiB + inputs 128 KiB + activations 1.00 MiB
  activations and inputs at planned offsets: 1.12 MiB

An operation without a rule is bounded and named, and a name cannot drive the
terminal.

  $ foretell ops models/unknown-op.onnx
  bounded: Frobnicate (node bad?[31mname), by the bytes it moves
  unknown-op.onnx: one forward pass; a multiply-accumulate is 2 FLOPs; parameters that are shared count once in the sum
  
  operation                                   count   GFLOP  MiB read  MiB written  parameters
  --------------------------------------------------------------------------------------------
  generic read=2048 out=1x8x16x16 dtype=fp32      1  0.0000      0.01         0.01           0
  relu x=1x8x16x16 dtype=fp32                     1  0.0000      0.01         0.01           0
  --------------------------------------------------------------------------------------------
  2 unique                                        2  0.0000      0.02         0.02           0
  
  memory at its peak: 24.0 KiB = inputs 8.00 KiB + activations 16.0 KiB
  activations and inputs at planned offsets: 24.0 KiB

  $ foretell ops models/unknown-op.onnx --json | pick bounded
  bounded: ["Frobnicate (node bad\u001b[31mname)"]

Nodes of one operator that are bounded alike are one line with their count; JSON names each.

  $ foretell ops models/unknown-ops.onnx | grep bounded
  bounded: 2 times, the first is Frobnicate (node bad0), its result taken to be as large as its operand
  bounded: Frobnicate (node bad2), by the bytes it moves
  $ foretell ops models/unknown-ops.onnx --json | pick bounded.#
  bounded.#: 3

Activations behind a product with a bias are part of its kernel where the engine fuses.

  $ foretell ops data/models/squeezenet1_1.onnx -q --list --lower strided | grep -c '^relu'
  10
  $ foretell ops data/models/squeezenet1_1.onnx -q --list --lower fused | grep -c '^relu'
  0
  [1]

The few that say most of the others, to measure on a device that nobody measured: of three sorts one of each.

  $ for n in 1 2 3; do echo "conv2d x=${n}x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32"; echo "linear x=$((n + 30))x1024 out=1000 dtype=fp32"; echo "relu x=${n}x64x56x56 dtype=fp32 *2"; done > many.ops
  $ foretell ops many.ops --list --few 3 | cut -d ' ' -f 1 | sort
  conv2d
  linear
  relu
  $ foretell ops many.ops --list --few 30 | sort > all.ops; foretell ops many.ops --list | sort | cmp - all.ops
  $ foretell ops many.ops --few 3
  foretell ops: --few goes with --list
  [2]
