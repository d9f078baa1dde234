Whether a model fits a device's memory, by how much, and the largest batch that does.

  $ foretell predict data/models/resnet50.onnx --device jetson-tk1 --mode training --batch 32 | grep fits
  fits in the device's 2.00 GiB: yes, 104 MiB to spare
  $ foretell predict data/models/resnet50.onnx --device jetson-tk1 --mode training --batch 128 | grep fits
  fits in the device's 2.00 GiB: no, 3.65 GiB too much
  $ foretell predict data/models/resnet50.onnx --device jetson-tk1 --mode training --max-batch | grep fits
  fits in the device's 2.00 GiB: yes, 1.27 GiB to spare
  largest batch that fits: 34
  $ foretell predict data/models/resnet50.onnx --device jetson-tk1 --max-batch --json | pick fit
  fit: {"fits": true, "limit": 2147483648.0, "spare": 1489731264.0, "max_batch": 146}

The largest batch fits, the next one does not.

  $ ask() { foretell predict data/models/resnet50.onnx --device jetson-tk1 --mode training "$@" --json; }
  > n=$(ask --max-batch | pick fit.max_batch | cut -d ' ' -f 2)
  > ask --batch $n | pick fit.fits; ask --batch $((n + 1)) | pick fit.fits
  fit.fits: true
  fit.fits: false

Several devices beside each other.

  $ foretell predict data/models/vgg16.onnx --device jetson-tk1,a30,h100-sxm --mode training --optimizer adam --batch 64 --max-batch
  vgg16.onnx
  assumed: no dropout: models exported for evaluation have none
  assumed: loss: cross entropy over the 1000 classes of output
  assumed: host of jetson-tk1: launches take 5.3 times those of an x86 server's; --launch-time replaces it
  assumed: training, one step of forward, backward and Adam at a time, fp32
  assumed: memory as PyTorch allocates it, operation by operation
  
  device         time      low     high  energy    memory  fits  largest batch  basis
  ------------------------------------------------------------------------------------
  jetson-tk1   19.4 s   12.1 s   31.4 s       -  6.93 GiB  no                0  scaled
  a30          253 ms   166 ms   387 ms  41.7 J  6.93 GiB  yes             312  scaled
  h100-sxm    55.5 ms  36.6 ms  84.3 ms  36.9 J  6.96 GiB  yes            1123  scaled
  - is not known; asked about one device alone, foretell says why
  

The answer "no" is an exit code where it is asked for.

  $ foretell predict data/models/resnet50.onnx --device jetson-tk1 --mode training --batch 128 --must-fit -q > /dev/null
  [1]
  $ foretell predict data/models/resnet50.onnx --device a30,jetson-tk1 --mode training --batch 128 --must-fit --json > /dev/null
  [1]
  $ foretell predict data/models/resnet50.onnx --device a30 --mode training --batch 128 --must-fit > /dev/null

Batches cannot be tried where the file fixes one, where a list has its own sizes, or
where the memory is not known.

  $ foretell predict models/unknown-op.onnx --device a30 --max-batch
  foretell predict: --max-batch asks at several batches: unknown-op.onnx: the file fixes its batch, and node bad?[31mname (generic) goes with no other: export it with an open batch
  [2]
  $ echo 'relu x=1x8 dtype=fp32' > one.ops
  $ foretell predict one.ops --device a30 --max-batch
  foretell predict: --max-batch asks at several batches: one.ops: a list of operations has its sizes in its lines: --batch, --dim and --input do not apply
  [2]
  $ foretell predict data/models/resnet50.onnx --input 2x3x224x224 --device a30 --max-batch
  foretell predict: --max-batch asks at several batches: resnet50.onnx: --input 2x3x224x224 contradicts --batch 1
  [2]
  $ foretell predict models/sequence.onnx --dim seq=128 --device a30 --max-batch | grep largest
  largest batch that fits: 59214
  $ mkdir -p d/devices && grep -v memory_bytes data/devices/a30.yaml | grep -v '^memory' > d/devices/bare.yaml
  $ foretell predict data/models/resnet50.onnx --device bare --data-dir d --must-fit
  foretell predict: --must-fit: the memory of bare is not known
  [4]
  $ foretell predict data/models/resnet50.onnx --device bare --data-dir d --max-batch
  foretell predict: --max-batch: the memory of bare is not known
  [4]
  $ foretell predict data/models/resnet50.onnx --device bare --data-dir d --json | pick fit
  fit: null

Memory is what the driver reports, less than is soldered on where some of it holds error correction.

  $ foretell predict data/models/resnet50.onnx --device t4 | grep fits
  fits in the device's 15.0 GiB: yes, 14.4 GiB to spare
  $ foretell predict data/models/resnet50.onnx --device l4 | grep fits
  fits in the device's 22.5 GiB: yes, 21.9 GiB to spare
