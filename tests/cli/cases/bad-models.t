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
  foretell ops: data: a directory, not a model
  [3]
  $ echo 'this is text' > text.onnx
  $ foretell ops text.onnx
  foretell ops: text.onnx: line 1: unknown operation "this"
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
