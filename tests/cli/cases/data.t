  $ foretell data show
  foretell data: nothing is measured yet, there is no HOME/.local/share/foretell/measurements.db; first: foretell collect --quick
  [4]
  $ foretell data export
  foretell data: nothing is measured yet, there is no HOME/.local/share/foretell/measurements.db; first: foretell collect --quick
  [4]
  $ foretell collect models/sequence.onnx --dim seq=64 --engine fake
  2 operations measured in 9.89 s with fake 1, threads=1
  1 network run whole: what this machine takes beside operations
  2 wanted: 0 were in the store before, 0 the engine does not run, 0 failed, 0 left
  2 measured once more; foretell data show says how well they agree
  store: HOME/.local/share/foretell/measurements.db
  next: foretell train --engine fake
  $ foretell data facts | blur | cut -d ' ' -f 1-3
  device  fact
  ----
  THIS-MACHINE  proportional_from_s:fake
  $ foretell data export --metric time | head -2 | cut -d , -f 1-9
  device,setting,engine,engine_version,spec,phase,dtype_policy,metric,unit
  THIS-MACHINE,threads=1,fake,1,linear x=1x64x64 out=256 dtype=fp32,forward,default,time,s
  $ foretell data export --readings -o all.csv
  $ foretell data import all.csv --db copy.db | sed 's/^[0-9]*/#/'
  # measurements taken from all.csv
  $ foretell data import all.csv --db copy.db
  0 measurements taken from all.csv
  $ foretell data export --readings --db copy.db > again.csv
  $ cut -d , -f 1-17,19- all.csv > a; cut -d , -f 1-17,19- again.csv > b; cmp a b
  $ { head -n 1 all.csv; echo a,b,c; } > short.csv; foretell data import short.csv --db copy.db
  foretell data: short.csv, line 2, column 3 (engine): the line ends here, further columns are missing
  [3]
  $ foretell data import missing.csv
  foretell data: cannot read missing.csv: No such file or directory
  [3]
  $ foretell data show --db models
  foretell data: store models: it is a folder; name a file in it
  [3]
  $ foretell data import models
  foretell data: cannot read models: Is a directory
  [3]
  $ echo text > text.db; foretell data show --db text.db
  foretell data: text.db is not a foretell store, or its beginning is damaged
  [3]
  $ foretell data import all.csv --db nowhere/store.db
  foretell data: store nowhere/store.db: there is no folder nowhere; create it with: mkdir -p nowhere
  [3]

Stores of several machines become one; again changes nothing.
  $ foretell data merge copy.db --db whole.db | sed 's/^[0-9]* meas/# meas/'
  # measurements taken (of them 0 repeats), 0 were there; 1 run and 0 facts taken
  store: whole.db
  $ foretell data merge copy.db all.csv --db whole.db | sed 's/, [0-9]* were/, # were/'
  0 measurements taken (of them 0 repeats), # were there; 0 runs and 0 facts taken
  store: whole.db
  $ foretell data export --readings --db whole.db | cut -d , -f 1-17,19- > c; cmp b c
  $ foretell data merge all.csv short.csv --db none.db
  foretell data: short.csv, line 2, column 3 (engine): the line ends here, further columns are missing
  [3]
  $ foretell data show --db none.db
  foretell data: there is no store none.db; name another with --db, or fill this one: foretell collect --quick --db none.db
  [3]
  $ foretell data merge --db whole.db
  foretell data: merge wants the stores or CSV files to take from
  [2]
  $ foretell data merge missing.db --db whole.db
  foretell data: cannot read missing.db: No such file or directory
  [3]
  $ foretell data merge copy.db --db whole.db --rename a30
  foretell data: --rename wants OLD=NEW, not "a30"
  [2]
  $ foretell collect models/sequence.onnx --dim seq=64 --engine fake --batches 1,,4
  foretell collect: --batches 1,,4: whole numbers from 1, joined by commas, at most 32
  [2]
  $ foretell collect models/sequence.onnx --dim seq=64 --engine fake --batches 1,4 --batch 2
  foretell collect: --batch or --batches, not both
  [2]
  $ foretell collect models/sequence.onnx --dim seq=64 --engine fake --repeat-share much
  foretell collect: --repeat-share much: a share like 3% or 0.03
  [2]
  $ foretell collect models/sequence.onnx --dim seq=64 --engine fake --batches 4,1,2 --repeat-share 0 --db b.db
  6 operations measured in 10.7 s with fake 1, threads=1
  1 network run whole: what this machine takes beside operations
  6 wanted: 0 were in the store before, 0 the engine does not run, 0 failed, 0 left
  store: b.db
  next: foretell train --engine fake --db b.db
  $ foretell data export --db b.db --metric time | sed 1d | cut -d , -f 5 | sort
  linear x=1x64x64 out=256 dtype=fp32
  linear x=2x64x64 out=256 dtype=fp32
  linear x=4x64x64 out=256 dtype=fp32
  linear x=512x1024 out=1024 dtype=fp32
  network name=sequence x=4x64x64 dtype=fp32
  relu x=1x100000 dtype=fp32
  relu x=1x1500000 dtype=fp32
  relu x=1x16 dtype=fp32
  relu x=1x16000000 dtype=fp32
  relu x=1x16384 dtype=fp32
  relu x=1x4000000 dtype=fp32
  relu x=1x500000 dtype=fp32
  softmax x=1x64x256 axis=2 dtype=fp32
  softmax x=2x64x256 axis=2 dtype=fp32
  softmax x=4x64x256 axis=2 dtype=fp32
  tanh x=1x100000 dtype=fp32
  $ foretell collect models/sequence.onnx --dim seq=64 --engine fake,fail_kind=softmax --batches 4,1,2 --repeat-share 0 --db c.db
  warning: memory of the engine itself is not known
  warning: failed: softmax x=1x64x256 axis=2 dtype=fp32: fake: failure of softmax as planned
  3 operations measured in 6.56 s with fake 1, threads=1
  6 wanted: 0 were in the store before, 0 the engine does not run, 1 failed, 0 left
  0 too large, for a smaller one had no memory; 2 not tried, for a smaller one failed
  store: c.db
  next: foretell train --engine fake --db c.db
  $ foretell data show --db b.db --json | pick groups.2.metric groups.2.dtype_policy groups.2.repeats.pairs
  groups.2.metric: "time"
  groups.2.dtype_policy: "default"
  groups.2.repeats.pairs: 0
