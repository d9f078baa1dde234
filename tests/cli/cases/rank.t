Devices that nobody measured, each scaled from its data sheet.

  $ foretell rank data/models/resnet50.onnx --devices l4,a30,jetson-tk1
  resnet50.onnx by time of one forward pass
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: inference, fp32
  
  #  device         time      low     high  items/s  energy   memory     chance  basis
  -------------------------------------------------------------------------------------
  1  a30         3.09 ms  1.17 ms  7.28 ms    324.1  215 mJ  627 MiB  *  73.0 %  scaled
  2  l4          3.09 ms  1.43 ms  7.28 ms    323.8  137 mJ  627 MiB  ~  27.0 %  scaled
  3  jetson-tk1  77.0 ms  50.3 ms   120 ms    12.99       -  627 MiB      0.0 %  scaled
  
  *: Pareto-optimal in time
  best: a30
  on average this answer lies 0.0 % above the best (expected regret)
  a30 and l4 cannot be distinguished (~): one host sets their times, equal within 1 %
  $ foretell rank data/models/vgg16.onnx --mode training --optimizer adam --batches 8,64 --devices a30,jetson-tk1 --limit time=500ms
  vgg16.onnx by time of an item, one step of forward, backward and Adam
  assumed: training, fp32
  
  #  device  batch     time      low     high  items/s  energy    memory      chance  basis
  ------------------------------------------------------------------------------------------
  1  a30        64  3.95 ms  2.59 ms  6.05 ms    253.1  652 mJ  6.93 GiB  *  100.0 %  scaled
  2  a30         8  4.99 ms  3.22 ms  7.78 ms    200.3  822 mJ  3.09 GiB       0.0 %  scaled
  
  does not fit: jetson-tk1 at batch 8, 3.09 GiB of 2.00 GiB; not even batch 1 does
  does not fit: jetson-tk1 at batch 64, 6.93 GiB of 2.00 GiB; not even batch 1 does
  *: Pareto-optimal in time and energy
  best: a30 at batch 64
  on average this answer lies 0.0 % above the best (expected regret)
  $ foretell rank data/models/resnet50.onnx --devices a30,l4,iphone-6 --by cost --price a30=2.49/h --clocks 600,1200,2000MHz
  resnet50.onnx by cost of one forward pass
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: inference, fp32
  
  #  device     clock  cost of a million passes     low   high     time  items/s  energy   memory     chance  basis
  ------------------------------------------------------------------------------------------------------------------
  1  a30     1.20 GHz                     2.135  0.8773  5.036  3.09 ms      324  172 mJ  627 MiB  *  74.4 %  scaled
  2  a30      600 MHz                     2.139   1.324   5.04  3.09 ms    323.4  151 mJ  627 MiB  *  25.6 %  scaled
  
  not known: a30: its highest clock is 1440 MHz
  not known: l4: no price is given
  not known: iphone-6: its file does not say "peak_fp32", which an estimate needs
  *: Pareto-optimal in time, energy and cost
  best: a30 at 1.20 GHz
  on average this answer lies 0.0 % above the best (expected regret)
  $ foretell rank data/models/resnet50.onnx --csv --devices a30,l4 | cut -d , -f 1-6
  place,device,batch,clock_hz,state,time_s
  1,a30,1,,placed,0.0030857478023730116
  2,l4,1,,placed,0.003087876567711989

