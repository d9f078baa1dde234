A device that has only a file gets the roofline, with the words that it is a
lower bound.

  $ foretell predict data/models/resnet50.onnx --device a30 --top 2
  resnet50.onnx on a30: NVIDIA A30
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: inference, one forward pass at a time, fp32
  assumed: memory as PyTorch allocates it, operation by operation
  
  of one pass    estimate      low     high  basis
  -------------------------------------------------
  time            3.14 ms  1.91 ms  5.18 ms  scaled
  energy           154 mJ  93.4 mJ   254 mJ  scaled
  power            49.0 W   34.5 W   69.5 W  scaled
  peak memory     107 MiB  104 MiB  113 MiB  scaled
    weights      97.4 MiB
    inputs        588 KiB
    activations  9.19 MiB
    workspace           -
    process             -
  fits in the device's 24.0 GiB: yes, 23.9 GiB to spare, driver and framework not counted
  the host issues everything in 3.14 ms, the device executes it in 1.13 ms: the host sets the time
  Nothing was measured on this device: scaled from its data sheet by what operations do on
  others; low .. high is a 90 % interval.
  
  operation                                                                      count  share    total     each      low     high  basis
  ---------------------------------------------------------------------------------------------------------------------------------------
  conv2d x=1x256x14x14 out=256 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32       5  3.0 %  95.7 us  19.1 us  7.78 us  47.1 us  scaled
  conv2d x=1x256x14x14 out=1024 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32      6  2.1 %  66.9 us  11.1 us  4.53 us  27.4 us  scaled
  
  verify on that device: foretell measure data/models/resnet50.onnx --engine onednn

PALEO adds reading, computing and writing up: neither a bound nor an interval.

  $ foretell predict data/models/resnet50.onnx --device a30 --method paleo --top 1
  resnet50.onnx on a30: NVIDIA A30
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: inference, one forward pass at a time, fp32
  assumed: memory as PyTorch allocates it, operation by operation
  
  of one pass    estimate      low     high  basis
  ------------------------------------------------------
  time            1.16 ms        -        -  analytic
  energy                -        -        -  unavailable
  power                 -        -        -  unavailable
  peak memory     107 MiB  104 MiB  113 MiB  analytic
    weights      97.4 MiB
    inputs        588 KiB
    activations  9.19 MiB
    workspace           -
    process             -
  fits in the device's 24.0 GiB: yes, 23.9 GiB to spare, driver and framework not counted
  energy and power are unavailable: a data sheet alone does not say what operations draw
  PALEO: the device's data sheet alone was used, as if every operation reached its peak rate;
  how far real times are from it is not known.
  
  operation                                                                     count   share   total     each
  ------------------------------------------------------------------------------------------------------------
  conv2d x=1x256x14x14 out=256 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32      5  11.0 %  127 us  25.4 us
  
  verify on that device: foretell measure data/models/resnet50.onnx --engine onednn
  $ foretell predict data/models/resnet50.onnx --method paleo
  foretell predict: --method paleo needs a data sheet: --device with a name that foretell devices lists
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --method habitat
  foretell predict: --method wants physics, roofline or paleo, not "habitat"
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --method paleo --predictor p.ftp
  foretell predict: --method paleo uses no predictor: leave --predictor out
  [2]

  $ foretell predict models/sequence.onnx --device a30
  foretell predict: sequence.onnx: dimension "seq" of input "x" is open: add --dim seq=N
  [2]
  $ foretell predict models/sequence.onnx --device a30 --dim seq=64 | tail -1
  verify on that device: foretell measure models/sequence.onnx --engine onednn --dim seq=64

What is missing is named, with the way to get it.

  $ foretell predict data/models/resnet50.onnx --device nosuch 2>&1 | cut -c 1-60
  foretell predict: no device "nosuch"; there are a10, a100-pc
  $ foretell predict data/models/resnet50.onnx --device nosuch 2>/dev/null
  [4]
  $ foretell predict data/models/resnet50.onnx --device local
  foretell predict: there is no predictor for this machine yet (HOME/.local/share/foretell/local-onednn.ftp); two commands make one:
    foretell collect --quick --engine onednn
    foretell train --engine onednn
  [4]
  $ foretell predict data/models/resnet50.onnx --threads 4
  foretell predict: there is no predictor for this machine yet (HOME/.local/share/foretell/local-onednn-4-threads.ftp); two commands make one:
    foretell collect --quick --engine onednn --threads 4
    foretell train --engine onednn --threads 4
  [4]
  $ foretell predict data/models/resnet50.onnx --device a30,
  foretell predict: --device wants names joined by commas, at most 256 answers in all, not "a30,"
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --dtype fp16
  foretell predict: the model computes in fp32; foretelling it in fp16 needs the model exported in fp16
  [4]
  $ foretell predict data/models/resnet50.onnx --device a30 --dtype float
  foretell predict: there is no element type "float"
  [2]
  $ foretell measure data/models/resnet50.onnx --engine nosuch 2>&1 | cut -d ';' -f 1
  foretell measure: no engine "nosuch" in PLUGINS
  $ foretell measure data/models/resnet50.onnx --engine nosuch 2>/dev/null
  [4]
  $ foretell measure data/models/resnet50.onnx --engine ../fake 2>&1 | cut -d ';' -f 1
  foretell measure: no engine "../fake" in PLUGINS
  $ foretell measure data/models/resnet50.onnx --engine fake --plugin-dir nowhere
  foretell measure: no engine plug-ins: cannot read folder nowhere
  [4]
  $ foretell collect --quick --engine fake --data-dir nowhere
  foretell collect: no models in nowhere: say --data-dir DIR, or name models
  [4]

A predictor is checked.

  $ foretell predict data/models/resnet50.onnx --predictor missing.ftp
  foretell predict: missing.ftp: No such file or directory
  [3]
  $ foretell show missing.ftp
  foretell show: missing.ftp: No such file or directory
  [3]
  $ echo 'not a predictor' > text.ftp; foretell show text.ftp
  foretell show: text.ftp: not a predictor file
  [3]
  $ foretell collect data/models/resnet18.onnx --engine fake -q > /dev/null && foretell train --engine fake -o p.ftp 2>&1 > /dev/null
  $ head -c 300 p.ftp > short.ftp; foretell show short.ftp
  foretell show: short.ftp: damaged predictor: the file is cut short (byte 16); train it again
  [3]
  $ foretell predict data/models/resnet18.onnx --predictor p.ftp --engine onednn
  foretell predict: p.ftp was trained with engine fake, not onednn
  [4]
  $ foretell predict data/models/resnet18.onnx --predictor p.ftp --device a30
  foretell predict: p.ftp is a predictor for THIS-MACHINE, not for a30
  [4]
  $ foretell train --engine fake -o /dev/null/p.ftp
  foretell train: cannot write /dev/null/p.ftp.part: Not a directory
  [3]
  $ foretell train --engine fake --threads 7 -o q.ftp
  foretell train: the store holds no measurements that fit; "foretell collect" makes some
  [4]
  $ foretell train --engine fake --device a30 -o q.ftp
  foretell train: the store holds no measurements that fit; "foretell collect" makes some
  [4]
