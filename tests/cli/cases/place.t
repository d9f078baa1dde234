One network over two devices, by what is predicted of every part.

  $ foretell place data/models/resnet50.onnx --batch 64 --devices t4,l4 --link 10GB/s --by period --method physics
  resnet50.onnx: the least time from pass to pass, of all ways to cut its 122 nodes
  
  device  nodes  from                to                      time  energy   memory    sends       in
  --------------------------------------------------------------------------------------------------
  t4         26  conv1/Conv          layer2.0.conv1/Conv  61.3 ms  4.29 J  626 MiB  294 MiB  30.8 ms
  l4         96  layer2.0.relu/Relu  fc/Gemm              59.3 ms  3.81 J  525 MiB        -        -
  
  one pass takes 151 ms and 8.10 J; passes that follow each other take 61.3 ms each
  alone on t4: 188 ms, 13.2 J
  alone on l4: 104 ms, 6.58 J
  $ foretell place data/models/resnet50.onnx --batch 64 --devices t4,l4 --link 10GB/s --by period --method physics --json | pick period_s parts.0.nodes parts.1.nodes parts.0.sent_bytes alone.1.time_s
  period_s: 0.0613213241494073
  parts.0.nodes: 26
  parts.1.nodes: 96
  parts.0.sent_bytes: 308281344.0
  alone.1.time_s: 0.104459116063959
  $ foretell place data/models/resnet50.onnx --devices jetson-tx2,a30 --link 1Gbit/s --latency 1ms | tail -4
  
  one pass takes 3.09 ms and 215 mJ; passes that follow each other take 3.09 ms each
  alone on jetson-tx2: 24.9 ms, 370 mJ
  alone on a30: 3.09 ms, 215 mJ
  $ foretell place data/models/vgg16.onnx --mode training --optimizer adam --batch 32 --devices jetson-tk1,t4 --link 16GB/s | tail -3
  one pass takes 462 ms and 32.3 J; passes that follow each other take 462 ms each
  alone on jetson-tk1: 10.1 s, energy not known; it does not fit there
  alone on t4: 462 ms, 32.3 J

Several networks on several devices.

  $ foretell place data/models/resnet50.onnx data/models/vgg16.onnx data/models/vit_b_16.onnx data/models/mobilenet_v2.onnx --devices l4,t4,a30 --method physics
  4 networks on 3 devices: the least time until all are done
  
  network            device     time  energy    memory
  ----------------------------------------------------
  resnet50.onnx      a30     3.09 ms  217 mJ   627 MiB
  vgg16.onnx         a30     2.66 ms  430 mJ  1.05 GiB
  vit_b_16.onnx      l4      6.38 ms  391 mJ   856 MiB
  mobilenet_v2.onnx  t4      2.57 ms  101 mJ   543 MiB
  
  all are done after 6.38 ms and have taken 1.14 J; no other way is better
  $ foretell place data/models/resnet50.onnx data/models/vgg16.onnx --devices l4,t4 --by energy --limit 20ms --json | pick by exact networks.0.device networks.1.device
  by: "energy"
  exact: true
  networks.0.device: "l4"
  networks.1.device: "l4"

A device of which too little is known for a network does without it.

  $ foretell place data/models/resnet50.onnx data/models/vgg16.onnx --devices iphone-6,l4 --method physics
  2 networks on 2 devices: the least time until all are done
  
  network        device     time  energy    memory
  ------------------------------------------------
  resnet50.onnx  l4      3.09 ms  136 mJ   627 MiB
  vgg16.onnx     l4      4.05 ms  287 mJ  1.05 GiB
  
  all are done after 7.14 ms and have taken 423 mJ; no other way is better
  left out for resnet50.onnx: iphone-6: its file does not say "peak_fp32", which an estimate needs
  left out for vgg16.onnx: iphone-6: its file does not say "peak_fp32", which an estimate needs
  $ foretell place data/models/resnet50.onnx data/models/vgg16.onnx --devices iphone-6,l4 --method physics --json | pick left_out.1.device left_out.1.why networks.1.device
  left_out.1.device: "iphone-6"
  left_out.1.why: "iphone-6: its file does not say \"peak_fp32\", which an estimate needs"
  networks.1.device: "l4"
  $ foretell place data/models/resnet50.onnx data/models/vgg16.onnx --devices iphone-6
  foretell place: iphone-6: its file does not say "peak_fp32", which an estimate needs
  [4]

No way is an answer.

  $ foretell place data/models/resnet50.onnx data/models/vgg16.onnx --devices l4 --limit 1ms
  foretell place: there is no way to place them all within the limits
  [1]
  $ foretell place data/models/vgg16.onnx --mode training --batch 128 --devices jetson-tk1,jetson-tk1 --link 1GB/s
  foretell place: no split fits the devices' memory
  [1]

Mistakes.

  $ foretell place data/models/resnet50.onnx --devices t4,l4
  foretell place: one network is cut over the devices: --link says what joins them, such as --link 16GB/s
  [2]
  $ foretell place data/models/resnet50.onnx --link 16GB/s
  foretell place: --devices is missing: two or more that foretell devices lists
  [2]
  $ foretell place data/models/resnet50.onnx --devices t4,l4 --link fast
  foretell place: --link fast: it wants a rate such as 16GB/s or 10Gbit/s
  [2]
  $ foretell place data/models/resnet50.onnx --devices t4,local --link 16GB/s
  foretell place: local: networks are placed by families of devices and data sheets, and it has neither
  [2]
  $ foretell place data/models/resnet50.onnx --devices t4,,l4 --link 16GB/s
  foretell place: --devices wants 1 to 8 names joined by commas, not "t4,,l4"
  [2]
  $ foretell place data/models/resnet50.onnx data/models/vgg16.onnx --devices t4,l4 --link 16GB/s
  foretell place: --link is for one network that is cut; several run whole
  [2]
  $ foretell place data/models/resnet50.onnx data/models/vgg16.onnx --devices t4,l4 --by speed
  foretell place: --by speed: it is one of time, period, energy
  [2]
  $ foretell place data/models/resnet50.onnx --devices t4,l4 --link 16GB/s --method roofline
  foretell place: --method is physics, or left out
  [2]

What nobody can foretell is none.

  $ foretell place data/models/resnet50.onnx --devices t4,l4 --link 16GB/s --method physics --clock 9GHz
  foretell place: t4: its highest clock is 1590 MHz
  [2]
  $ foretell place data/models/resnet50.onnx data/models/vgg16.onnx --devices t4,l4 --method physics --clock 9GHz
  foretell place: l4: its highest clock is 2040 MHz
  [2]
