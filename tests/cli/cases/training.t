A training step is derived from a forward graph: loss, backward pass, optimizer.

  $ foretell ops data/models/resnet18.onnx --mode training --batch 32 --top 8
  warning: 20 convolutions of resnet18.onnx hold norms that its exporter folded into them for inference: with its norms the network trains in more memory and time than this graph; tools/export-pt2 MODULE:FUNCTION --training --input SIZES -o FILE.pt2 exports them
  assumed: no dropout: models exported for evaluation have none
  assumed: loss: cross entropy over the 1000 classes of output
  resnet18.onnx: one step of forward, backward and SGD; a multiply-accumulate is 2 FLOPs
  
  operation                                                                                     count     GFLOP  MiB read  MiB written  phase
  ----------------------------------------------------------------------------------------------------------------------------------------------
  conv2d x=32x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32                       4   29.6207     98.56        98.00  forward
  add x=32x64x56x56 y=32x64x56x56 dtype=fp32                                                        5    0.0321    245.00       122.50  forward
  conv2d x=32x128x28x28 out=128 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32                     3   22.2059     38.44        36.75  forward
  conv2d x=32x512x7x7 out=512 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32                       3   22.1987     36.19         9.19  forward
  conv2d x=32x512x7x7 out=512 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32 phase=backward        3   44.3949     45.38        36.19  backward
  conv2d x=32x256x14x14 out=256 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32 phase=backward      3   44.3973     43.50        25.13  backward
  conv2d x=32x128x28x28 out=128 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32 phase=backward      3   44.4021     75.19        38.44  backward
  conv2d x=32x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32 phase=backward        4   59.2157    196.56        98.56  backward
  57 others, lighter (--top 65 lists all)                                                         116   74.7551   1669.17      1073.32
  ----------------------------------------------------------------------------------------------------------------------------------------------
  65 unique                                                                                       144  341.2225   2448.00      1538.08
  
  phase      operations     GFLOP  MiB read  MiB written
  ------------------------------------------------------
  forward            50  116.3369    877.76       701.50
  backward           52  224.8389   1481.10       792.01
  optimizer          42    0.0467     89.15        44.57
  
  memory at its peak: 455 MiB = weights 44.6 MiB + inputs 18.4 MiB + gradients 34.0 MiB + saved 343 MiB + activations 15.4 MiB
  $ foretell ops data/models/resnet18.onnx --mode training --batch 32 --optimizer adamw --json | pick mode step assumptions phases.# phases.2 memory.state memory.weights
  mode: "training"
  step: "one step of forward, backward and AdamW"
  assumptions: ["no dropout: models exported for evaluation have none", "loss: cross entropy over the 1000 classes of output"]
  phases.#: 3
  phases.2: {"phase": "optimizer", "operations": 42, "flops": 163585968.0, "bytes_read": 186955392.0, "bytes_written": 140216544.0}
  memory.state: 93477696
  memory.weights: 46738852
  $ foretell ops data/models/resnet18.onnx --mode training --products --top 5
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: no dropout: models exported for evaluation have none
  assumed: loss: cross entropy over the 1000 classes of output
  resnet18.onnx: convolutions and matrix products inside all operations; a product and its
  transpose are one, biases and layouts are left out
  
  product                                                                                     count       FLOPs    share
  ----------------------------------------------------------------------------------------------------------------------
  conv2d x=1x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32                             4   925 MFLOP    8.7 %
  conv2d x=1x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32 phase=backward wrt=w        4   925 MFLOP    8.7 %
  conv2d x=1x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32 phase=backward wrt=x        4   925 MFLOP    8.7 %
  conv2d x=1x128x28x28 out=128 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32                           3   694 MFLOP    6.5 %
  conv2d x=1x128x28x28 out=128 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32 phase=backward wrt=w      3   694 MFLOP    6.5 %
  30 others (--top 35 lists all)                                                                 44  6.49 GFLOP   60.9 %
  ----------------------------------------------------------------------------------------------------------------------
  35 different                                                                                   62  10.6 GFLOP  100.0 %
  
  all other work: 60.1 MFLOP
  $ foretell ops data/models/resnet18.onnx --mode training --optimizer none --graph | grep -A 7 '^backward'
  backward
      50  fill out=1 dtype=fp32
           loss
           out  loss  fp32 scalar, gradient
      51  cross_entropy x=1x1000 axis=1 dtype=fp32 phase=backward
           loss
           in   loss  fp32 scalar, gradient
                loss  fp32 1x1000
  $ foretell ops data/models/resnet18.onnx --mode training --csv | grep optimizer | head -3
  sgd x=64x3x7x7 dtype=fp32 phase=optimizer,1,37632,75264,37632,0
  sgd x=64 dtype=fp32 phase=optimizer,5,1280,2560,1280,0
  sgd x=64x64x3x3 dtype=fp32 phase=optimizer,4,589824,1179648,589824,0
  $ foretell ops models/sequence.onnx --input 4x128x64 --mode training --loss mse --dot
  digraph "sequence.onnx" {
    node [shape=box, style=filled, fontname="sans-serif", fontsize=10];
    edge [fontname="sans-serif", fontsize=8];
    label="double border: kept for the backward pass"; fontname="sans-serif";
    subgraph cluster_forward {
      label="forward"; color="#999999";
      n0 [label="linear\n4x128x256", fillcolor="#d9d2e9", tooltip="project"];
      n1 [label="softmax\n4x128x256", fillcolor="#d9ead3", peripheries=2, tooltip="z"];
      n2 [label="mse_loss\nscalar", fillcolor="#fff2cc", tooltip="loss"];
    }
    subgraph cluster_backward {
      label="backward"; color="#999999";
      n3 [label="fill\nscalar", fillcolor="#f3f3f3", tooltip="loss"];
      n4 [label="mse_loss\n4x128x256", fillcolor="#fff2cc", tooltip="loss"];
      n5 [label="softmax\n4x128x256", fillcolor="#d9ead3", tooltip="z"];
      n6 [label="linear\n64x256", fillcolor="#d9d2e9", tooltip="project"];
    }
    subgraph cluster_optimizer {
      label="optimizer"; color="#999999";
      optimizer [label="sgd, 1 time", fillcolor="#f4cccc"];
    }
    n6 -> optimizer [label=" gradients 64.0 KiB"];
    t0 [shape=ellipse, peripheries=2, label="x\nfp32 4x128x64"];
    o3 [shape=ellipse, label="z\nfp32 4x128x256"];
    n1 -> o3 [label=" 512 KiB"];
    t4 [shape=ellipse, peripheries=2, label="target\nfp32 4x128x256"];
    o5 [shape=ellipse, label="loss\nfp32 scalar"];
    n2 -> o5 [label=" 4.00 B"];
    t0 -> n0 [label=" 128 KiB"];
    n0 -> n1 [label=" 512 KiB"];
    n1 -> n2 [label=" 512 KiB"];
    t4 -> n2 [label=" 512 KiB"];
    n3 -> n4 [label=" 4.00 B"];
    n4 -> n5 [label=" 512 KiB"];
    n5 -> n6 [label=" 512 KiB"];
  }
  $ foretell ops models/sequence.onnx --input 4x128x64 --mode training --loss mse --graph
  assumed: no dropout: models exported for evaluation have none
  assumed: loss: mean square error of z
  sequence.onnx: 8 nodes in the order in which they run
  input   x  fp32 4x128x64
  input   target  fp32 4x128x256
  output  z  fp32 4x128x256
  output  loss  fp32 scalar
  
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
       2  mse_loss x=4x128x256 y=4x128x256 dtype=fp32
           loss
           in   z  fp32 4x128x256
                target  fp32 4x128x256
           out  loss  fp32 scalar
  
  backward
       3  fill out=1 dtype=fp32
           loss
           out  loss  fp32 scalar, gradient
       4  mse_loss x=4x128x256 y=4x128x256 dtype=fp32 phase=backward wrt=x
           loss
           in   loss  fp32 scalar, gradient
                z  fp32 4x128x256
                target  fp32 4x128x256
           out  loss  fp32 4x128x256, gradient
       5  softmax x=4x128x256 axis=2 dtype=fp32 phase=backward
           z
           in   loss  fp32 4x128x256, gradient
                z  fp32 4x128x256
           out  z  fp32 4x128x256, gradient
       6  linear x=4x128x64 out=256 dtype=fp32 phase=backward wrt=w
           project
           in   z  fp32 4x128x256, gradient
                x  fp32 4x128x64
           with w  fp32 64x256
           out  project  fp32 64x256, gradient
  
  optimizer
       7  sgd x=64x256 dtype=fp32 phase=optimizer
           w
           in   w  fp32 64x256
                project  fp32 64x256, gradient
           out  w  fp32 64x256, a view of w
  $ foretell ops --diff data/models/resnet18.onnx data/models/resnet18.onnx --mode training | tail -2
  
  no difference: A and B run the same operations, equally often

