A space whose objectives are predicted: nothing is run, every point is what predict says.

  $ cat >anywhere.yaml <<'END'
  > name: anywhere
  > predict: [data/models/resnet18.onnx, --device, "{device}", --batch, "{batch}", --dtype, "{dtype}", --clock, "{clock}", --power-cap, "{cap}"]
  > prices: {a30: 0.60/h, l4: 0.80/h}
  > parameters:
  >   - {name: device, values: [a30, l4, jetson-tk1]}
  >   - {name: batch, values: [1, 16], ordered: true}
  >   - {name: dtype, values: [fp32, fp16]}
  >   - {name: clock, values: [700, 1000, 1300], ordered: true, when: {device: [a30, l4]}}
  >   - {name: cap, values: [60, 70], ordered: true, when: {device: [l4]}}
  > objectives:
  >   - {name: time, per: item}
  >   - {name: energy, per: item}
  >   - {name: latency, measure: time, limit: 10 ms}
  >   - {name: cost, per: item}
  > END
  $ foretell explore run anywhere.yaml --top 3 | head -12 | sed 's/ in [0-9.]* [mu]*s,/ in # s,/'
  anywhere: 40 points predicted in # s, none was run
  warning: 20 of 40 points are answered from the data sheet alone (physics): those with dtype=fp16; the others are learned (nvidia-fp32.ftp). Differences between the two are differences of method, too; --method physics in predict answers all alike
  
  front: 9 Pareto-optimal points, hypervolume 0.995
  best settings                                       time   energy  latency       cost
  -------------------------------------------------------------------------------------
  device=a30 batch=16 dtype=fp16 clock=1300        90.1 us  13.1 mJ  1.44 ms  1.502e-08
  device=l4 batch=16 dtype=fp16 clock=1300 cap=70   141 us  6.21 mJ  2.25 ms  3.126e-08
  device=a30 batch=1 dtype=fp16 clock=1300         1.23 ms  49.3 mJ  1.23 ms  2.042e-07
  and 6 more between these; --top shows them
  
  what decides time (40 points, R2 0.84 out of fold)
  $ foretell explore report anywhere.yaml --csv | head -4
  workload,device,batch,dtype,clock,cap,time,energy,latency,cost,answered_by,failure
  ,a30,1,fp32,700,,0.0012333791094861182,0.057316375067304061,0.0012333791094861182,2.0556318491435304e-07,learned (nvidia-fp32.ftp),
  ,a30,1,fp32,1000,,0.0012303363266632477,0.056050506966674261,0.0012303363266632477,2.0505605444387461e-07,learned (nvidia-fp32.ftp),
  ,a30,1,fp32,1300,,0.0012287748374399236,0.075420968486768991,0.0012287748374399236,2.0479580623998726e-07,learned (nvidia-fp32.ftp),
  $ foretell explore run anywhere.yaml --csv >all.csv; wc -l <all.csv
  41
  $ cat >compare <<'END'
  > import csv, json, subprocess
  > def same(text, value):  # JSON has 15 digits
  >     return (float('%.15g' % float(text)) if text else None) == value
  > n = 0
  > rows = list(csv.DictReader(open('all.csv')))
  > for row in rows[::3]:
  >     words = [f'--{o}={row[k]}' for o, k in (('device', 'device'), ('batch', 'batch'), ('dtype', 'dtype'), ('clock', 'clock'), ('power-cap', 'cap')) if row[k]]
  >     said = json.loads(subprocess.run(['foretell', 'predict', 'data/models/resnet18.onnx', '--json', *words], capture_output=True).stdout)
  >     n += same(row['latency'], said['time']['value']) and (row['batch'] != '1' or same(row['energy'], said['energy']['value']))
  > print(len(rows[::3]), n)
  > END
  $ python3 compare
  14 14
  $ foretell explore run anywhere.yaml --json | pick name predicted runs fronts.0.workload
  name: "anywhere"
  predicted: 40
  runs: 0
  fronts.0.workload: ""