"No" is an exit code, and so is what is missing.

  $ foretell rank data/models/resnet50.onnx --devices jetson-tk1 --mode training --batch 128 | tail -2
  does not fit: jetson-tk1, 5.65 GiB of 2.00 GiB; the largest batch that does: 34
  foretell rank: nothing can be placed
  warning: 53 convolutions of resnet50.onnx hold norms that its exporter folded into them for inference: with its norms the network trains in more memory and time than this graph; tools/export-pt2 MODULE:FUNCTION --training --input SIZES -o FILE.pt2 exports them
  
  $ foretell rank data/models/resnet50.onnx --devices jetson-tk1 --mode training --batch 128 -q > /dev/null
  does not fit: jetson-tk1, 5.65 GiB of 2.00 GiB; the largest batch that does: 34
  foretell rank: nothing can be placed
  [1]
  $ foretell rank data/models/resnet50.onnx --devices a30,l4 --limit time=1us > /dev/null
  misses time=1us: a30 (3.09 ms), l4 (3.09 ms)
  foretell rank: nothing can be placed
  [1]
  $ foretell rank data/models/resnet50.onnx --devices a30,l4 --limit time=500ns > /dev/null
  misses time=500ns: a30 (3.09 ms), l4 (3.09 ms)
  foretell rank: nothing can be placed
  [1]
  $ foretell rank data/models/resnet50.onnx --devices a30,l4 --by energy
  resnet50.onnx by energy of one forward pass
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: inference, fp32
  
  #  device  energy      low    high     time  items/s   memory      chance  basis
  ---------------------------------------------------------------------------------
  1  l4      137 mJ  63.2 mJ  322 mJ  3.09 ms    323.8  627 MiB  *   71.5 %  scaled
  2  a30     215 mJ  81.4 mJ  507 mJ  3.09 ms    324.1  627 MiB  *~  28.5 %  scaled
  
  *: Pareto-optimal in time and energy
  best: l4
  on average this answer lies 23.8 % above the best (expected regret)
  l4 and a30 cannot be distinguished (~): their intervals overlap
  $ foretell rank data/models/resnet50.onnx --devices a30,l4 --by co2 --co2 400g/kWh | tail -2
  on average this answer lies 23.8 % above the best (expected regret)
  l4 and a30 cannot be distinguished (~): their intervals overlap
  $ foretell rank data/models/resnet50.onnx --devices local
  foretell rank: there is no predictor for this machine yet (HOME/.local/share/foretell/local-onednn.ftp); two commands make one:
    foretell collect --quick --engine onednn
    foretell train --engine onednn
  [4]

