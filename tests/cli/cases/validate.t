Operations summed, the network measured, the prediction: all from one run, on an
engine whose operations take in a network what they take alone.

  $ cp data/models/resnet18.onnx data/models/squeezenet1_1.onnx data/models/mobilenet_v2.onnx .
  $ foretell validate resnet18.onnx squeezenet1_1.onnx --engine fake,noise=0 --db a.db --time 100ms | sed '/^memory /,/^$/d; /^memory,/d' | blur
  2 networks, one forward pass, fake 1, threads=1, THIS-MACHINE
  
  time  measured  +-  sum  +-  error  predicted  +-  error
  ----
  resnet18.onnx  122 ms  0.00 ns  122 ms  851 us  0.0 %  -  -
  squeezenet1_1.onnx  30.3 ms  0.00 ns  30.3 ms  164 us  0.0 %  -  -
  no prediction of time: no predictor for this engine and these threads
  
  no measurement of energy: the network's energy was not measured
  no sum of energy: no operation's energy was measured
  no prediction of energy: no predictor for this engine and these threads
  
  against measured  n  MAPE  median  max  bias  R2
  ----
  time, sum  2  0.0 %  0.0 %  0.0 %  0.0 %  1
  
  resnet18.onnx
    measured  ############################## 122 ms
    sum  ############################## 122 ms
  squeezenet1_1.onnx
    measured  ############################## 30.3 ms
    sum  ############################## 30.3 ms
  
  kind  networks  share of sum
  ----
  conv2d  2  91.0 %
  relu  2  4.8 %
  concat  1  1.9 %
  maxpool2d  2  1.7 %
  add  1  0.4 %
  reduce_mean  2  0.1 %
  linear  1  0.1 %
  which kinds explain the difference is computed from three networks on
  

What was measured is in the store, the network whole, too.

  $ foretell data export --metric memory --db a.db | sed 1d | cut -d , -f 3,5,8 | sed -E 's/id=[0-9a-f]+/id=ID/'
  fake,network id=ID name=resnet18.onnx,memory
  fake,network id=ID name=squeezenet1_1.onnx,memory
  $ foretell validate resnet18.onnx squeezenet1_1.onnx --from-store --db a.db --json | pick networks.0.model networks.0.engine networks.0.setting networks.0.mode networks.0.operations networks.0.priced networks.0.time.predicted.why networks.0.unpriced networks.1.kinds.0.kind networks.1.kinds.0.unique networks.0.rounds kinds.0.factor summary.0.estimate summary.0.errors.n within
  networks.0.model: "resnet18.onnx"
  networks.0.engine: "fake"
  networks.0.setting: "threads=1"
  networks.0.mode: "inference"
  networks.0.operations: 23
  networks.0.priced: 23
  networks.0.time.predicted.why: "no predictor for this engine and these threads"
  networks.0.unpriced: []
  networks.1.kinds.0.kind: "conv2d"
  networks.1.kinds.0.unique: 18
  networks.0.rounds: []
  kinds.0.factor: null
  summary.0.estimate: "sum"
  summary.0.errors.n: 2
  within: null
 : -3.66373598126302e-15
  $ foretell train --engine fake --db a.db | tail -1
  next: foretell predict MODEL --device local --engine fake