Shards of the points merge to the front of all of them, however many there are and in whatever order.

  $ foretell explore front anywhere.yaml >front.csv; wc -l <front.csv; head -2 front.csv
  10
  point,workload,device,batch,dtype,clock,cap,time,energy,latency,cost,answered_by,failure
  4,,a30,1,fp16,700,,0.0012272838761410486,0.036628694680915591,0.0012272838761410486,2.0454731269017476e-07,physics,
  $ for n in 1 2 3 7 40 41; do for i in $(seq $n); do foretell explore front anywhere.yaml --shard $i/$n >shard-$i.csv || echo $?; done; foretell explore front anywhere.yaml $(seq -f shard-%.0f.csv $n | sort) | cmp - front.csv && echo $n; done
  1
  2
  3
  7
  40
  41
  $ foretell explore front anywhere.yaml --shard 3/2
  foretell explore: --shard 3/2: I/N, from 1/N to N/N
  [2]
  $ foretell explore front anywhere.yaml all.csv
  foretell explore: all.csv:1: this is no front of anywhere as the space stands
  [3]
  $ foretell explore front anywhere.yaml nothere.csv
  foretell explore: nothere.csv: No such file or directory
  [3]
  $ foretell explore front anywhere.yaml front.csv --shard 1/2
  foretell explore: --shard is of points to predict, not of files
  [2]
  $ (head -1 front.csv; echo 1,,a30) >cut.csv; foretell explore front anywhere.yaml front.csv cut.csv
  foretell explore: cut.csv:2: this is no front of anywhere as the space stands
  [3]
  $ foretell explore report anywhere.yaml --shard 1/2
  foretell explore: --shard is for front
  [2]

The words are those of predict, all of them.

  $ cat >words.yaml <<'END'
  > name: words
  > predict: [data/models/resnet18.onnx, --device, a30, --batch, "16", --dtype, "{type}"]
  > parameters: [{name: type, values: [fp32, fp16]}]
  > objectives: [time]
  > END
  $ sed 's/dtype/precision/' words.yaml >precision.yaml
  $ foretell explore run words.yaml >a; foretell explore run precision.yaml >b; sed 1d a >a2; sed 1d b | diff a2 -
  $ for o in power-caps=100 concurrency=8 gpus=8 launch-time=4us html=x.html; do sed "s/, --dtype/, --$o&/" words.yaml >bad.yaml; foretell explore run bad.yaml; done
  foretell explore: words: predict: a point is one question: --power-caps asks more
  foretell explore: words: predict: --concurrency: points are passes or training steps of one device, without that option
  foretell explore: words: predict: --gpus: points are passes or training steps of one device, without that option
  foretell explore: words: predict: --launch-time: points are passes or training steps of one device, without that option
  foretell explore: words: predict: --html: points are passes or training steps of one device, without that option
  [3]

Points of two methods are told apart: fp32 is learned, fp16 of the data sheet, and seems slower. What is not known of a point
keeps it off the front, and the report says so.

  $ cat >methods.yaml <<'END'
  > name: methods
  > predict: [data/models/resnet18.onnx, --device, "{device}", --batch, "16", --dtype, "{dtype}"]
  > prices: {a30: 0.60/h}
  > parameters:
  >   - {name: device, values: [a30, jetson-tx2]}
  >   - {name: dtype, values: [fp32, fp16]}
  > objectives: [time, cost]
  > END
  $ foretell explore run methods.yaml | sed -n 2,10p
  warning: 2 of 4 points are answered from the data sheet alone (physics): those with dtype=fp16; the others are learned (nvidia-fp32.ftp). Differences between the two are differences of method, too; --method physics in predict answers all alike
  
  front: 1 Pareto-optimal point, hypervolume 1.000
  best settings             time       cost
  -----------------------------------------
  device=a30 dtype=fp16  1.37 ms  2.289e-07
  not compared, because cost is not known: 2 points, those with device=jetson-tx2
  
  correlation                Pearson              Spearman               Kendall
  $ foretell explore run methods.yaml --json | pick unknown warnings.#
  unknown: [{"workload": "", "objective": "cost", "points": 2, "known": 2, "which": "those with device=jetson-tx2"}]
  warnings.#: 1
  $ sed '/dtype/s/]$/, --method, physics]/' methods.yaml >alike.yaml; foretell explore run alike.yaml --json | pick warnings
  warnings: []
  $ sed 's/, cost//; s/objectives: .*/objectives: [cost, time]/; /prices/d' methods.yaml >no-prices.yaml; foretell explore run no-prices.yaml | tail -n +4 | head -6
  front: 1 Pareto-optimal point
  best settings          cost     time
  ------------------------------------
  device=a30 dtype=fp16     -  1.37 ms
  cost is known of no point: the front is of the other objectives
  

