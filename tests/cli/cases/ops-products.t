The convolutions and matrix products inside all operations, in one form.

  $ foretell ops data/models/bert-6.onnx --products
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  bert-6.onnx: convolutions and matrix products inside all operations; a product and its
  transpose are one, biases and layouts are left out
  
  product                                      count       FLOPs    share
  -----------------------------------------------------------------------
  matmul x=1x3072x768 y=1x768x128 dtype=fp32       6  3.62 GFLOP   32.4 %
  matmul x=1x768x3072 y=1x3072x128 dtype=fp32      6  3.62 GFLOP   32.4 %
  matmul x=1x768x768 y=1x768x128 dtype=fp32       24  3.62 GFLOP   32.4 %
  matmul x=12x128x128 y=12x128x64 dtype=fp32       6   151 MFLOP    1.4 %
  matmul x=12x128x64 y=12x64x128 dtype=fp32        6   151 MFLOP    1.4 %
  matmul x=1x768x768 y=1x768x1 dtype=fp32          1  1.18 MFLOP    0.0 %
  -----------------------------------------------------------------------
  6 different                                     49  11.2 GFLOP  100.0 %
  
  all other work: 44.0 MFLOP
  $ foretell ops data/models/squeezenet1_1.onnx --products --batch 4 | head -8
  squeezenet1_1.onnx: convolutions and matrix products inside all operations; a product and its
  transpose are one, biases and layouts are left out
  
  product                                                                 count       FLOPs    share
  --------------------------------------------------------------------------------------------------
  conv2d x=4x512x13x13 out=1000 kernel=1x1 stride=1x1 pad=0x0 dtype=fp32      1   692 MFLOP   24.8 %
  conv2d x=4x16x55x55 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32         2   446 MFLOP   16.0 %
  conv2d x=4x32x27x27 out=128 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32        2   430 MFLOP   15.4 %

As JSON and as CSV; the sums agree with the whole.

  $ foretell ops data/models/resnet50.onnx --products --json | pick model assumptions bounded flops flops_other products.# products.0
  model: "resnet50.onnx"
  assumptions: ["batch 1 (the model leaves it open; --batch N sets it)"]
  bounded: []
  flops: 8178368512.0
  flops_other: 28149736.0
  products.#: 24
  products.0: {"product": "conv2d x=1x256x14x14 out=256 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32", "count": 5, "flops": 1156055040.0}
  $ foretell ops data/models/resnet18.onnx --products --csv
  product,count,flops
  conv2d x=1x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32,4,924844032
  conv2d x=1x128x28x28 out=128 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32,3,693633024
  conv2d x=1x256x14x14 out=256 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32,3,693633024
  conv2d x=1x512x7x7 out=512 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32,3,693633024
  conv2d x=1x3x224x224 out=64 kernel=7x7 stride=2x2 pad=3x3 dtype=fp32,1,236027904
  conv2d x=1x128x28x28 out=256 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32,1,115605504
  conv2d x=1x256x14x14 out=512 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32,1,115605504
  conv2d x=1x64x56x56 out=128 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32,1,115605504
  conv2d x=1x128x28x28 out=256 kernel=1x1 stride=2x2 pad=0x0 dtype=fp32,1,12845056
  conv2d x=1x256x14x14 out=512 kernel=1x1 stride=2x2 pad=0x0 dtype=fp32,1,12845056
  conv2d x=1x64x56x56 out=128 kernel=1x1 stride=2x2 pad=0x0 dtype=fp32,1,12845056
  matmul x=1x1000x512 y=1x512x1 dtype=fp32,1,1024000

Equal products of different operations are one entry; a product and its transpose
are one; backward operations count too.

  $ printf '%s\n' 'linear x=4x32 out=16 bias=1 dtype=fp32 *2' 'matmul x=4x32 y=32x16 dtype=fp32' 'matmul x=16x32 y=32x4 dtype=fp32' 'linear x=4x32 out=16 dtype=fp32 phase=backward' 'relu x=3x3 dtype=fp32' > few.ops
  $ foretell ops few.ops --products
  few.ops: convolutions and matrix products inside all operations; a product and its
  transpose are one, biases and layouts are left out
  
  product                               count       FLOPs    share
  ----------------------------------------------------------------
  matmul x=1x16x32 y=1x32x4 dtype=fp32      4  16.4 kFLOP   66.7 %
  matmul x=1x32x16 y=1x16x4 dtype=fp32      1  4.10 kFLOP   16.7 %
  matmul x=1x32x4 y=1x4x16 dtype=fp32       1  4.10 kFLOP   16.7 %
  ----------------------------------------------------------------
  3 different                               6  24.6 kFLOP  100.0 %
  
  all other work: 137 FLOP

A model without any.

  $ echo 'relu x=3x3 dtype=fp32' | foretell ops - --products
  standard input: no convolution and no matrix product
  $ echo 'relu x=3x3 dtype=fp32' | foretell ops - --products --json | pick flops flops_other products
  flops: 0.0
  flops_other: 9.0
  products: []
