How well held-out operations are predicted: times that follow a law but for two percent.

  $ cat > make <<'END'
  > #!/usr/bin/env python3
  > import sys
  > print("device,setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,value,"
  >       "error,mad,mean,std,n,iterations,taken_at,run")
  > for device, slow in ("one", 1), ("two", 2):
  >     for i in range(1, 61):
  >         kind = "relu" if i % 2 else "tanh"
  >         time = slow * (1e-5 + 4e-9 * i * 1000) * (1 + i % 3 / 100)
  >         print(f"{device},,test,1,{kind} x={i}x1000 dtype=fp32,forward,default,time,s,"
  >               f"{time:.6g},,,,,1,1,1700000000,1")
  > END
  $ chmod +x make; ./make > all.csv; foretell data import all.csv --db a.db | head -1
  120 measurements taken from all.csv
  $ foretell evaluate --db a.db --where device=one --by kind,split -q
  time of 60 measurements of 1 dataset, held out by folds: 5 times, learned from 48 on average
  
  rows     n   MAPE  median    p90  within 10 %      R2    bias  constant  physics  covered  high/low
  ---------------------------------------------------------------------------------------------------
  all     60  1.5 %   1.2 %  1.7 %       98.3 %  0.9994  +0.5 %     6.7 %   16.5 %   93.3 %      1.07
  ---------------------------------------------------------------------------------------------------
  relu    30  1.7 %   1.2 %  1.7 %       96.7 %  0.9993  +0.7 %     7.3 %   17.1 %   96.7 %      1.08
  tanh    30  1.2 %   1.1 %  1.7 %      100.0 %  0.9994  +0.3 %     6.0 %   16.0 %   90.0 %      1.05
  ---------------------------------------------------------------------------------------------------
  fold 1  12  0.9 %   1.2 %  1.5 %      100.0 %  0.9993  +0.5 %     3.8 %   12.5 %  100.0 %      1.06
  fold 2  12  0.8 %   1.0 %  1.5 %      100.0 %  0.9995  -0.1 %     5.8 %   14.6 %  100.0 %      1.08
  fold 3  12  1.1 %   1.3 %  1.5 %      100.0 %  0.9992  -0.2 %     2.6 %   11.7 %   83.3 %      1.07
  fold 4  12  0.8 %   0.7 %  1.3 %      100.0 %  0.9998  -0.4 %     5.4 %   14.8 %  100.0 %      1.08
  fold 5  12  3.8 %   1.5 %  8.6 %       91.7 %   0.999  +2.7 %    15.6 %   29.1 %   83.3 %      1.07
  
  constant and physics: MAPE of always the same ratio to the physical estimate, and of
  that estimate alone; covered: inside the 90 % interval; high/low: its median width.

A device that is left out is told by what its file says of it; without a file there is no answer.

  $ foretell evaluate --db a.db --leave-out device=two -q --json
  {
    "command": "evaluate",
    "exit": 4,
    "message": "two: was not measured, and no device file tells of it"
  }
  [4]
  $ sed 's/^one,/v100-pcie-16gb,/; s/^two,/t4,/' all.csv > gpus.csv
  > foretell data import gpus.csv --db gpus.db | head -1
  120 measurements taken from gpus.csv
  $ foretell evaluate --db gpus.db --leave-out device=t4 -q --json > two.json
  $ pick protocol n_rows n_datasets n_splits n_learned all.learned.n by_split.0.name n_unanswered < two.json
  protocol: "device"
  n_rows: 120
  n_datasets: 2
  n_splits: 1
  n_learned: 60.0
  all.learned.n: 60
  by_split.0.name: "t4"
  n_unanswered: 0

Which intervals hold least often is said of groups large enough to tell, here of kinds alone.

  $ foretell evaluate --db a.db -q | tail -1
  least covered kind of 50 rows or more: tanh, 86.7 %
  $ foretell evaluate --db a.db -q --json > both.json
  $ pick least_covered_kind.learned.n least_covered_size < both.json
  least_covered_kind.learned.n: 60
  least_covered_size: null