Of thousands of points some are looked at; where one workload is best another one is, too.

  $ cat >many.yaml <<'END'
  > name: many
  > predict: ["data/models/{workload}.onnx", --device, a30, --batch, "{batch}", --clock, "{clock}", --method, physics]
  > workloads: [squeezenet1_1, resnet50]
  > parameters: [{name: batch, values: [1, 8, 64], ordered: true}, {name: clock, low: 210, high: 1400}]
  > objectives: [{name: energy, per: item}]
  > END
  $ foretell explore run many.yaml | grep -A4 -e '^best of'
  best of        used for                      ranks  worse than its own best  learned from few  with the other's
  ---------------------------------------------------------------------------------------------------------------
  squeezenet1_1  resnet50       +0.98 (+0.98..+0.98)                    1.8 %             4.0 %             1.7 %
  resnet50       squeezenet1_1  +0.98 (+0.98..+0.98)                    4.7 %             3.7 %             2.7 %
  learned from few: median error of the rest, learned from 10 points of the workload at random;

Several networks are workloads.

  $ cat >two.yaml <<'END'
  > name: two
  > predict: ["data/models/{file}.onnx", --device, a30, --batch, "{batch}", --mode, "{mode}", --method, physics]
  > workloads: [{name: small, file: squeezenet1_1}, {name: large, file: resnet50}]
  > parameters:
  >   - {name: batch, values: [1, 2, 4, 8, 16, 32, 512], ordered: true}
  >   - {name: mode, values: [inference, training]}
  > objectives: [{name: time, per: item}, memory]
  > END
  $ foretell explore run two.yaml --top 2 | grep -A5 -e ^small -e ^failed
  small: 7 Pareto-optimal points, hypervolume 0.999
  best settings                time    memory
  -------------------------------------------
  batch=512 mode=inference   137 us  3.80 GiB
  batch=1 mode=inference    1.64 ms   523 MiB
  and 5 more between these; --top shows them
  --
  small    large     +0.95 (+0.80..+0.99)           the same point                 -                 -
  large    small     +0.95 (+0.80..+0.99)           the same point                 -                 -
  learned from few: median error of the rest, learned from 10 points of the workload at random;
  then with all points of the other one as well
  
  does the best of one workload suit another? memory
  --
  small    large     +0.96 (+0.83..+0.99)           the same point                 -                 -
  large    small     +0.96 (+0.83..+0.99)           the same point                 -                 -
  learned from few: median error of the rest, learned from 10 points of the workload at random;
  then with all points of the other one as well
  
  in short
  $ foretell explore run two.yaml --csv | tail -2
  large,512,inference,0.00064118533330246251,5890343328,physics,
  large,512,training,0.00183892680975445,22288834888,physics,