A graph that takes less than its call has its phase, too.
  $ echo 'relu x=1x64 dtype=fp16' | foretell predict - --device a100-sxm-80gb --run-mode graph --json | pick phases.0.phase
  phases.0.phase: "forward"

A list of operations has its phases in its lines.

  $ printf '%s\n' 'linear x=8x64 out=32 dtype=fp32' 'linear x=8x64 out=32 dtype=fp32 phase=backward' 'sgd x=64x32 dtype=fp32 phase=optimizer' > step.ops
  $ foretell ops step.ops
  step.ops: one step as the file has it; a multiply-accumulate is 2 FLOPs
  
  operation                                       count   GFLOP  MiB read  MiB written  phase
  -----------------------------------------------------------------------------------------------
  linear x=8x64 out=32 dtype=fp32                     1  0.0000      0.01         0.00  forward
  linear x=8x64 out=32 dtype=fp32 phase=backward      1  0.0001      0.01         0.01  backward
  sgd x=64x32 dtype=fp32 phase=optimizer              1  0.0000      0.02         0.01  optimizer
  -----------------------------------------------------------------------------------------------
  3 unique                                            3  0.0001      0.04         0.02
  
  phase      operations   GFLOP  MiB read  MiB written
  ----------------------------------------------------
  forward             1  0.0000      0.01         0.00
  backward            1  0.0001      0.01         0.01
  optimizer           1  0.0000      0.02         0.01
  
  memory at its peak: 32.0 KiB = weights 16.0 KiB + activations 16.0 KiB
  $ foretell predict step.ops --device a30 --json | pick mode step phases.1.phase phases.#
  mode: "training"
  step: "one step as the file has it"
  phases.1.phase: "backward"
  phases.#: 3
  $ foretell measure step.ops --engine fake
  foretell measure: step.ops holds a backward pass, and fake runs forward passes only; --engine torch runs both
  [4]

