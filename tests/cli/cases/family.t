What was measured on two devices (with the fake engine, under their names) answers for
them and for others.

  $ foretell collect --engine fake data/models/resnet18.onnx data/models/mobilenet_v2.onnx --db here.db -q > /dev/null
  > foretell data export --db here.db -o here.csv
  > for d in a30:1 t4:2; do python3 -c "
  > import csv, sys
  > name, factor = sys.argv[1].split(':')
  > rows = csv.DictReader(sys.stdin)
  > out = csv.DictWriter(sys.stdout, rows.fieldnames); out.writeheader()
  > for row in rows:
  >     row['device'] = name
  >     if row['metric'] == 'time':
  >         for k in ('value', 'error', 'mad', 'mean', 'std'):
  >             row[k] = row[k] and repr(float(row[k]) * float(factor))
  >     out.writerow(row)" $d < here.csv > ${d%:*}.csv; done
  > foretell data import a30.csv t4.csv --db both.db > /dev/null
  > foretell train --family --db both.db -o both.ftp > /dev/null; ls both.ftp
  both.ftp
  $ printf '#!/bin/sh\nexec foretell predict data/models/resnet18.onnx --predictor both.ftp "$@"\n' > ask; chmod +x ask
  $ ./ask --device a30 --json | pick time.basis family ops.0.time.basis lower_bound
  time.basis: "learned"
  family: "both.ftp"
  ops.0.time.basis: "learned"
  lower_bound: false
  $ ./ask --device l4 --json | pick time.basis family ops.0.time.basis
  time.basis: "scaled"
  family: "both.ftp"
  ops.0.time.basis: "scaled"
  $ ./ask --device a30,l4 --clocks 600,900 | blur
  resnet18.onnx
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: inference, one forward pass at a time, fp32
  assumed: memory as PyTorch allocates it, operation by operation
  
  device  clock  time  low  high  power  energy  memory  fits  basis
  ----
  a30  600 MHz  158 ms  118 ms  241 ms  67.2 W  10.7 J  # B  yes  scaled
  a30  900 MHz  115 ms  86.1 ms  172 ms  80.7 W  9.29 J  # B  yes  scaled
  l4  600 MHz  1.59 ms  1.24 ms  2.93 ms  32.6 W  51.9 mJ  # B  yes  scaled
  l4  900 MHz  1.24 ms  992 us  2.92 ms  34.7 W  43.1 mJ  # B  yes  scaled
  least energy on a30: at 900 MHz, where it is fastest, too
  least energy x time on a30: at 900 MHz, where it is fastest, too
  least energy on l4: at 900 MHz, where it is fastest, too
  least energy x time on l4: at 900 MHz, where it is fastest, too
  
  $ ./ask --device l4 --top 1 | grep -E 'learned from|interval'
  learned from several devices, l4 not among them: both.ftp
  low .. high is a 90 % interval; 24 unique operations: 0 measured, 0 learned, 23 scaled, 0 roofline, the others take no time
  $ ./ask --device local 2>&1 | head -1 | cut -c 1-60
  foretell predict: both.ftp is no predictor for this machine;
  $ foretell rank data/models/resnet18.onnx --predictor both.ftp --devices a30,t4,l4 | blur | grep -E '^[0-9]|best'
  1  l4  1.24 ms  767 us  2.90 ms  809.5  63.1 mJ  # B  *  100.0 %  scaled
  2  a30  84.3 ms  69.4 ms  116 ms  11.87  13.1 J  # B  0.0 %  learned
  3  t4  231 ms  196 ms  301 ms  4.326  16.0 J  # B  0.0 %  learned
  best: l4
  on average this answer lies 0.0 % above the best (expected regret)

Without being named it is found where train leaves it, unless a method is asked for.

  $ foretell train --family --db both.db > /dev/null
  $ foretell predict data/models/resnet18.onnx --device l4 --json | pick family | sed 's|"/.*/\([^/]*\)"|\1|'
  family: family.ftp
  $ foretell predict data/models/resnet18.onnx --device l4 --method physics --json | pick family
  family: null

