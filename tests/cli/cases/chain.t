Collect, train, predict, measure: the whole way, on an engine that gives the
same figures everywhere.

  $ foretell predict data/models/resnet18.onnx --engine fake
  foretell predict: there is no predictor for this machine yet (HOME/.local/share/foretell/local-fake.ftp); two commands make one:
    foretell collect --quick --engine fake
    foretell train --engine fake
  [4]
  $ foretell train --engine fake
  foretell train: nothing is measured yet, there is no HOME/.local/share/foretell/measurements.db; first: foretell collect --quick --engine fake
  [4]
  $ foretell train --engine fake --threads 2 --db 'not there.db'
  foretell train: there is no store not there.db; name another with --db, or fill this one: foretell collect --quick --engine fake --threads 2 --db 'not there.db'
  [3]
  $ foretell collect --engine fake data/models/resnet50.onnx data/models/vgg16.onnx data/workloads/keras-pool.ops --without data/models/resnet18.onnx
  114 operations measured in 68.0 s with fake 1, threads=1
  2 networks run whole: what this machine takes beside operations
  114 wanted: 0 were in the store before, 0 the engine does not run, 0 failed, 0 left
  5 measured once more; foretell data show says how well they agree
  store: HOME/.local/share/foretell/measurements.db
  next: foretell train --engine fake
  $ foretell collect --engine fake data/models/resnet50.onnx data/models/vgg16.onnx data/workloads/keras-pool.ops --without data/models/resnet18.onnx --json | pick measured refused failed left
  measured: 0
  refused: 0
  failed: 0
  left: 0
  $ foretell collect --engine fake --quick --budget 1h --db other.db --json | pick present failed left
  present: 0
  failed: 0
  left: 0
  $ foretell data show | blur s
  store: HOME/.local/share/foretell/measurements.db
  
  device  setting  engine  version  dtypes  metric  measurements  from  to
  ----
  THIS-MACHINE  threads=1  fake  1  default  context  1  DATE  DATE
  THIS-MACHINE  threads=1  fake  1  default  context_per_operation  1  DATE  DATE
  THIS-MACHINE  threads=1  fake  1  default  time  130  DATE  DATE
  THIS-MACHINE  threads=1  fake  1  default  workspace  123  DATE  DATE
  
  what networks consist of:
  
  listed by  phase  networks  parts
  ----
  fake  forward  2  71
  
  reproducibility (median and 90 % quantile of |later / earlier - 1|):
  
  measured again  device  metric  pairs  apart  differ by  p90  calibrated  p90  stated 90 % hold
  ----
  fake 1, threads=1  THIS-MACHINE  time  5  # s  0.2 %  0.2 %  0.1 %  0.5 %  100.0 %

  $ foretell train --engine fake > table; grep -E '^(engine|written|next|kind)' table
  kind       phase    metric     for devices  method                                     n    MAPE  median     p90  90 % interval  constant MAPE  physics MAPE
  kind: one kind of operation, a class of kinds (conv, norm; matmul and
  written: HOME/.local/share/foretell/local-fake.ftp
  next: foretell predict MODEL --device local --engine fake

  $ foretell show .local/share/foretell/local-fake.ftp --json | pick engine setting regressors.0.kind regressors.0.forest.n schedules.0.idle_w
  engine: "fake"
  setting: "threads=1"
  regressors.0.kind: "all"
  regressors.0.forest.n: 128
  schedules.0.idle_w: null
  $ foretell show .local/share/foretell/local-fake.ftp --csv | cut -d , -f 1-3 | head -3
  kind,metric,n
  all,time,128
  conv2d,time,32
  $ foretell doctor --json | pick store.usable
  store.usable: true

The answer, with its assumptions first and the command that verifies it last.

  $ foretell predict data/models/resnet18.onnx --engine fake --top 3 | grep -v '^energy and power are' | blur
  resnet18.onnx on local: THIS-MACHINE; fake 1, threads=1
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: inference, one forward pass at a time, fp32
  
  of one pass  estimate  low  high  basis
  ----
  time  122 ms  113 ms  131 ms  measured
  energy  -  -  -  unavailable
  power  -  -  -  unavailable
  peak memory  # B  # B  # B  measured
    weights  # B
    inputs  # B
    activations  # B
    workspace  # B
    process  # B
  fits in the device's # B: yes, # B to spare
  host and device as 2 networks of local showed
  low .. high is a 90 % interval; 25 unique operations: 11 measured, 4 learned, 8 scaled, 0 roofline, the others take no time
  
  operation  count  share  total  each  low  high  basis
  ----
  conv2d x=1x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32 layout=channels_last  4  21.9 %  26.7 ms  6.68 ms  6.35 ms  7.02 ms  measured
  conv2d x=1x3x224x224 out=64 kernel=7x7 stride=2x2 pad=3x3 bias=1 dtype=fp32 layout=channels_last  1  18.1 %  22.1 ms  22.1 ms  21.0 ms  23.2 ms  measured
  conv2d x=1x512x7x7 out=512 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32 layout=channels_last  3  16.7 %  20.4 ms  6.81 ms  6.48 ms  7.16 ms  measured
  
  warning: 8 of 25 unique operations lie outside of what the predictor has seen; foretell collect data/models/resnet18.onnx --engine fake, then foretell train --engine fake, brings them in
  verify: foretell measure data/models/resnet18.onnx --engine fake

  $ foretell predict data/models/resnet18.onnx --engine fake --json > answer.json
  $ pick model device engine mode batch dtype setting assumptions time.unit time.basis memory.weights memory.activations energy.value energy.basis bounded warnings lower_bound verify ops.# < answer.json
  model: "resnet18.onnx"
  device: "local"
  engine: "fake 1"
  mode: "inference"
  batch: 1
  dtype: "fp32"
  setting: "threads=1"
  assumptions: ["batch 1 (the model leaves it open; --batch N sets it)"]
  time.unit: "s"
  time.basis: "measured"
  memory.weights: 46738848.0
  memory.activations: 6422528.0
  energy.value: null
  energy.basis: "unavailable"
  bounded: []
  warnings: ["8 of 25 unique operations lie outside of what the predictor has seen; foretell collect data/models/resnet18.onnx --engine fake, then foretell train --engine fake, brings them in"]
  lower_bound: false
  verify: "foretell measure data/models/resnet18.onnx --engine fake"
  ops.#: 25
  $ python3 -c "
  > import json
  > m = json.load(open('answer.json'))['memory']
  > t, parts = m['total'], [m[k] for k in ('weights', 'inputs', 'gradients', 'state', 'saved', 'activations', 'workspace', 'context')]
  > print(abs(sum(parts) / t['value'] - 1) < 1e-9, t['low'] <= t['value'] <= t['high'] < 1.2 * t['low'], m['context'] > 0)"
  True True True
  $ foretell predict data/models/resnet18.onnx --engine fake --csv | head -3 | cut -d , -f 1-3
  device,spec,count
  local,conv2d x=1x3x224x224 out=64 kernel=7x7 stride=2x2 pad=3x3 bias=1 dtype=fp32 layout=channels_last,1
  local,relu x=1x64x112x112 dtype=fp32,1
  $ foretell predict data/models/resnet18.onnx --engine fake --batch 4 --threads 1 | tail -1
  verify: foretell measure data/models/resnet18.onnx --engine fake --threads 1 --batch 4

The truth lies in the interval: measured with the same engine.

  $ foretell measure data/models/resnet18.onnx --engine fake --no-power --json > truth.json
  $ pick model engine setting time.unit memory.weights memory.activations readings.0.iterations < truth.json
  model: "resnet18.onnx"
  engine: "fake"
  setting: "threads=1"
  time.unit: "s"
  memory.weights: 46738848
  memory.activations: 7024640
  readings.0.iterations: 1
  $ python3 -c 'import json; t = json.load(open("truth.json")); p = t["predicted"]["time"]; print(p["low"] <= t["time"]["value"] <= p["high"])'
  True
  $ foretell measure data/models/resnet18.onnx --engine fake --no-power --predictor .local/share/foretell/local-fake.ftp | blur
  resnet18.onnx: measured with fake 1, threads=1, on this machine
  
  time of a pass  122 ms +- 328 us (median, MAD)
                   mean 122 ms, std 296 us, 122 ms .. 123 ms
                   20 passes in 20 batches
  memory  # B
                   weights # B, activations # B, workspace # B, process before loading # B
  peak of process  # B
  energy  unavailable: --no-power was given
  
                            predicted  low  high  measured  predicted/measured
  ----
  time  122 ms  113 ms  131 ms  122 ms  0.999
  memory (peak of process)  # B  # B  # B  # B  #

  $ foretell measure data/models/resnet18.onnx --engine fake --no-power --csv | head -1
  value_s,iterations,start_s

Nothing measured is left in a predictor that was told to forget; the operations
of a model can be left out altogether.

  $ foretell train --engine fake --forget -o honest.ftp --json | pick n_measured
  n_measured: 0
  $ foretell train --engine fake --forget --without data/models/resnet50.onnx --seed 7 --method forest -o less.ftp --json | pick file n_measured regressors.0.kind
  warning: no schedule of THIS-MACHINE, default, fake, forward: 1 network, 2 are needed
  file: "less.ftp"
  n_measured: 0
  regressors.0.kind: "maxpool2d"
  $ foretell predict data/models/resnet18.onnx --predictor honest.ftp --json | pick ops.0.time.basis
  ops.0.time.basis: "learned"

Several devices beside each other.

  $ foretell predict data/models/resnet18.onnx --engine fake --device local,a30,h100-sxm | blur
  resnet18.onnx
  warning: nothing measured with fake is behind this answer: it is that of torch (a30, h100-sxm)
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: inference, one forward pass at a time, fp32
  assumed: memory as PyTorch allocates it, operation by operation, where there is no predictor
  
  device  time  low  high  energy  memory  fits  basis
  ----
  local  122 ms  113 ms  131 ms  -  # B  yes  measured
  a30  1.23 ms  481 us  2.89 ms  85.3 mJ  # B  yes  scaled
  h100-sxm  1.22 ms  434 us  2.89 ms  216 mJ  # B  yes  scaled
  - is not known; asked about one device alone, foretell says why
  
  warning: 8 of 25 unique operations lie outside of what the predictor has seen; foretell collect data/models/resnet18.onnx --engine fake, then foretell train --engine fake, brings them in (local)

  $ foretell predict data/models/resnet18.onnx --engine fake --device local,a30 --json | pick \# 1.device 1.time.basis 1.energy.basis
  #: 2
  1.device: "a30"
  1.time.basis: "scaled"
  1.energy.basis: "scaled"

Operations that were bounded are named.

  $ foretell predict models/unknown-op.onnx --engine fake | grep -E 'bounded|warning'
  bounded: Frobnicate (node bad?[31mname), by the bytes it moves
  warning: 1 of 2 unique operations are of kinds never measured: their times are lower bounds

A budget is spent in the engine's time, which is the same on every machine.

  $ foretell collect --engine fake --quick --db hasty.db --json >report; python3 -c "
  > import json
  > r = json.load(open('report'))
  > print(r['measured'] > 300, r['left'] == r['wanted'] - r['measured'] > 300, 54 < r['seconds'] < 62)"
  True True True

A budget holds for what is measured of the machine itself, too.

  $ printf 'relu x=1x64\n' >one.ops
  $ foretell collect one.ops --engine fake --budget 1s --db brief.db -q >out; foretell data export --db brief.db >brief.csv; python3 -c "
  > import csv
  > s = sum(float(r['value']) * int(r['iterations']) for r in csv.DictReader(open('brief.csv')) if r['metric'] == 'time')
  > print(.1 < s < 1.3 or s)"
  True