The rules of thumb of others, for comparison.

  $ foretell ops data/models/resnet18.onnx --mode training -v | tail -1
  rough rules of others, for comparison: the two largest layers 54.0 MiB, twice the mean layer 5.47 MiB
  $ foretell ops data/models/resnet18.onnx -v | tail -3
  memory at its peak: 51.3 MiB = weights 44.6 MiB + inputs 588 KiB + activations 6.12 MiB
  activations and inputs at planned offsets: 6.70 MiB
  rough rules of others, for comparison: the two largest layers 18.4 MiB, twice the mean layer 3.86 MiB

Foretold for a device: by phase, and memory by part.

  $ foretell predict data/models/resnet18.onnx --device a30 --mode training --batch 32 --optimizer momentum --top 3
  resnet18.onnx on a30: NVIDIA A30
  warning: 20 convolutions of resnet18.onnx hold norms that its exporter folded into them for inference: with its norms the network trains in more memory and time than this graph; tools/export-pt2 MODULE:FUNCTION --training --input SIZES -o FILE.pt2 exports them
  assumed: no dropout: models exported for evaluation have none
  assumed: loss: cross entropy over the 1000 classes of output
  assumed: training, one step of forward, backward and SGD with momentum at a time, fp32
  assumed: memory as PyTorch allocates it, operation by operation
  
  of one step          estimate      low      high  basis
  --------------------------------------------------------
  time                  23.4 ms  15.4 ms   35.9 ms  scaled
    forward             7.31 ms  4.79 ms   11.2 ms  scaled
    backward            15.8 ms  10.4 ms   24.2 ms  scaled
    optimizer            287 us   188 us    439 us  scaled
  energy                 3.85 J   2.23 J    6.69 J  scaled
  power                   164 W    116 W     165 W  scaled
  peak memory          1020 MiB  717 MiB  2.10 GiB  scaled
    weights            44.6 MiB
    inputs             18.4 MiB
    gradients          34.0 MiB
    optimizer state    44.6 MiB
    saved activations   343 MiB
    other activations  15.4 MiB
    workspace          8.12 MiB
    process             512 MiB
  fits in the device's 24.0 GiB: yes, 23.0 GiB to spare
  the host issues everything in 3.43 ms, the device executes it in 23.4 ms: the device sets the time
  learned from several devices, a30 not among them: SOURCE/data/predictors/nvidia-fp32.ftp
  low .. high is a 90 % interval; 69 unique operations: 0 measured, 0 learned, 66 scaled, 0 roofline, the others take no time
  
  operation                                                                                          phase     count   share    total     each      low     high  basis
  ----------------------------------------------------------------------------------------------------------------------------------------------------------------------
  conv2d x=32x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32 phase=backward         backward      4  13.0 %  3.06 ms   764 us   399 us  1.46 ms  scaled
  conv2d x=32x3x224x224 out=64 kernel=7x7 stride=2x2 pad=3x3 bias=1 dtype=fp32 phase=backward wrt=w  backward      1  12.3 %  2.87 ms  2.87 ms  1.50 ms  5.50 ms  scaled
  conv2d x=32x128x28x28 out=128 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32 phase=backward       backward      3   7.6 %  1.78 ms   594 us   310 us  1.14 ms  scaled
  
  verify on that device: foretell measure data/models/resnet18.onnx --engine torch,device=cuda --mode training --optimizer momentum --batch 32
  $ for o in --channels-last ""; do foretell predict data/models/resnet50.pt2 --device a30 --mode training --batch 64 --dtype amp-fp16 $o --top 1000 -q | grep -E '^(conv|batchnorm|maxpool)' | grep 'layout=channels_last' | wc -l; done
  72
  0
  $ echo 'relu x=1x8x8x8' | foretell predict - --device a30 --channels-last
  foretell predict: --channels-last: a list of operations says layout=channels_last in its lines
  [2]
  $ foretell predict data/models/bert-6.onnx --device a30 --channels-last
  foretell predict: --channels-last: no input of bert-6.onnx is of images with several channels
  [2]
  $ foretell predict data/models/resnet18.onnx --device t4 --channels-last -q | grep -e channels-last -e collect
  assumed: images lie channels-last (--channels-last)
  to verify it: no command of foretell measures images channels-last
  $ foretell predict data/models/resnet18.onnx --device t4 --channels-last --json | pick assumptions verify
  assumptions: ["batch 1 (the model leaves it open; --batch N sets it)", "images lie channels-last (--channels-last)"]
  verify: null
  $ echo 'adamw x=64x64 weights=int8 dtype=fp32 phase=optimizer' | foretell predict - --device a30 -q | tail -1
  to verify it: no engine of foretell has optimizers with states of 8 bits
  $ foretell predict data/models/resnet18.onnx --device a30 --mode training --optimizer adamw8bit -q | tail -1
  to verify it: no engine of foretell has optimizers with states of 8 bits
  $ foretell predict data/models/resnet18.onnx --device a30 --mode training --batch 32 --json | pick mode step batch phases.# phases.1.phase phases.1.time.basis memory.weights memory.gradients memory.counted_as memory.workspace fit.fits verify
  mode: "training"
  step: "one step of forward, backward and SGD"
  batch: 32
  phases.#: 3
  phases.1.phase: "backward"
  phases.1.time.basis: "scaled"
  memory.weights: 46738852.0
  memory.gradients: 35616672.0
  memory.counted_as: "allocated"
  memory.workspace: 8519680.0
  fit.fits: true
  verify: "foretell measure data/models/resnet18.onnx --engine torch,device=cuda --mode training --batch 32"