A device twice as slow as the one that is known: a few of its rows say so.

  $ foretell evaluate --db gpus.db --leave-out device=t4 --correct 10 -q --csv | cut -c 1-14 | head -2
  by,name,n,mape
  all,all,50,0.0
  $ foretell evaluate --db a.db --leave-out kind --where device=one --csv -q | cut -d , -f 1-3
  by,name,n
  all,all,60
  kind,relu,30
  kind,tanh,30
  $ foretell evaluate --db a.db --share 50% --where device=one --curve --csv -q | cut -d , -f 1-2 | tail -2
  learned_from,24
  learned_from,30

What to measure next: all that could be measured stands in the order in which it would be.

  $ foretell evaluate --db a.db --where device=one --curve --choose active --seeds 1 --rows order.csv -q --json > curve.json
  $ pick n_operations n_tested n_seeds < curve.json
  n_operations: 43
  n_tested: 17
  n_seeds: 1
  $ cut -d , -f 1,2 order.csv | sort | uniq -c | sed 's/^ *//'
  43 1,active
  43 1,random
  1 seed,criterion
  $ sort -u order.csv | wc -l; sed -n 2p order.csv
  87
  1,random,tanh x=2x1000 dtype=fp32,forward
  $ foretell evaluate --db a.db --curve --choose active --rows order.csv -q
  foretell evaluate: order.csv: File exists
  [3]

What cannot be answered is said.

  $ foretell evaluate --db a.db --metric power
  foretell evaluate: the store holds no power of operations that fit
  [4]
  $ foretell evaluate --db a.db --metric speed
  foretell evaluate: no metric is called "speed"
  [2]
  $ foretell evaluate --db a.db --where device
  foretell evaluate: "device" is not NAME=VALUE
  [2]
  $ foretell evaluate --db a.db --where device=none
  foretell evaluate: the store holds no time of operations that fit
  [4]
  $ foretell evaluate --db a.db --share 0
  foretell evaluate: --share is a part as 5% or 0.05, not "0"
  [2]
  $ foretell evaluate --db a.db --leave-out tuesday
  foretell evaluate: --leave-out tuesday: it is one of device, kind, setting, network, family, kernel, layer
  [2]
  $ foretell evaluate --db a.db --leave-out network
  foretell evaluate: nothing to leave out: no network
  [4]
  $ foretell evaluate --db a.db --folds 1
  foretell evaluate: --folds is 2 to 1000
  [2]
  $ foretell evaluate --db a.db --folds 5 --share 5%
  foretell evaluate: --folds, --share, --leave-out and --test: one of them
  [2]
  $ foretell evaluate --db a.db --method magic
  foretell evaluate: --method magic: it is one of ridge, knn, template, tree, forest, extra, boost, mlp, svr, gp, hist, middle
  [2]
  $ foretell evaluate --db a.db --leave-out device --chosen
  foretell evaluate: --chosen goes with --correct
  [2]
  $ foretell evaluate --db a.db --correct 10
  foretell evaluate: times and power of devices left out can be corrected, nothing else
  [2]
  $ foretell evaluate --db a.db --by colour
  foretell evaluate: --by colour: it is one of kind, device, size, split
  [2]
  $ foretell evaluate --db none.db
  foretell evaluate: there is no store none.db; name another with --db, or fill this one: foretell collect --quick --db none.db
  [3]
  $ foretell evaluate --seeds 3
  foretell evaluate: --seeds goes with --choose
  [2]
  $ foretell evaluate --choose active
  foretell evaluate: --choose goes with --curve, and with --where, --method, --seeds, --seed and --rows alone
  [2]
  $ foretell evaluate --curve --choose clever
  foretell evaluate: --choose clever: it is one of active, spread, random
  [2]

Elements of 128 bits are rows as others.

  $ for d in v100-pcie-16gb t4 a30; do sed "s/^one,/$d,/; s/fp32/complex128/; /^two/d" all.csv | sed '1d'; done > rest
  > (head -1 all.csv; cat rest) > wide.csv; foretell data import wide.csv --db wide.db -q; foretell train --family --db wide.db -o wide.ftp -q > trained; head -1 trained
  180 measurements taken from wide.csv
  learned from    setting  engine  dtype policy  measurements
