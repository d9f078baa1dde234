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
  >             print(f"one,clock={core}MHz,test,1,kernel name=k_{i},forward,default,{metric},"
  >                   f"{unit},{value:.6g},,,,,1,1,1700000000,1")
  > END
  $ chmod +x make; ./make > all.csv; foretell data import all.csv --db a.db | head -1
  400 measurements taken from all.csv
  $ foretell evaluate --db a.db --clocks --folds 5 -q
  device  metric  workloads    n   MAPE  median    p90    bias  formulae  median of others  covered  high/low
  -----------------------------------------------------------------------------------------------------------
  one 1   time           20  180  0.7 %   0.3 %  1.4 %  +0.2 %    11.4 %            11.6 %  100.0 %     1.054
  one 1   power          20  180  0.0 %   0.0 %  0.0 %   0.0 %     0.1 %             1.9 %  100.0 %     1.001
  
  n: pairs of a workload and clocks that it was not known at; formulae, median of others:
  MAPE of the formulae without trees, of the other workloads' median ratio; covered: inside the 90 % interval; high/low: its median width
  $ foretell evaluate --db a.db --clocks --folds 5 -q --json > one.json
  $ pick devices.0.name devices.0.workloads devices.0.time.learned.n devices.0.power.usual.n < one.json
  devices.0.name: "one 1"
  devices.0.workloads: 20
  devices.0.time.learned.n: 180
  devices.0.power.usual.n: 180
  $ foretell evaluate --db a.db --clocks --folds 5 -q --csv | cut -d , -f 1-4
  device,metric,workloads,n
  one 1,time,20,180
  one 1,power,20,180

Another store's workloads, and one alone of which nothing can be told.

  $ grep -e device, -e 'k_[0-9],' all.csv > few.csv; foretell data import few.csv --db few.db | head -1
  200 measurements taken from few.csv
  $ grep -e device, -e 'k_1[0-9],' all.csv > rest.csv; foretell data import rest.csv --db rest.db | head -1
  200 measurements taken from rest.csv
  $ foretell evaluate --db few.db --test rest.db --clocks -q --csv | cut -d , -f 1-4
  device,metric,workloads,n
  one 1,time,10,90
  one 1,power,10,90
  $ foretell evaluate --db a.db --clocks --where clock=1500MHz
  foretell evaluate: the store holds no workload at several clocks that fits
  [4]
  $ foretell evaluate --db a.db --clocks --metric power
  foretell evaluate: --clocks goes with --where, --folds, --test and --seed alone
  [2]