Forward measurements do not answer for the backward pass, and the answer says so.

  $ foretell collect data/models/resnet18.onnx --engine fake -q > /dev/null && foretell train --engine fake -q > /dev/null
  $ foretell predict data/models/resnet18.onnx --engine fake --mode training --top 1 | grep -v unavailable: | blur
  resnet18.onnx on local: THIS-MACHINE; fake 1, threads=1
  warning: 20 convolutions of resnet18.onnx hold norms that its exporter folded into them for inference: with its norms the network trains in more memory and time than this graph; tools/export-pt2 MODULE:FUNCTION --training --input SIZES -o FILE.pt2 exports them
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: no dropout: models exported for evaluation have none
  assumed: loss: cross entropy over the 1000 classes of output
  assumed: training, one step of forward, backward and SGD at a time, fp32
  assumed: memory as PyTorch allocates it, operation by operation
  
  of one step  estimate  low  high  basis
  ----
  time  304 ms  276 ms  524 ms  roofline
    forward  122 ms  111 ms  211 ms  measured
    backward  166 ms  151 ms  286 ms  roofline
    optimizer  15.8 ms  14.4 ms  27.3 ms  roofline
  energy  -  -  -  unavailable
  power  -  -  -  unavailable
  peak memory  # B  # B  # B  roofline
    weights  # B
    inputs  # B
    gradients  # B
    saved activations  # B
    other activations  # B
    workspace  # B
    process  # B
  fits in the device's # B: yes, # B to spare
  low .. high is a 90 % interval; 66 unique operations: 23 measured, 0 learned, 4 scaled, 36 roofline, the others take no time
  
  operation  phase  count  share  total  each  low  high  basis
  ----
  conv2d x=1x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32 phase=backward layout=channels_last  backward  4  13.9 %  42.2 ms  10.6 ms  10.6 ms  106 ms  roofline
  
  warning: 4 of 66 unique operations lie outside of what the predictor has seen
  warning: 36 of 66 unique operations belong to backward pass and optimizer, which were not measured: their times are rooflines, lower bounds
  to verify it takes an engine that runs training steps: --engine torch
  $ foretell predict data/models/resnet18.onnx --engine fake --mode training --json | pick phases.0.phase phases.0.time.basis phases.1.phase phases.1.time.basis phases.2.time.basis warnings
  phases.0.phase: "forward"
  phases.0.time.basis: "measured"
  phases.1.phase: "backward"
  phases.1.time.basis: "roofline"
  phases.2.time.basis: "roofline"
  warnings: ["20 convolutions of resnet18.onnx hold norms that its exporter folded into them for inference: with its norms the network trains in more memory and time than this graph; tools/export-pt2 MODULE:FUNCTION --training --input SIZES -o FILE.pt2 exports them", "4 of 66 unique operations lie outside of what the predictor has seen", "36 of 66 unique operations belong to backward pass and optimizer, which were not measured: their times are rooflines, lower bounds"]
  $ foretell predict data/models/resnet18.onnx --engine fake --channels-last
  foretell predict: --channels-last is of PyTorch: the predictor is of an engine that lays images itself
  [2]
  $ foretell predict data/models/resnet18.onnx --engine fake --mode inference --json | pick mode phases.# phases.0.time.basis memory.counted_as
  mode: "inference"
  phases.#: 1
  phases.0.time.basis: "measured"
  memory.counted_as: "planned"