A recorded dataset in which all but convolutions took longer in the networks, and
energy was measured; sums, errors, and the kinds to blame.

  $ foretell validate *.onnx --engine fake,noise=0 --db all.db --time 50ms --json > /dev/null
  $ foretell data export --db all.db > all.csv
  $ cat > record <<'END'
  > #!/usr/bin/env python3
  > import csv, sys
  > rows = list(csv.DictReader(open("all.csv")))
  > out = csv.DictWriter(sys.stdout, rows[0].keys(), lineterminator="\n")
  > out.writeheader()
  > for mhz, power in ((600, 40), (1200, 70)):
  >     for row in rows:
  >         row = dict(row, device="recorded", setting=f"threads=1 clock={mhz}MHz")
  >         if row["metric"] == "memory":
  >             row["value"] = row["mean"] = 50 << 20
  >         if row["metric"] == "time":
  >             slower = 1200 / mhz * (1 if "conv2d" in row["spec"] or row["spec"].startswith("network") else 0.5)
  >             for column in ("value", "error", "mean", "std", "mad"):
  >                 row[column] = float(row[column] or 0) * slower
  >             row["error"] = 0.01 * row["value"]
  >             out.writerow(row)
  >             row = dict(row, metric="energy", unit="J", value=row["value"] * power, error=row["error"] * power)
  >         out.writerow(row)
  > END
  $ python3 record > recorded.csv && foretell data import recorded.csv --db b.db | tail -1
  940 measurements taken from recorded.csv
  $ foretell validate *.onnx --from-store --db b.db --setting 'threads=1 clock=1200MHz' --top 3 | sed '/^memory /,/^$/d; /^against/,/^$/s/  */ /g; /^memory,/d; s/^-----*$/----/'
  3 networks, one forward pass, fake 1, threads=1 clock=1200MHz, recorded
  
  time                measured       +-      sum       +-   error  predicted  +-  error
  ----
  mobilenet_v2.onnx    40.4 ms   404 us  36.9 ms  71.6 us  -8.7 %          -          -
  resnet18.onnx         122 ms  1.22 ms   120 ms   486 us  -1.6 %          -          -
  squeezenet1_1.onnx   30.3 ms   303 us  28.0 ms  93.1 us  -7.5 %          -          -
  no prediction of time: no predictor for this engine and these threads
  
  energy              measured       +-     sum       +-   error  predicted  +-  error
  ----
  mobilenet_v2.onnx     2.83 J  28.3 mJ  2.58 J  5.01 mJ  -8.7 %          -          -
  resnet18.onnx         8.56 J  85.6 mJ  8.42 J  34.0 mJ  -1.6 %          -          -
  squeezenet1_1.onnx    2.12 J  21.2 mJ  1.96 J  6.52 mJ  -7.5 %          -          -
  no prediction of energy: no predictor for this engine and these threads
  
  against measured n MAPE median max bias R2
  ----
  time, sum 3 5.9 % 7.5 % 8.7 % -5.9 % 0.9958
  energy, sum 3 5.9 % 7.5 % 8.7 % -5.9 % 0.9958
  
  mobilenet_v2.onnx
    measured   ############################## 40.4 ms
    sum        ###########################    36.9 ms
  resnet18.onnx
    measured   ############################## 122 ms
    sum        ############################## 120 ms
  squeezenet1_1.onnx
    measured   ############################## 30.3 ms
    sum        ############################   28.0 ms
  
  kind    networks  share of sum  in the network/alone  adds to the difference
  ----
  conv2d         3        93.6 %                 1.029                  +2.6 %
  clip           1         2.8 %                 1.668                  +1.7 %
  relu           2         1.7 %                 1.411                  +0.7 %
  
  $ foretell validate *.onnx --from-store --db b.db --csv | grep -v ,memory, | cut -d , -f 1-4,7-12 | sed -E 's/([0-9]\.0*[0-9]{3})[0-9]*/\1/g'
  model,device,setting,engine,quantity,unit,measured,measured_sigma,sum,sum_sigma
  mobilenet_v2.onnx,recorded,threads=1 clock=1200MHz,fake,time,s,0.0404,0.000404,0.0368,7.158e-05
  mobilenet_v2.onnx,recorded,threads=1 clock=1200MHz,fake,energy,J,2.828,0.0282,2.581,0.00501
  mobilenet_v2.onnx,recorded,threads=1 clock=600MHz,fake,time,s,0.0808,0.000808,0.0737,0.000143
  mobilenet_v2.onnx,recorded,threads=1 clock=600MHz,fake,energy,J,3.232,0.0323,2.950,0.00572
  resnet18.onnx,recorded,threads=1 clock=1200MHz,fake,time,s,0.122,0.00122,0.120,0.000486
  resnet18.onnx,recorded,threads=1 clock=1200MHz,fake,energy,J,8.555,0.0855,8.421,0.0340
  resnet18.onnx,recorded,threads=1 clock=600MHz,fake,time,s,0.244,0.00244,0.240,0.000972
  resnet18.onnx,recorded,threads=1 clock=600MHz,fake,energy,J,9.778,0.0977,9.624,0.0389
  squeezenet1_1.onnx,recorded,threads=1 clock=1200MHz,fake,time,s,0.0302,0.000302,0.0279,9.311e-05
  squeezenet1_1.onnx,recorded,threads=1 clock=1200MHz,fake,energy,J,2.117,0.0211,1.959,0.00651
  squeezenet1_1.onnx,recorded,threads=1 clock=600MHz,fake,time,s,0.0605,0.000605,0.0559,0.000186
  squeezenet1_1.onnx,recorded,threads=1 clock=600MHz,fake,energy,J,2.420,0.0242,2.239,0.00744
  $ foretell validate *.onnx --from-store --db b.db --json | pick networks.# networks.5.setting kinds.0.kind within
  networks.#: 6
  networks.5.setting: "threads=1 clock=600MHz"
  kinds.0.kind: "clip"
  within: null