What cannot be understood.

  $ foretell rank data/models/resnet50.onnx --by speed
  foretell rank: --by speed: it is one of time, energy, power, edp, memory, cost, co2, or, of a language model that is served, ttft, tpot, itl, e2e, tokens-per-user, tokens-per-device
  [2]
  $ foretell rank data/models/resnet18.onnx --devices 'a30,NVIDIA A30,l4' -q | grep -cE '^[0-9] '
  2
  $ foretell rank data/models/resnet50.onnx --limit time=10 2>&1 | grep -o 'its units.*'
  its units are s, ms, us, ns, m, min, h
  $ foretell rank data/models/resnet50.onnx --limit time
  foretell rank: --limit time: it wants time, energy, power, edp, memory, cost or co2 and the most of it, such as time=10ms, or, of a language model that is served, ttft, tpot, itl or e2e
  [2]
  $ for of in memory=512MiB memory=512MB memory=600MB; do foretell rank data/models/resnet18.onnx --devices a30 --limit $of 2>&1 | grep -oE '^misses [^:]*|^1  a30'; done
  misses memory=512MiB
  misses memory=512MB
  1  a30
  $ echo 'relu x=8 dtype=fp32' | foretell rank --stdin --devices raspberry-pi-5 --by energy 2>&1 | tail -1
  foretell rank: energy is not known on any of the devices
  $ echo 'relu x=8 dtype=fp32' | foretell rank --stdin --devices raspberry-pi-5 --limit energy=1J 2>&1 | tail -1
  foretell rank: energy is not known on any of the devices
  $ foretell rank data/models/resnet50.onnx --limit memory=1000000GiB
  foretell rank: --limit memory=1000000GiB: it is too large: at most 1e15 in the base unit
  [2]
  $ foretell rank data/models/resnet50.onnx --limit time=0ms
  foretell rank: --limit time=0ms: it is 0, and has to be more
  [2]
  $ foretell rank data/models/resnet50.onnx --price a30=0/h
  foretell rank: --price a30=0/h: it is 0, and has to be more
  [2]
  $ foretell rank data/models/resnet50.onnx --limit time=10J
  foretell rank: --limit time=10J: its units are s, ms, us, ns, m, min, h
  [2]
  $ foretell rank data/models/resnet50.onnx --limit memory=600mb
  foretell rank: --limit memory=600mb: its units are B, kB, MB, GB, KiB, MiB, GiB
  [2]
  $ foretell rank data/models/resnet50.onnx --price a30=2.49
  foretell rank: --price a30=2.49: its units are /h, /hour, /min, /s, /day
  [2]
  $ foretell rank data/models/resnet50.onnx --devices a30,l4 --price a30=2.49/h,l4=1/h
  foretell rank: --price a30=2.49/h,l4=1/h: one device each: repeat --price
  [2]
  $ foretell rank data/models/resnet50.onnx --devices a30 --price a300=1/h
  foretell rank: no device "a300"; there are a30, b300, gb300, mi300a, mi300x; foretell devices lists all 162
  [4]
  $ foretell rank data/models/resnet50.onnx --devices a30 --price 1/h --price l4=1/h 2>&1 >/dev/null
  warning: --price l4=1/h: l4 is not among the devices asked
  $ foretell rank data/models/resnet50.onnx --devices a30 --by cost
  foretell rank: --by cost wants --price, such as 2.5/h or l4=0.7/h
  [2]
  $ foretell rank data/models/resnet50.onnx --devices a30 --by co2
  foretell rank: --by co2 wants --co2, such as 400g/kWh
  [2]
  $ foretell rank data/models/resnet50.onnx data/models/resnet18.onnx
  foretell rank: one argument too many: "data/models/resnet18.onnx"; many networks are lists behind each other: --stdin
  see foretell rank --help
  [2]
  $ foretell rank data/models/resnet50.onnx --co2 much
  foretell rank: --co2 much: it wants grams per kilowatt hour, such as 400g/kWh
  [2]
  $ foretell rank data/models/resnet50.onnx --batches 8,,1
  foretell rank: --batches 8,,1: whole numbers from 1, joined by commas, at most 32
  [2]
  $ foretell rank data/models/resnet50.onnx --batches 8 --batch 1
  foretell rank: --batch or --batches, not both
  [2]
  $ foretell rank data/models/resnet50.onnx --devices a30,,l4
  foretell rank: --devices wants names joined by commas, or all, not "a30,,l4"
  [2]
  $ foretell rank data/models/resnet50.onnx --devices nosuch 2>&1 | cut -c 1-40
  foretell rank: no device "nosuch", and n
  $ foretell rank data/models/resnet50.onnx --predictor nosuch.ftp
  foretell rank: nosuch.ftp: No such file or directory
  [3]

Predictors of three devices: what was measured with the fake engine, as it is and slowed
down, under their names.

  $ foretell collect --engine fake data/models/resnet18.onnx data/models/resnet50.onnx --db here.db -q > /dev/null
  > foretell data export --db here.db -o here.csv
  > rename() { python3 -c "
  > import csv, sys
  > name, factor = sys.argv[1], float(sys.argv[2])
  > rows = csv.DictReader(sys.stdin)
  > out = csv.DictWriter(sys.stdout, rows.fieldnames); out.writeheader()
  > for row in rows:
  >     row['device'] = name
  >     if row['metric'] == 'time':
  >         for k in ('value', 'error', 'mad', 'mean', 'std'):
  >             row[k] = row[k] and repr(float(row[k]) * factor)
  >     out.writerow(row)" $1 $2 < here.csv > $1.csv
  >   foretell data import $1.csv --db $1.db > /dev/null
  >   foretell train --engine fake --device $1 --db $1.db -o $1.ftp > /dev/null; }
  > rename a30 1; rename t4 1.02; rename l4 1.3; ls *.ftp
  > printf '#!/bin/sh\nexec foretell rank data/models/resnet18.onnx --predictor a30.ftp --predictor t4.ftp --predictor l4.ftp "$@"\n' > ask; chmod +x ask
  a30.ftp
  l4.ftp
  t4.ftp
  $ ./ask | blur
  resnet18.onnx by time of one forward pass
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: inference, fp32
  
  #  device  time  low  high  items/s  energy  memory  chance  basis
  ----
  1  a30  80.7 ms  73.6 ms  88.6 ms  12.38  11.8 J  # B  *  100.0 %  measured
  2  t4  119 ms  109 ms  131 ms  8.369  8.28 J  # B  *  0.0 %  measured
  3  l4  120 ms  110 ms  132 ms  8.32  7.98 J  # B  *  0.0 %  measured
  
  *: Pareto-optimal in time and energy
  best: a30
  on average this answer lies 0.0 % above the best (expected regret)
  $ ./ask --json | pick best by per choices.\# choices.0.state choices.0.pareto choices.1.device choices.1.level choices.2.level
  best: "a30"
  by: "time"
  per: "pass"
  choices.#: 3
  choices.0.state: "placed"
  choices.0.pareto: true
  choices.1.device: "t4"
  choices.1.level: false
  choices.2.level: false
  $ ./ask --json > once; ./ask --json | cmp - once
  $ ./ask --by cost --price 2/h --price l4=1/h --json | pick best choices.0.values.cost.basis choices.0.values.energy
  best: "l4"
  choices.0.values.cost.basis: "measured"
  choices.0.values.energy: {"value": 7.9795054078776, "low": 5.62306242277741, "high": 11.3234571781435, "unit": "J", "basis": "scaled"}
  $ ./ask --batches 1,2 --json | pick per choices.\#
  per: "item"
  choices.#: 6
  $ ./ask --devices l4,h100-sxm | blur | tail -n +7
  1  h100-sxm  1.22 ms  434 us  2.89 ms  816.4  216 mJ  # B  *  100.0 %  scaled
  2  l4  120 ms  110 ms  132 ms  8.32  7.98 J  # B  0.0 %  measured
  
  *: Pareto-optimal in time and energy
  best: h100-sxm
  on average this answer lies 0.0 % above the best (expected regret)