What cannot be.

  $ foretell ops data/models/resnet18.onnx --mode train
  foretell ops: --mode is inference or training, not "train"
  [2]
  $ foretell ops data/models/resnet18.onnx --mode training --optimizer sdg
  foretell ops: --optimizer is none, sgd, momentum, adam, adamw or adamw8bit, not "sdg"
  [2]
  $ foretell ops data/models/resnet18.onnx --mode training --loss l1
  foretell ops: --loss is auto, none, cross_entropy or mse, not "l1"
  [2]
  $ foretell ops data/models/resnet18.onnx --mode training --loss-on last
  foretell ops: --loss-on is first or all, not "last"
  [2]
  $ foretell ops data/models/resnet18.onnx --loss-on all
  foretell ops: --loss-on goes with --mode training
  [2]
  $ foretell ops data/models/resnet18.onnx --optimizer sgd
  foretell ops: --optimizer goes with --mode training
  [2]
  $ foretell predict data/models/resnet18.onnx --loss mse --mode inference
  foretell predict: --loss goes with --mode training
  [2]
  $ foretell ops models/unknown-op.onnx --mode training
  foretell ops: unknown-op.onnx has nothing to train: no layer has floating-point weights
  [2]
  $ printf '%s\n' 'linear x=8x64 out=32 dtype=fp32' 'relu x=8x32 dtype=fp32' | foretell ops - --mode training
  foretell ops: standard input: a list does not say how its operations are connected: write the backward ones as lines with phase=backward
  [2]

