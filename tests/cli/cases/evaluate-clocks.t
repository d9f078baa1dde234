What was measured at one pair of clocks, told at others: kernels that follow a law.

  $ cat > make <<'END'
  > #!/usr/bin/env python3
  > print("device,setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,value,"
  >       "error,mad,mean,std,n,iterations,taken_at,run")
  > for i in range(20):
  >     bound = i / 20
  >     for core in range(600, 1501, 100):
  >         time = (i + 1) * 1e-3 * ((1 - bound) * 1500 / core + bound)
  >         power = 60 + 100 * (1 - bound / 2) * core / 1500
  >         for metric, unit, value in ("time", "s", time), ("power", "W", power):
  >             print(f"t4,clock={core}MHz,test,1,kernel name=k_{i},forward,default,{metric},"
  >                   f"{unit},{value:.6g},,,,,1,1,1700000000,1")
  > END
  $ chmod +x make; ./make > all.csv; foretell data import all.csv --db a.db | head -1
  400 measurements taken from all.csv
  $ foretell evaluate --db a.db --clocks --folds 5 -q
  time of 200 measurements of 10 datasets, held out by clocks: 5 times, learned from 164 on average
  
  rows    n   MAPE  median    p90  within 10 %      R2   bias  constant  physics  covered  high/low
  -------------------------------------------------------------------------------------------------
  all   180  0.5 %   0.3 %  1.3 %      100.0 %  0.9995  0.0 %     7.2 %    7.2 %  100.0 %      1.17
  -------------------------------------------------------------------------------------------------
  t4    180  0.5 %   0.3 %  1.3 %      100.0 %  0.9995  0.0 %     7.2 %    7.2 %  100.0 %      1.17
  
  constant and physics: MAPE of the formulae alone, without
  what trees learn of their errors; covered: inside the 90 % interval; high/low: its median width.
  least covered kind of 50 rows or more: kernel, 100.0 %
  $ foretell evaluate --db a.db --clocks --folds 5 -q --csv | cut -d , -f 1-4
  by,name,n,mape
  all,all,180,0.005393300821082434
  device,t4,180,0.005393300821082434
  $ foretell evaluate --db a.db --clocks --folds 5 -q --metric energy --by device --csv | cut -d , -f 1-3
  by,name,n
  all,all,180
  device,t4,180

The predictor that is scored is the one that train writes, asked as users ask: rows that evaluate hid
are taken out of the file, and what predict says of them is what evaluate wrote down, digit by digit.
Three times as large in the untouched store, the hidden rows change nothing.

  $ cat > ask <<'END'
  > #!/usr/bin/env python3
  > import csv, json, os, subprocess
  > def foretell(*words):
  >     return subprocess.run(["foretell", *words], check=True, capture_output=True, text=True).stdout
  > def place(r):
  >     return r["spec"], r["setting"].replace(" run_mode=eager", "")
  > def store(name, rows):
  >     with open(name + ".csv", "w", newline="") as f:
  >         out = csv.DictWriter(f, list(rows[0]))
  >         out.writeheader()
  >         out.writerows(rows)
  >     foretell("data", "import", name + ".csv", "--db", name + ".db", "-q")
  > def table(db, name):
  >     foretell("evaluate", "--db", db, "--clocks", "--folds", "5", "-q", "--rows", name)
  >     return {place(r): r for r in csv.DictReader(open(name))}
  > rows, told = list(csv.DictReader(open("all.csv"))), table("a.db", "rows.csv")
  > hidden = {p for p in told if told[p]["split"] == "fold 1"}
  > store("left", [r for r in rows if place(r) not in hidden])
  > store("leak", [dict(r, value=3 * float(r["value"])) if place(r) in hidden else r for r in rows])
  > foretell("train", "--family", "--db", "left.db", "-q", "-o", "left.ftp")
  > same = 0
  > for spec, setting in sorted(hidden):
  >     with open("one.ops", "w") as f:
  >         f.write(spec)
  >     text = foretell("predict", "one.ops", "--device", "t4", "--setting", setting, "--engine", "test",
  >                     "--predictor", "left.ftp", "--json")
  >     a, b = json.loads(text)["ops"][0]["time"], told[spec, setting]
  >     same += all(f"{a[k]:.15g}" == f"{float(b[k]):.15g}" for k in ("value", "low", "high"))
  > leaked = table("leak.db", "leaked.csv")
  > moved = sum(told[p][k] != leaked[p][k] for p in hidden for k in ("value", "low", "high"))
  > print(len(hidden), "asked,", same, "the same;", moved, "moved by a leak")
  > END
  $ chmod +x ask; ./ask
  36 asked, 36 the same; 0 moved by a leak