A limit that does not hold is an answer, and it is "no".

  $ foretell validate resnet18.onnx --engine fake --db a.db --time 50ms --must-be-within 10% > /dev/null
  $ foretell validate mobilenet_v2.onnx --from-store --db b.db --must-be-within '1 %' --json | pick within
  within: false
  $ foretell validate mobilenet_v2.onnx --from-store --db b.db --must-be-within '1 %' > /dev/null
  [1]

An honest prediction: without the network's own operations.

  $ foretell validate resnet18.onnx squeezenet1_1.onnx mobilenet_v2.onnx --engine fake --db all.db --time 50ms --forget --json | pick networks.0.time.predicted.why summary.1.errors.n
  networks.0.time.predicted.why: null
  summary.1.errors.n: 3
  $ foretell validate resnet18.onnx --engine fake --db other.db --time 50ms --forget | grep -E 'time, prediction|of energy' | blur
  no measurement of energy: the network's energy was not measured
  no sum of energy: no operation's energy was measured
  no prediction of energy: no power was measured for this predictor
  time, prediction  1  28.9 %  28.9 %  28.9 %  -28.9 %  -

What does not go together.

  $ foretell validate
  foretell validate: name models; only --from-store --outliers goes without
  [2]
  $ foretell validate resnet18.onnx --device a30
  foretell validate: --device goes with --from-store; without it this machine is measured
  [2]
  $ foretell validate resnet18.onnx --forget --predictor p.ftp
  foretell validate: --forget trains a predictor itself; --predictor does not go with it
  [2]
  $ foretell validate resnet18.onnx --must-be-within lots
  foretell validate: --must-be-within wants a share such as 10%, not "lots"
  [2]
  $ foretell validate resnet18.onnx --from-store --db all.db --device a30
  foretell validate: resnet18.onnx was not measured whole in any dataset that fits; foretell validate without --from-store measures it
  [4]
  $ foretell validate resnet18.onnx --from-store --db none.db
  foretell validate: there is no store none.db; name another with --db, or fill this one: foretell collect --quick --db none.db
  [3]
  $ foretell validate resnet18.onnx --engine fake --time 50ms --html no/where.html --db a.db
  foretell validate: cannot write no/where.html: No such file or directory
  [3]