At a clock: the predictor trained at it, otherwise the data sheet.

  $ sed 's/,threads=1,/,threads=1 clock=1200MHz,/' a30.csv > clocked.csv; foretell data import clocked.csv --db clocked.db > /dev/null
  > foretell train --engine fake --device a30 --setting 'threads=1 clock=1200MHz' --db clocked.db -o clocked.ftp > /dev/null
  $ foretell rank data/models/resnet18.onnx --predictor clocked.ftp --clocks 900,1200 | blur | tail -n +5
  #  device  clock  time  low  high  items/s  energy  memory  chance  basis  engine
  ----
  1  a30  1.20 GHz  84.3 ms  76.8 ms  92.4 ms  11.87  8.95 J  # B  *  98.5 %  measured  fake 1, threads=1 clock=1200MHz
  2  a30  900 MHz  101 ms  80.7 ms  125 ms  9.945  7.69 J  # B  *  1.5 %  scaled  fake 1, clock=900MHz
  
  *: Pareto-optimal in time and energy
  best: a30 at 1.20 GHz with fake 1, threads=1 clock=1200MHz
  on average this answer lies 0.0 % above the best (expected regret)
  $ foretell rank data/models/resnet18.onnx --predictor clocked.ftp --predictor a30.ftp | blur | grep a30
  1  a30  80.7 ms  73.6 ms  88.6 ms  12.38  11.8 J  # B  *  100.0 %  measured  fake 1, threads=1
  2  a30  84.3 ms  76.8 ms  92.4 ms  11.87  8.95 J  # B  *  0.0 %  measured  fake 1, threads=1 clock=1200MHz
  best: a30 with fake 1, threads=1
  $ foretell rank data/models/resnet18.onnx --clocks 900 --devices local
  foretell rank: there is no predictor for this machine yet (HOME/.local/share/foretell/local-onednn.ftp); two commands make one:
    foretell collect --quick --engine onednn
    foretell train --engine onednn
  [4]

