  $ foretell ops missing.onnx
  foretell ops: missing.onnx: No such file or directory
  [3]
  $ foretell predict missing.onnx --device a30
  foretell predict: missing.onnx: No such file or directory
  [3]
  $ foretell measure missing.onnx --engine fake
  foretell measure: missing.onnx: No such file or directory
  [3]
  $ foretell collect missing.onnx --engine fake
  foretell collect: missing.onnx: No such file or directory
  [3]
  $ foretell collect --quick --without missing.onnx --engine fake
  foretell collect: missing.onnx: No such file or directory
  [3]
  $ : > empty.onnx
  $ foretell ops empty.onnx
  foretell ops: empty.onnx: the file is empty
  [3]
  $ foretell ops data
  foretell ops: data: a folder without config.json, not a model
  [3]
  $ echo 'this is text' > text.onnx
  $ foretell ops text.onnx
  foretell ops: text.onnx: not a model: no ONNX file, no torch.export archive, no config.json, and line 1 is no operation of a list, such as "relu x=1x8 dtype=fp32"
  [3]
  $ head -c 2000 /dev/zero > zero.onnx
  $ foretell ops zero.onnx
  foretell ops: zero.onnx: not an ONNX model: a field has no valid number (byte 0)
  [3]
  $ head -c 20000 data/models/resnet50.onnx > truncated.onnx
  $ foretell ops truncated.onnx
  foretell ops: truncated.onnx: a damaged ONNX model: the file ends early (byte 27)
  [3]
  $ foretell predict truncated.onnx --device a30
  foretell predict: truncated.onnx: a damaged ONNX model: the file ends early (byte 27)
  [3]
  $ printf 'PK\003\004 and no more' > cut.pt2
  $ foretell ops cut.pt2
  foretell ops: cut.pt2: a damaged zip archive: its directory is not whole
  [3]
  $ python3 -c "import zipfile; zipfile.ZipFile('other.pt2', 'w').writestr('a/b.txt', 'x')"
  $ foretell ops other.pt2
  foretell ops: other.pt2: a zip archive without a model graph (models/*.json): save the model with torch.export.save, or export it to ONNX
  [3]
  $ python3 -c "import zipfile; zipfile.ZipFile('state.pt', 'w').writestr('state/data.pkl', 'x')"
  $ foretell ops state.pt
  foretell ops: state.pt: what torch.save writes: weights or pickled objects without a graph: load it and save it with torch.export.save, or export it to ONNX
  [3]

Text that is no list of operations is no model; a list with a mistake has its line named.

  $ foretell predict data/models/README.md --device t4
  foretell predict: README.md: not a model: no ONNX file, no torch.export archive, no config.json, and line 3 is no operation of a list, such as "relu x=1x8 dtype=fp32"
  [3]
  $ printf 'convv x=1x3x8x8 dtype=fp32\n' | foretell predict - --device t4
  foretell predict: standard input: line 1: unknown operation "convv"; did you mean conv1d, conv2d, conv3d, conv_transpose1d?
  [3]

Kernels are none, and lists of launches no kernels.

  $ foretell predict ptx/nvcc/saxpy.ptx --device a30
  foretell predict: saxpy.ptx: not a model: no ONNX file, no torch.export archive, no config.json, and line 1 is no operation of a list, such as "relu x=1x8 dtype=fp32"; PTX is for foretell ptx
  [3]
  $ foretell ptx pt2/resnet18.pt2
  foretell ptx: pt2/resnet18.pt2: a model, not PTX; models are for foretell predict
  [3]
  $ foretell ptx ptx/nvcc/launches.jsonl
  foretell ptx: ptx/nvcc/launches.jsonl: a list of launches, or a folder that has one, is --launches PATH
  [2]
  $ foretell ptx ptx/nvcc
  foretell ptx: ptx/nvcc: a list of launches, or a folder that has one, is --launches PATH
  [2]
