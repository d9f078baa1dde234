  $ foretell data show
  foretell data: nothing is measured yet, there is no HOME/.local/share/foretell/measurements.db; first: foretell collect --quick
  [4]
  $ foretell data export
  foretell data: nothing is measured yet, there is no HOME/.local/share/foretell/measurements.db; first: foretell collect --quick
  [4]
  $ foretell collect models/sequence.onnx --dim seq=64 --engine fake | blur
  2 operations measured in # s with fake 1, threads=1
  2 wanted: 0 were in the store before, 0 the engine does not run, 0 failed, 0 left
  store: HOME/.local/share/foretell/measurements.db
  next: foretell train
  $ foretell data facts | blur | cut -d ' ' -f 1-3
  device  fact
  ----
  THIS-MACHINE  proportional_from_s
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
  $ echo text > text.db; foretell data show --db text.db
  foretell data: text.db is not a foretell store, or its beginning is damaged
  [3]
  $ foretell data import all.csv --db nowhere/store.db
  foretell data: store nowhere/store.db: there is no folder nowhere; create it with: mkdir -p nowhere
  [3]

Stores of several machines become one; again changes nothing.
  $ foretell data merge copy.db --db whole.db | sed 's/^[0-9]* meas/# meas/'
  # measurements taken (0 of them repeats), 0 were there; 1 runs and 0 facts taken
  store: whole.db
  $ foretell data merge copy.db all.csv --db whole.db | sed 's/, [0-9]* were/, # were/'
  0 measurements taken (0 of them repeats), # were there; 0 runs and 0 facts taken
  store: whole.db
  $ foretell data export --readings --db whole.db | cut -d , -f 1-17,19- > c; cmp b c
  $ foretell data merge all.csv short.csv --db none.db
  foretell data: short.csv, line 2, column 3 (engine): the line ends here, further columns are missing
  [3]
  $ foretell data show --db none.db
  foretell data: there is no store none.db; name another with --db, or measure something into this one first
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