Mistakes.

  $ sed 's/{clock}/{clok}/' anywhere.yaml >bad.yaml; foretell explore run bad.yaml
  foretell explore: bad.yaml:8: clock: where does it act? {clock} does not stand in predict
  [3]
  $ sed 's|0.60/h|cheap|' anywhere.yaml >bad.yaml; foretell explore run bad.yaml
  foretell explore: bad.yaml:3: prices: a30: a price such as 2.49/h is wanted, not "cheap"
  [3]
  $ sed 's/name: energy/name: p95/' anywhere.yaml >bad.yaml; foretell explore run bad.yaml
  foretell explore: bad.yaml:12: p95: what is "p95"? Predicted are time, energy, power, memory and cost
  [3]
  $ sed 's/per: item/per: hour/' anywhere.yaml >bad.yaml; foretell explore run bad.yaml
  foretell explore: bad.yaml:11: time: per: pass or item, not "hour"
  [3]
  $ (cat anywhere.yaml; echo 'command: [true]') >bad.yaml; foretell explore run bad.yaml
  foretell explore: bad.yaml:15: command: nothing is run where predict stands
  [3]
  $ sed 's/predict: .*/predict: foretell predict {device}/' anywhere.yaml >bad.yaml; foretell explore run bad.yaml
  foretell explore: bad.yaml:2: predict: a list of words is wanted: [model.onnx, --device, '{device}']
  [3]
  $ sed 's/--device, /--divice, /' anywhere.yaml >bad.yaml; foretell explore run bad.yaml
  foretell predict: unknown option --divice; did you mean --device?
  see foretell predict --help
  foretell explore: the space anywhere: predict: its words are no question, see above
  [3]
  $ sed 's/resnet18/nosuch/' anywhere.yaml >bad.yaml; foretell explore run bad.yaml
  foretell explore: data/models/nosuch.onnx: No such file or directory
  [3]
  $ sed 's/l4, jetson-tk1/l4, jetson-tk9/' anywhere.yaml >bad.yaml; foretell explore run bad.yaml
  foretell explore: no device "jetson-tk9"; there are jetson-tk1, jetson-tx1, jetson-tx2, jetson-agx-orin-32gb, jetson-agx-orin-64gb, jetson-agx-thor, jetson-agx-xavier, jetson-nano; foretell devices lists all 162
  [4]
  $ sed 's/values: \[a30,/values: ["a30,l4",/' anywhere.yaml >bad.yaml; foretell explore run bad.yaml
  foretell explore: bad.yaml:8: when: device has no value "a30"
  [3]
  $ foretell explore run anywhere.yaml --csv --html page.html
  foretell explore: --csv of predictions is a table alone: leave it out for --html and --notebook
  [2]
  $ foretell explore run anywhere.yaml --search model
  foretell explore: --search: predictions are quick, so that every point is asked about: leave it out, or draw some with --design
  [2]
  $ foretell explore run anywhere.yaml --budget 10s
  foretell explore: --budget ends runs, and predictions run nothing: draw fewer points, such as with --design sobol --points 1000
  [2]

What was predicted of this machine can be measured: some points of the front.

  $ foretell collect --engine fake data/models/resnet18.onnx data/models/squeezenet1_1.onnx -q >/dev/null; foretell train --engine fake >/dev/null
  $ cat >here.yaml <<'END'
  > name: here
  > predict: ["data/models/{model}.onnx", --engine, fake, --batch, "{batch}"]
  > parameters:
  >   - {name: model, values: [resnet18, squeezenet1_1]}
  >   - {name: batch, values: [1, 2], ordered: true}
  > objectives: [{name: time, per: item}, memory]
  > END
  $ foretell explore run here.yaml --csv | cut -d , -f 1-3,6,7
  workload,model,batch,answered_by,failure
  ,resnet18,1,learned,
  ,resnet18,2,learned,
  ,squeezenet1_1,1,learned,
  ,squeezenet1_1,2,learned,
  $ foretell explore verify here.yaml --top 1
  front point                  time predicted  measured  differs by
  -----------------------------------------------------------------
  model=squeezenet1_1 batch=2         59.8 ms   59.8 ms       0.0 %
  $ foretell explore verify here.yaml --max-runs 3
  foretell explore: --max-runs ends runs, and verify measures few points: --top says how many
  [2]
  $ foretell explore verify anywhere.yaml
  foretell explore: no point of the front is of this machine as it was measured: device local, inference
  [4]
  $ sed -e 's/predict: .*/command: "true {device} {batch} {dtype} {clock} {cap}"/' -e '/prices/d' -e '/per: item/d' anywhere.yaml >run.yaml; foretell explore verify run.yaml
  foretell explore: verify measures what was predicted: anywhere has no predict, its points are run
  [2]

A parameter may be in a cap and elsewhere: each point has its own cap.

  $ cat >shared.yaml <<'END'
  > name: shared
  > predict: [data/models/resnet50.onnx, --device, a30, --batch, "{n}", --power-cap, "{n}0", --method, physics]
  > parameters:
  >   - {name: n, values: [4, 6, 8], ordered: true}
  > objectives: [time, energy]
  > END
  $ foretell explore run shared.yaml --csv
  workload,n,time,energy,answered_by,failure
  ,4,0.011899509408355637,0.47563693559042364,physics,
  ,6,0.010041765162352133,0.60136838635269818,physics,
  ,8,0.0090220033629316299,0.71968244081426536,physics,
  $ foretell predict data/models/resnet50.onnx --device a30 --batch 8 --power-cap 80 --method physics | grep energy
  energy           720 mJ   507 mJ    1.02 J  scaled