What attributes are worth to each regressor: mobilenet's convolutions differ in groups.

  $ foretell train --family --db both.db -o worth.ftp --importance --json | python3 -c "
  > import json, sys
  > doc = json.load(sys.stdin)
  > conv = [r for r in doc['importance'] if (r['kind'], r['metric'], r['unseen']) == ('conv2d', 'time', False)]
  > print(len(doc['importance']) > 100, [r['increase'] for r in conv] == sorted((r['increase'] for r in conv), reverse=True))
  > print(conv[0]['phase'], conv[0]['attribute'], conv[0]['increase'] > 2 * conv[0]['spread'])"
  True True
  forward group_channels True
  $ foretell train --family --db both.db -o worth.ftp --importance | grep -A 2 '^regressor'
  regressor                      metric     attribute              error grows by, points      +-
  -----------------------------------------------------------------------------------------------
  all forward                    time       groups                                    7.3     1.2
  $ foretell train --family --db both.db -o worth.ftp --importance --csv
  foretell train: --importance is printed as text or with --json
  [2]

A few measurements of a device correct what the family says of it: here it is slower than
any data sheet tells, and so is what was measured of it by another model.

  $ foretell collect --engine fake data/models/vgg16.onnx data/models/squeezenet1_1.onnx --db few.db -q > /dev/null
  > foretell data export --db few.db -o few.csv
  > python3 -c "
  > import csv, sys
  > rows = csv.DictReader(sys.stdin)
  > out = csv.DictWriter(sys.stdout, rows.fieldnames); out.writeheader()
  > for row in rows:
  >     row['device'] = 'l4'
  >     if row['metric'] == 'time':
  >         for k in ('value', 'error', 'mad', 'mean', 'std'):
  >             row[k] = row[k] and repr(float(row[k]) * 8)
  >     out.writerow(row)" < few.csv > l4.csv
  > rm -f l4.db; foretell data import l4.csv --db l4.db > /dev/null
  $ for more in '' '--correct l4.csv' '--correct l4.db'; do ./ask --device l4 --json $more; done | python3 -c "
  > import json, sys
  > d, text = json.JSONDecoder(), sys.stdin.read()
  > plain, at = d.raw_decode(text); csv, end = d.raw_decode(text[at:].lstrip()); db = json.loads(text[at:].lstrip()[end:])
  > print(csv['time'] == db['time'], csv['time']['basis'], csv['corrected_by'] > 20, plain['corrected_by'])
  > truth = 8 * $(./ask --device a30 --json | pick time | grep -o 'value\": [0-9.e-]*' | cut -d ' ' -f 2)
  > print(plain['time']['value'] < truth / 3, abs(csv['time']['value'] / truth - 1) < 0.3, csv['time']['low'] < truth < csv['time']['high'] and not plain['time']['low'] < truth < plain['time']['high'])"
  True scaled True 0
  True True True
  $ ./ask --device l4 --correct l4.csv | grep '^corrected'
  corrected by 75 measurements of l4
  $ grep -o 'linear x=[^,]*' l4.csv | head -1 > one.ops; foretell predict one.ops --predictor both.ftp --device l4 --correct l4.csv --json | pick ops.0.time.basis
  ops.0.time.basis: "measured"
  $ foretell rank data/models/resnet18.onnx --predictor both.ftp --devices a30,l4 --correct l4.csv | grep -E 'best|corrected'
  best: a30
  on average this answer lies 0.0 % above the best (expected regret)
  l4: corrected by 75 measurements of it
  $ foretell rank data/models/resnet18.onnx --predictor both.ftp --devices a30,l4 | grep -E 'best|corrected'
  best: l4
  on average this answer lies 0.0 % above the best (expected regret)

What cannot correct anything is refused.

  $ ./ask --device l4 --correct none.csv
  foretell predict: cannot read none.csv: No such file or directory
  [3]
  $ ./ask --device t4 --correct l4.csv
  foretell predict: --correct l4.csv: it holds no operation, nor two networks in this element type, of a device that is asked for and that a predictor for a family answers for
  [3]
  $ foretell rank data/models/resnet18.onnx --predictor both.ftp --devices a30,t4 --correct l4.csv
  foretell rank: --correct l4.csv: it holds no operation, nor two networks in this element type, of a device that is asked for and that a predictor for a family answers for
  [3]
  $ ./ask --device l4 --clock 900 --correct l4.csv
  foretell predict: what was measured of l4 was so at other clocks, under another cap or with other TF32: ask for those (--clock, --memory-clock, --power-cap, --policy)
  [4]
  $ sed 2q l4.csv | sed '2s/,time,/,tme,/' > odd.csv; ./ask --device l4 --correct odd.csv
  foretell predict: --correct odd.csv: it holds no time of an operation, nor of a network with its operations
  [3]
  $ echo 'device,value' > odd.csv; ./ask --device l4 --correct odd.csv
  foretell predict: odd.csv, line 1: there is no column "setting"; docs/data.md has the columns of a file of measurements, and the tools that make one of published tables
  [3]
  $ foretell predict data/models/resnet18.onnx --device l4 --method physics --correct l4.csv
  foretell predict: --method physics uses no measurements: leave --correct out
  [2]
  $ foretell rank data/models/resnet18.onnx --devices l4 --method roofline --correct l4.csv
  foretell rank: --method roofline uses no measurements: leave --correct out
  [2]