One alone of which nothing can be asked, and workloads that were never measured.

  $ foretell evaluate --db a.db --clocks --where clock=1500MHz
  foretell evaluate: nothing is left to test on
  [4]
  $ foretell evaluate --db a.db --clocks --test a.db
  foretell evaluate: --clocks goes with --where, --metric, --folds, --by, --rows and --seed alone
  [2]
  $ echo 'kernel name=k_99' > other.ops; foretell predict other.ops --device t4 --clock 900MHz --predictor left.ftp
  foretell predict: workload 1 of the list was measured at no clock and under no cap of t4
  [4]
  $ echo 'relu x=8 dtype=fp32' > op.ops; foretell predict op.ops --device t4 --clock 900MHz --predictor left.ftp
  foretell predict: the predictor was made of what was measured whole, and of none on t4 in this phase and in elements as wide
  [4]
  $ foretell predict one.ops --device t4 --clocks 700,1000,1500 --predictor left.ftp
  one.ops
  assumed: inference, one forward pass at a time, fp32
  assumed: memory as PyTorch allocates it, operation by operation
  
  device     clock     time      low     high   power  energy  memory  fits  basis
  -----------------------------------------------------------------------------------
  t4       700 MHz  16.3 ms  15.7 ms  16.7 ms  95.9 W  1.56 J       -  -     learned
  t4      1.00 GHz  12.7 ms  12.4 ms  12.9 ms   112 W  1.42 J       -  -     learned
  t4      1.50 GHz  10.0 ms  9.51 ms  10.5 ms   138 W  1.38 J       -  -     measured
  least energy on t4: at 1.50 GHz, where it is fastest, too
  least energy x time on t4: at 1.50 GHz, where it is fastest, too
  - is not known; asked about one device alone, foretell says why
  

Specifications say nothing of them, and operations are another list.

  $ foretell predict one.ops --device t4 --method physics
  foretell predict: a kernel or network by name is predicted from measurements of it alone, in a list without operations
  [4]
  $ foretell predict one.ops --device t4 --method roofline
  foretell predict: a kernel or network by name is predicted from measurements of it alone, in a list without operations
  [4]
  $ (cat one.ops; echo; cat op.ops) > both.ops; foretell predict both.ops --device t4 --predictor left.ftp
  foretell predict: a kernel or network by name is predicted from measurements of it alone, in a list without operations
  [4]

Networks known under one power cap alone, by what GPUs have in common; then with others that were measured
under several. No cap takes the clock below the lowest one, so that more and more of the time is lost.

  $ cat > caps <<'EOF'
  > #!/usr/bin/env python3
  > import sys
  > print("device,setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,value,"
  >       "error,mad,mean,std,n,iterations,taken_at,run")
  > for i in range(8):
  >     for cap in (300,) if len(sys.argv) > 1 else (100, 150, 200, 250, 300):
  >         clock = max(0.12, min(1, (cap - 80) / (60 + 20 * i)))
  >         for metric, unit, value in ("time", "s", 0.1 / clock), ("power", "W", 80 + (60 + 20 * i) * clock):
  >             print(f"a40,power={cap}W,test,1,network name=n_{i} x=8,step,default,{metric},{unit},{value:.6g},,,,,1,1,1700000000,1")
  > EOF
  $ for n in one all; do python3 caps $(test $n = one && echo 1) > $n.csv
  >   foretell data import $n.csv --db $n.db -q; foretell train --family --db $n.db -q -o $n.ftp; done > /dev/null
  $ echo 'network name=n_6 x=8 phase=step' > n.ops
  $ foretell predict n.ops --device a40 --power-caps 50,100,150,200,300 --predictor one.ftp | grep -v assumed
  n.ops
  
  device     cap    time      low    high   power  energy  memory  fits  basis
  -------------------------------------------------------------------------------
  a40     50.0 W  440 ms   270 ms  719 ms  86.5 W  38.1 J       -  -     scaled
  a40      100 W  332 ms   218 ms  506 ms  95.9 W  31.9 J       -  -     scaled
  a40      150 W  158 ms   125 ms  199 ms   140 W  22.0 J       -  -     scaled
  a40      200 W  111 ms  95.7 ms  128 ms   179 W  19.9 J       -  -     scaled
  a40      300 W  100 ms  95.1 ms  105 ms   260 W  26.0 J       -  -     measured
  least energy on a40: under 200 W, 76.4 % of the energy and 110.7 % of the time under 300 W
  least energy x time on a40: under 200 W, 76.4 % of the energy and 110.7 % of the time under 300 W
  caps that do not hold: 50.0 W on a40; it draws more, and drivers may refuse them
  - is not known; asked about one device alone, foretell says why
  
  $ foretell evaluate --db all.db --clocks --folds 8 -q --csv | cut -d , -f 1-3
  by,name,n
  all,all,32
  device,a40,32
  $ foretell predict n.ops --device a40 --power-cap 150 --predictor all.ftp --csv | cut -d , -f 4,7
  time_s,basis
  0.257143,measured
  $ foretell predict n.ops --device a40 --power-caps 100,none --predictor one.ftp
  foretell predict: --power-caps wants caps such as 150,200,250 (W), at most 64, not "100,none"
  [2]
  $ foretell predict n.ops --device a40 --power-caps 100 --clocks 900 --predictor one.ftp
  foretell predict: --power-caps goes without --clocks and --power-cap
  [2]