Norms that an exporter folded into convolutions are said first; the archive of the same network has them.

  $ foretell predict data/models/resnet50.onnx --device a30,t4 --mode training --batch 64 | grep warning: | cut -d : -f 1,2
  warning: 53 convolutions of resnet50.onnx hold norms that its exporter folded into them for inference
  warning: 111 of 119 unique operations lie outside of what the predictor has seen; measured there, by foretell collect data/models/resnet50.onnx --engine torch,device=cuda --mode training --batch 64 --db few.db, they correct it
  $ foretell predict data/models/resnet50.pt2 --device a30 --mode training --batch 64 --max-batch | grep -e warning: -e 'peak memory' -e largest
  peak memory          5.78 GiB  5.34 GiB  7.84 GiB  scaled
  largest batch that fits: 289
  $ foretell ops data/models/resnet50.onnx --mode training --json | pick warnings.#
  warnings.#: 1
  $ foretell ops data/models/resnet50.pt2 --mode training --json | pick warnings
  warnings: []

Mixed precision keeps weights, gradients and the optimizer's state in fp32 and casts the weights of each pass; `--precision` is `--dtype`.

  $ foretell ops data/models/resnet18.onnx --mode training --optimizer adam --dtype amp-bf16 --top 12
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: mixed precision as by torch.autocast: products and convolutions in bf16, norms, softmax and losses in fp32, weights in fp32 and cast once in every pass
  assumed: no dropout: models exported for evaluation have none
  assumed: loss: cross entropy over the 1000 classes of output
  resnet18.onnx: one step of forward, backward and Adam; a multiply-accumulate is 2 FLOPs
  
  operation                                                                                    count    GFLOP  MiB read  MiB written  phase
  ---------------------------------------------------------------------------------------------------------------------------------------------
  conv2d x=1x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=bf16                       4   0.9256      1.81         1.53  forward
  conv2d x=1x128x28x28 out=128 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=bf16                     3   0.6939      1.42         0.57  forward
  conv2d x=1x256x14x14 out=256 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=bf16                     3   0.6938      3.66         0.29  forward
  cast x=512x512x3x3 to=bf16 dtype=fp32                                                            3   0.0071     27.00        13.50  forward
  conv2d x=1x512x7x7 out=512 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=bf16                       3   0.6937     13.65         0.14  forward
  conv2d x=1x512x7x7 out=512 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=bf16 phase=backward        3   1.3873     13.79        13.65  backward
  cast x=512x512x3x3 to=fp32 dtype=bf16                                                            3   0.0071     13.50        27.00  forward
  conv2d x=1x256x14x14 out=256 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=bf16 phase=backward      3   1.3874      3.95         3.66  backward
  conv2d x=1x128x28x28 out=128 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=bf16 phase=backward      3   1.3876      1.99         1.42  backward
  conv2d x=1x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=bf16 phase=backward        4   1.8505      3.34         1.81  backward
  adam x=256x256x3x3 dtype=fp32 phase=optimizer                                                    3   0.0248     27.00        20.25  optimizer
  adam x=512x512x3x3 dtype=fp32 phase=optimizer                                                    3   0.0991    108.00        81.00  optimizer
  88 others, lighter (--top 100 lists all)                                                       191   1.6909    107.40        80.97
  ---------------------------------------------------------------------------------------------------------------------------------------------
  100 unique                                                                                     229  10.8488    326.52       245.80
  
  phase      operations   GFLOP  MiB read  MiB written
  ----------------------------------------------------
  forward            93  3.6474     80.46        33.53
  backward           94  7.0379     67.77        78.54
  optimizer          42  0.1636    178.29       133.72
  
  memory at its peak: 185 MiB = weights 44.6 MiB + inputs 588 KiB + gradients 43.7 MiB + state 89.1 MiB + saved 5.70 MiB + activations 1.10 MiB
  $ foretell predict data/models/resnet18.onnx --device a30 --mode training --precision amp-fp16 --json | pick dtype
  dtype: "amp-fp16"