Is the order right? Always the fastest is, and it is known only afterwards.

  $ for d in a30 t4 l4; do foretell data import $d.csv --db all.db > /dev/null; done
  > foretell evaluate --db all.db --where kind=conv2d --method extra --rank device --json | pick order.n_choices order.constant order.constant_right order.constant_regret order.worst_regret | sed 's/\(0.[0-9]\{3\}\)[0-9]*$/\1/'
  order.n_choices: 3
  order.constant: "a30"
  order.constant_right: 1.0
  order.constant_regret: 0.0
  order.worst_regret: 0.3
  $ foretell evaluate --db all.db --where kind=conv2d --method extra --rank device | grep -E '^(order|predicted|best|worst)'
  order of 3 choices over 29 operations that have all of them
  predicted            right 58.6 %, regret 1.8 % (expected 41.2 %)
  best constant answer right 100.0 %, regret 0.0 %: always a30
  worst constant       regret 30.0 %
  $ foretell evaluate --db all.db --where kind=conv2d --method extra --json | pick order
  order: null
  $ foretell evaluate --db all.db --where 'kind=conv2d device=a30' --rank device
  foretell evaluate: there is nothing to choose from: all rows are of a30
  [4]
  $ foretell evaluate --db all.db --rank speed
  foretell evaluate: --rank speed: it is one of device, setting
  [2]

Devices that do not compute in the element type are named.

  $ foretell rank data/models/resnet50.onnx --devices t4,v100,a30,mi25 --dtype bf16 | grep warning
  warning: v100 is v100-pcie-16gb (there are v100-pcie-16gb, v100-pcie-32gb, v100-sxm2-16gb, v100-sxm2-32gb)
  warning: no hardware for bf16: t4, v100-pcie-16gb, mi25; libraries convert it, or refuse to run; the times are guesses
  $ foretell rank data/models/resnet50.onnx --devices xeon-e5-2680v3,a30 --run-mode graph --batches 1,8 | grep warning
  warning: eager, not graph: of this device no other run mode is known: xeon-e5-2680v3
  $ foretell rank tables/../pt2/recurrent.pt2 --devices t4,a30 --run-mode compiled-graph | grep warning
  warning: torch.compile breaks its graph at recurrent layers: no CUDA graph is replayed, all of the network is issued: t4, a30
  $ foretell rank data/models/resnet50.onnx --devices t4,a30 --policy tf32 --batches 1,8 | grep warning
  warning: no hardware for tf32: t4; products are computed, and priced, in fp32
  $ foretell rank data/models/resnet50.onnx --devices t4 --dtype bf16 --mode training --json | pick warnings.# choices.0.no_hardware
  warnings.#: 1
  choices.0.no_hardware: true
  $ foretell rank data/models/resnet50.onnx --devices t4,v100,a30 --dtype fp16 | grep -c warning
  warning: v100 is v100-pcie-16gb (there are v100-pcie-16gb, v100-pcie-32gb, v100-sxm2-16gb, v100-sxm2-32gb)
  0
  [1]
  $ echo 'linear x=1x4096 out=1000 dtype=fp8e4m3' | foretell predict - --device a100,h100 | grep warning
  warning: NVIDIA A100 SXM4 80 GB has no hardware for fp8e4m3: libraries convert it, or refuse to run; the times are guesses
  $ foretell predict data/models/resnet18.onnx --device a30 --power-caps 100,400 | grep 'above the'
  assumed: the cap is above the 165 W that the device is built for (TDP): it holds nothing back

A price goes by any name that its device has.
  $ foretell rank data/models/resnet50.onnx --devices h100,a100 --by cost --price h100=2.5/h --csv -q | cut -d , -f 1-2,5
  place,device,state
  1,h100-sxm,placed
  0,a100-sxm-80gb,unknown

What is not shown is shown by a command.

  $ foretell rank data/models/resnet18.onnx --devices a30,l4,h100-sxm --top 2 -q | grep more
  1 more: --top 3 lists all

Mixed precision has its own name; what no device has hardware for is its narrow type.

  $ foretell rank data/models/resnet50.pt2 --devices l4,t4 --mode training --batch 4 --precision amp-bf16 | grep -E 'assumed: training|warning'
  assumed: training, amp-bf16
  warning: no hardware for bf16: t4; libraries convert it, or refuse to run; the times are guesses

Where one host keeps all devices waiting, they err as it does: the cheaper one is the cheaper.

  $ foretell rank data/models/resnet18.onnx --devices h100-sxm,b200 --by cost --price h100-sxm=2/h --price b200=5/h --json | pick best choices.0.chance regret
  best: "h100-sxm"
  choices.0.chance: 1.0
  regret: 0.0