A family that comes with foretell is corrected as well.

  $ foretell predict data/models/resnet18.onnx --predictor data/predictors/nvidia-fp32.ftp --device l4 --correct l4.csv --json | pick corrected_by time.basis
  corrected_by: 75
  time.basis: "scaled"

Power that was read of them corrects what its data sheet says, in networks as well, from five readings on.

  $ python3 -c "
  > import csv, sys
  > rows = list(csv.DictReader(sys.stdin))
  > out = csv.DictWriter(sys.stdout, rows[0].keys()); out.writeheader()
  > for row in rows:
  >     out.writerow(row)
  >     if row['metric'] == 'time' and row['spec']: out.writerow({**row, 'metric': 'power', 'unit': 'W', 'value': '25'})" < l4.csv > drawn.csv
  > head -7 drawn.csv > start.csv
  > for few in l4 drawn; do foretell predict data/models/resnet18.onnx --predictor data/predictors/nvidia-fp32.ftp --device l4 --correct $few.csv --json; done | python3 -c "
  > import json, statistics as s, sys
  > d, text = json.JSONDecoder(), sys.stdin.read()
  > times, at = d.raw_decode(text); both = json.loads(text[at:])
  > of = lambda x, k: s.median(o['power'][k] for o in x['ops'] if o['power']['value'])
  > print(both['time'] == times['time'], abs(of(times, 'value') / 25 - 1) > 0.2, abs(of(both, 'value') / 25 - 1) < 0.1, of(both, 'high') / of(both, 'low') < of(times, 'high') / of(times, 'low'))
  > print(both['power']['value'] < 0.75 * times['power']['value'], both['power']['high'] / both['power']['low'] < times['power']['high'] / times['power']['low'])"
  True True True True
  True True
  $ grep -o 'linear x=[^,]*' l4.csv | head -1 > linear.ops; foretell predict linear.ops --predictor data/predictors/nvidia-fp32.ftp --device l4 --correct drawn.csv --json | pick ops.0.power.value ops.0.power.basis
  ops.0.power.value: 25.0
  ops.0.power.basis: "measured"
  $ for few in l4 drawn start; do foretell predict data/models/resnet18.onnx --predictor data/predictors/nvidia-fp32.ftp --device l4 --correct $few.csv -q | grep 'readings of power'; done
  warning: readings of power that --correct names (1) correct nothing: they are fewer than five, or nothing is known of what the device draws
  $ grep -o 'conv2d x=[^,]*' l4.csv | head -1 > conv.ops; for p in "" "--engine torch" "--policy default" "--policy ieee"; do foretell predict conv.ops --device l4 --correct l4.csv $p --json 2> /dev/null | grep -o '"basis": "measured"' | head -1; done
  "basis": "measured"
  "basis": "measured"
  "basis": "measured"
  $ python3 -c "
  > import csv, sys
  > rows = list(csv.DictReader(sys.stdin))
  > out = csv.DictWriter(sys.stdout, rows[0].keys()); out.writeheader()
  > for i, row in enumerate(rows):
  >     row['setting'] = 'session=' + 'ab'[i % 2]
  >     row['value'] = repr(float(row['value']) * (1 + i % 2))
  >     out.writerow(row)" < l4.csv > two.csv
  > echo 'conv2d x=3x100x60x60 out=192 kernel=3x3 stride=1x1 pad=1x1' > new.ops
  > for s in a b; do foretell predict new.ops --device l4 --correct two.csv --setting session=$s --json | pick busy_s | cut -d' ' -f2; done | python3 -c "
  > a, b = map(float, open(0))
  > print(b > 1.2 * a)"
  True
  $ foretell predict data/models/resnet50.onnx --device a30 --dtype fp16 --json | pick dtype memory.weights verify
  dtype: "fp16"
  memory.weights: 51060944.0
  verify: "foretell measure data/models/resnet50.onnx --engine torch,device=cuda --dtype fp16"
