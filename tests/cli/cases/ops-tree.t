The modules of a model, from a torch.export archive and from the names of ONNX nodes.

  $ foretell ops data/models/resnet50.pt2 --tree --depth 1
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  module        operations       FLOPs  parameters    memory
  ----------------------------------------------------------
  resnet50.pt2         175  8.22 GFLOP      25.6 M   108 MiB
    conv1                1   236 MFLOP      9.41 k   101 MiB
    bn1                  1  1.61 MFLOP         256   104 MiB
    relu                 1   803 kFLOP           0   101 MiB
    maxpool              1  1.81 MFLOP           0   102 MiB
    layer1              32  1.35 GFLOP       219 k   108 MiB
    layer2              42  2.07 GFLOP      1.23 M   106 MiB
    layer3              62  2.94 GFLOP      7.12 M   102 MiB
    layer4              32  1.62 GFLOP      15.0 M   100 MiB
    avgpool              1   100 kFLOP           0  98.7 MiB
    fc                   1  4.10 MFLOP      2.05 M  98.3 MiB
  parameters: at each use; memory: most that is alive while one of their operations runs
  $ foretell ops data/models/resnet18.onnx --tree --depth 2 | grep -A 2 ' layer1'
    layer1               10   927 MFLOP       148 k  47.4 MiB
      0                   5   463 MFLOP      73.9 k  47.4 MiB
      1                   5   463 MFLOP      73.9 k  47.4 MiB

On a device with times and energy; the backward pass and the optimizer belong to the modules whose gradients and weights they are.

  $ foretell ops data/models/resnet50.pt2 --tree --depth 1 --device a30 --mode training --batch 32
  assumed: no dropout: models exported for evaluation have none
  assumed: loss: cross entropy over the 1000 classes of linear
  on a30: 75.6 ms in all, 50.8 ms .. 113 ms
  module        operations     time      low     high   share   energy      low     high       FLOPs  parameters    memory
  ------------------------------------------------------------------------------------------------------------------------
  resnet50.pt2         515  75.5 ms  45.7 ms   128 ms  99.9 %   12.2 J   6.52 J   20.8 J   786 GFLOP      25.6 M  2.70 GiB
    conv1                3  3.74 ms  2.09 ms  6.76 ms   4.9 %   617 mJ   311 mJ   1.12 J  15.1 GFLOP      9.41 k   320 MiB
    bn1                  4  1.55 ms   939 us  2.55 ms   2.0 %   208 mJ   113 mJ   361 mJ   539 MFLOP         256   516 MiB
    relu                 2   647 us   500 us   860 us   0.9 %   107 mJ  69.1 mJ   142 mJ  51.4 MFLOP           0   614 MiB
    maxpool              2  2.08 ms  1.26 ms  3.43 ms   2.8 %   344 mJ   187 mJ   567 mJ  64.2 MFLOP           0   589 MiB
    layer1              94  20.8 ms  13.0 ms  34.2 ms  27.5 %   3.32 J   1.83 J   5.51 J   132 GFLOP       219 k  1.63 GiB
    layer2             123  19.8 ms  12.1 ms  33.3 ms  26.2 %   3.22 J   1.74 J   5.44 J   200 GFLOP      1.23 M  2.22 GiB
    layer3             181  18.9 ms  11.2 ms  32.6 ms  25.0 %   3.06 J   1.62 J   5.33 J   283 GFLOP      7.12 M  2.64 GiB
    layer4              94  7.84 ms  4.52 ms  13.9 ms  10.4 %   1.26 J   649 mJ   2.27 J   156 GFLOP      15.0 M  2.70 GiB
    avgpool              3  46.4 us  31.9 us  73.9 us   0.1 %  7.03 mJ  4.14 mJ  11.8 mJ  6.42 MFLOP           0  2.68 GiB
    fc                   4   137 us  78.3 us   266 us   0.2 %  21.0 mJ  10.4 mJ  42.6 mJ   401 MFLOP      2.05 M  2.67 GiB
  
  time, energy: of the device while it runs their operations; low .. high as if all of them
  erred together; share of the network's time
  parameters: at each use; memory: most that is alive while one of their operations runs
  $ foretell ops data/models/resnet50.pt2 --tree --device a30 --json | pick modules.# modules.5 device
  modules.#: 151
  modules.5: {"path": "layer1", "depth": 1, "operations": 32, "flops": 1350737920.0, "bytes": 124508160.0, "parameters": 218624.0, "memory": 122003008.0, "share": 0.048551645856259, "time": {"value": 0.000219155979566087, "low": 0.000131380903356948, "high": 0.000375796315897606, "unit": "s", "basis": "scaled"}, "energy": {"value": 0.0170164288385996, "low": 0.00745719112205741, "high": 0.0396999444051151, "unit": "J", "basis": "scaled"}}
  device: "a30"
  $ foretell ops data/models/resnet50.pt2 --tree --depth 1 --csv | tail -n 2
  avgpool,1,1,100352,409600,0,103456320,,,,,,
  fc,1,1,4097000,8208192,2049000,103058912,,,,,,
  $ echo 'linear x=1x512 out=1000 dtype=fp32 *3' | foretell ops - --tree
  module          operations       FLOPs  parameters    memory
  ------------------------------------------------------------
  standard input           3  3.07 MFLOP      1.54 M  5.87 MiB
  parameters: at each use; memory: most that is alive while one of their operations runs

  $ foretell ops data/models/resnet50.pt2 --device a30
  foretell ops: --device goes with --tree
  [2]
  $ foretell ops data/models/resnet50.pt2 --tree --device a30 --lower strided
  foretell ops: --lower goes without --device, which says how it runs
  [2]
  $ foretell ops data/models/resnet50.pt2 --tree --graph
  foretell ops: --graph and --tree exclude each other
  [2]
