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
  
  rows    n   MAPE  median    p90  within 10 %      R2    bias  constant  physics  covered  high/low
  --------------------------------------------------------------------------------------------------
  all   180  0.6 %   0.3 %  1.3 %      100.0 %  0.9985  +0.1 %    12.8 %   12.8 %  100.0 %      1.06
  --------------------------------------------------------------------------------------------------
  t4    180  0.6 %   0.3 %  1.3 %      100.0 %  0.9985  +0.1 %    12.8 %   12.8 %  100.0 %      1.06
  
  constant and physics: MAPE of the formulae alone, without
  what trees learn of their errors; covered: inside the 90 % interval; high/low: its median width.
  least covered kind of 50 rows or more: kernel, 100.0 %
  $ foretell evaluate --db a.db --clocks --folds 5 -q --csv | cut -d , -f 1-4
  by,name,n,mape
  all,all,180,0.006411472863793624
  device,t4,180,0.006411472863793624
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
  foretell predict: workload 1 of the list was measured at no clock of t4
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
  t4       700 MHz  16.3 ms  16.0 ms  16.6 ms  96.2 W  1.56 J       -  -     learned
  t4      1.00 GHz  12.7 ms  12.6 ms  12.9 ms   112 W  1.42 J       -  -     learned
  t4      1.50 GHz  10.0 ms  9.51 ms  10.5 ms   138 W  1.38 J       -  -     measured
  least energy on t4: at 1.50 GHz, 100.0 % of the energy and 100.0 % of the time at 1.50 GHz
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