An operation that was measured nine times slower than others like it is named.

  $ foretell validate data/models/resnet50.onnx data/models/mobilenet_v2.onnx --engine fake --db calm.db -q > /dev/null
  $ foretell data export --db calm.db -o calm.csv
  > python3 -c "
  > import csv, sys
  > rows = csv.DictReader(open('calm.csv'))
  > out = csv.DictWriter(sys.stdout, rows.fieldnames, lineterminator='\n'); out.writeheader()
  > for row in rows:
  >     if row['metric'] == 'time' and row['spec'].startswith('conv2d x=1x128x28x28 out=128 kernel=3x3'):
  >         for k in ('value', 'error', 'mad', 'mean', 'std'):
  >             row[k] = row[k] and repr(float(row[k]) * 9)
  >     out.writerow(row)" > slow.csv
  > foretell data import slow.csv --db slow.db > /dev/null
  $ foretell validate data/models/resnet50.onnx --engine fake --from-store --db slow.db --outliers -q | grep -A 2 '^slow operation' | blur
  slow operation  times slower  time  alone  on
  ----
  conv2d x=1x128x28x28 out=128 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32 layout=channels_last  8.8  56.6 ms  0.46  THIS-MACHINE threads=1 fake
  $ foretell validate data/models/resnet50.onnx --engine fake --from-store --db slow.db --outliers --json -q | python3 -c "
  > import json, sys
  > slow = json.load(sys.stdin)['slow']
  > print(len(slow) < 5, slow[0]['spec'][:40], 7 < slow[0]['slower'] < 11)"
  True conv2d x=1x128x28x28 out=128 kernel=3x3  True

Layers alone, as others measured them, are enough: no model, no network measured whole.

  $ grep -v 'network name=\|network id=' slow.csv > layers.csv; foretell data import layers.csv --db layers.db > /dev/null
  $ foretell validate --from-store --outliers --db layers.db | head -3 | blur
  slow operation  times slower  time  alone  on
  ----
  conv2d x=1x128x28x28 out=128 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32 layout=channels_last  8.8  56.6 ms  0.46  THIS-MACHINE threads=1 fake
  $ foretell validate --from-store --outliers --db layers.db --device none
  Too few operations are measured to say which are slow: 20 of one device, setting and
  engine are needed.
  $ foretell validate --from-store --outliers --setting '' --db layers.db
  foretell validate: --setting is empty; all count without it
  [2]
  $ foretell validate --outliers
  foretell validate: name models; only --from-store --outliers goes without
  [2]
  $ foretell validate --from-store --outliers --db layers.db --csv | cut -d, -f4,5,9- | head -2
  engine,engine_version,schedule,before,after,faster,why
  fake,1,,,,,
  $ foretell validate --from-store --outliers --db layers.db --html page.html
  foretell validate: --html shows networks: name models
  [2]
  $ foretell validate --from-store --outliers --tune 3 --db layers.db | tail -1
  Nothing to retune: none of these was measured by an engine that has schedules (tvm).
  $ foretell validate --from-store --outliers --tune 3 --db none.db
  foretell validate: there is no store none.db; name another with --db, or fill this one: foretell collect --quick --db none.db
  [3]
  $ foretell validate --outliers --tune 3 resnet18.onnx
  foretell validate: --tune goes with --from-store --outliers
  [2]

What retunes the operations of an engine with schedules is said.

  $ sed 's/,fake,1,/,tvm,0.27+rules,/' layers.csv > tvm.csv; foretell data import tvm.csv --db tvm.db > /dev/null
  $ foretell validate --from-store --outliers --engine tvm --db tvm.db | tail -1 | sed 's/tune [0-9]/tune N/'
  next: foretell validate --from-store --outliers --tune N --engine tvm --db tvm.db

What a store names its devices does not reach the terminal raw.

  $ foretell data export --db a.db | sed "s/^[^,]*,threads/$(printf 'red\033[31m'),threads/" > red.csv; foretell data import red.csv --db red.db > /dev/null
  $ foretell validate resnet18.onnx --from-store --db red.db | head -1 | cat -v
  1 network, one forward pass, fake 1, threads=1, red?[31m
