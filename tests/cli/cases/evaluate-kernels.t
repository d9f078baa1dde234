Kernels in PTX that were timed: learned from, asked for, held out. Here all are a launch and bytes over
nine tenths of the bandwidth.

  $ cat > k.ptx <<'END'
  > .version 7.0
  > .target sm_70
  > .address_size 64
  > .visible .entry copy(.param .u64 a, .param .u64 b)
  > {
  >   .reg .b32 %r<5>;
  >   .reg .b64 %rd<6>;
  >   .reg .f32 %f<2>;
  >   ld.param.u64 %rd1, [a];
  >   ld.param.u64 %rd2, [b];
  >   mov.u32 %r1, %tid.x;
  >   mov.u32 %r2, %ctaid.x;
  >   mad.lo.s32 %r3, %r2, 256, %r1;
  >   mul.wide.s32 %rd3, %r3, 4;
  >   add.s64 %rd4, %rd1, %rd3;
  >   add.s64 %rd5, %rd2, %rd3;
  >   ld.global.f32 %f1, [%rd4];
  >   st.global.f32 [%rd5], %f1;
  >   ret;
  > }
  > END
  $ for k in copy again more; do sed "s/copy/$k/" k.ptx > $k.ptx; done
  $ cat > make <<'END'
  > #!/usr/bin/env python3
  > import json, sys
  > for file, title, rate in (("v", "Tesla V100", 810e9), ("t", "T4", 288e9), ("a", "a100-pcie-40gb", 1400e9)):
  >     with open(file + ".jsonl", "w") as f:
  >         print(json.dumps({"device": title}), file=f)
  >         for name in "copy", "again", "more":
  >             for i in range(12):
  >                 n = 2000 * 2 ** (i % 12)
  >                 print(json.dumps({"module": name + ".ptx", "kernel": name, "grid": n, "block": 256,
  >                                   "params": [{"pointer": n * 1024}] * 2, "registers": 16,
  >                                   "time_s": 2e-6 + n * 2048 / rate}), file=f)
  >         print(json.dumps({"module": "copy.ptx", "kernel": "copy", "grid": 1, "block": 256,
  >                           "error": "no such device"}), file=f)
  > END
  $ chmod +x make; ./make
  $ foretell evaluate --kernels v.jsonl,t.jsonl,a.jsonl | cut -c 1-13
  time of 108 m
  
  rows     n   
  -------------
  all    108  0
  -------------
  copy    36  0
  again   36  0
  more    36  0
  
  constant and 
  that estimate
  $ foretell evaluate --kernels v.jsonl,t.jsonl,a.jsonl --leave-out device --rows rows.csv --json | pick protocol n_splits all.learned.n by_split.0.name by_kind.2.name
  protocol: "device"
  n_splits: 3
  all.learned.n: 108
  by_split.0.name: "v100-pcie-16gb"
  by_kind.2.name: "more"
  $ cut -d, -f 1,2 rows.csv | sort | uniq -c
       36 a100-pcie-40gb,
        1 device,setting
       36 t4,
       36 v100-pcie-16gb,
  $ foretell evaluate --kernels v.jsonl,t.jsonl,a.jsonl --leave-out kernel=more --where device=t4,a100-pcie-40gb --json | pick all.learned.n n_learned
  all.learned.n: 24
  n_learned: 48.0
A predictor of kernels: found in the user's folder, or named.
  $ foretell train --kernels v.jsonl,t.jsonl -o vt.ftp --json | pick datasets.0 regressors.0.kind regressors.1.unseen regressors.1.forest.n
  datasets.0: {"device": "v100-pcie-16gb", "setting": "kernels in PTX", "engine": "", "engine_version": "", "dtype_policy": "", "n": 36}
  regressors.0.kind: "kernel"
  regressors.1.unseen: true
  regressors.1.forest.n: 72
  $ foretell train --kernels v.jsonl,t.jsonl --where 'kernel=copy,again' -o few.ftp --json | pick datasets.0.n
  datasets.0.n: 24
  $ head -5 t.jsonl | tail -n +2 | sed 's/, "time_s.*/}/' > four.jsonl
  $ foretell train --kernels v.jsonl,t.jsonl --without four.jsonl -o few.ftp --json | pick datasets.0.n datasets.1.n
  datasets.0.n: 32
  datasets.1.n: 32
  $ foretell ptx --launches four.jsonl --device t4 --no-ptxas | grep ' by '
    kernels        274 us, by the data sheet; registers estimated
  $ foretell ptx --launches four.jsonl --device t4 --no-ptxas --predictor vt.ftp | grep ' by '
    kernels        222 us, by vt.ftp; registers estimated
  $ foretell ptx copy.ptx --grid 64000 --block 256 --param a=pointer --param b=pointer --device t4 --registers 16 --predictor vt.ftp --json | pick estimate.by estimate.time.basis estimate.registers
  estimate.by: "vt.ftp"
  estimate.time.basis: "learned"
  estimate.registers: 16
  $ foretell ptx copy.ptx --grid 64000 --block 256 --param a=pointer --param b=pointer --device a100-pcie-40gb --registers 16 --predictor vt.ftp --json | pick estimate.time.basis
  estimate.time.basis: "scaled"
  $ foretell train --kernels v.jsonl,t.jsonl | tail -2 | head -1 | sed 's,/.*/,,'
  written: kernels.ftp
  $ foretell ptx --launches four.jsonl --device t4 --no-ptxas | grep ' by '
    kernels        222 us, by kernels.ftp; registers estimated
  $ foretell ptx --launches four.jsonl --device t4 --no-ptxas --method physics | grep ' by '
    kernels        274 us, by the data sheet; registers estimated
  $ foretell predict data/models/resnet18.onnx --device t4 --predictor vt.ftp
  foretell predict: the predictor has kernels in PTX alone, which foretell ptx asks it about
  [4]
  $ foretell ptx --launches four.jsonl --device t4 --no-ptxas --predictor data/predictors/llm.ftp
  foretell ptx: data/predictors/llm.ftp has nothing of kernels; foretell train --kernels makes one that has
  [4]
  $ foretell ptx --launches four.jsonl --predictor vt.ftp
  foretell ptx: --predictor goes with --device
  [2]
  $ foretell ptx --launches four.jsonl --device t4 --no-ptxas --predictor vt.ftp --method physics
  foretell ptx: --method physics uses no predictor: leave --predictor out
  [2]
  $ foretell ptx --launches four.jsonl --device t4 --no-ptxas --method roofline
  foretell ptx: --method of kernels is physics, not "roofline"
  [2]
Launches that the host makes one by one, of 30 us each.
  $ cat > eager <<'END'
  > #!/usr/bin/env python3
  > import json
  > for file, title, rate in (("ev", "Tesla V100", 810e9), ("et", "T4", 288e9)):
  >     with open(file + ".jsonl", "w") as f:
  >         print(json.dumps({"device": title}), file=f)
  >         for name in "copy", "again", "more":
  >             for i in range(12):
  >                 n = 20 * 2 ** (i % 12)
  >                 print(json.dumps({"module": name + ".ptx", "kernel": name, "call": "a" + name, "grid": n, "block": 256,
  >                                   "params": [{"pointer": n * 1024}] * 2, "registers": 16,
  >                                   "time_s": max(30e-6, 15e-6 + n * 2048 / rate)}), file=f)
  > END
  $ chmod +x eager; ./eager
  $ foretell train --kernels ev.jsonl,et.jsonl -o eager.ftp -q > out.txt
  $ sed -n 2p et.jsonl | sed 's/, "time_s.*/}/' > one.jsonl
  $ foretell ptx --launches one.jsonl --device t4 --no-ptxas --predictor eager.ftp --json | pick launches.0.estimate.bound launches.0.estimate.call_s
  launches.0.estimate.bound: "host"
  launches.0.estimate.call_s: 3e-05
  $ sed 's/"call": "acopy", //' one.jsonl > gap.jsonl; foretell ptx --launches gap.jsonl --device t4 --no-ptxas --predictor eager.ftp --json | pick launches.0.estimate.call_s
  launches.0.estimate.call_s: null
  $ foretell evaluate --kernels v.jsonl --leave-out device
  foretell evaluate: no launch of a kernel is left to learn from
  [4]
  $ foretell evaluate --kernels v.jsonl --leave-out network
  foretell evaluate: kernels in PTX are left out by kernel or device
  [2]
  $ foretell evaluate --kernels none.jsonl
  foretell evaluate: cannot read none.jsonl: No such file or directory
  [3]
  $ echo nonsense > bad.jsonl; foretell evaluate --kernels bad.jsonl
  foretell evaluate: bad.jsonl:1:1: an object in braces was expected
  [3]
  $ echo '{"kernel": "copy", "time_s": 1}' > bad.jsonl; foretell evaluate --kernels bad.jsonl
  foretell evaluate: bad.jsonl:1: a launch before the line that names the device; give what ptx-measure wrote
  [3]
  $ for l in '"registers": -1' '"static_shared": 1e300'; do head -1 v.jsonl; echo '{"kernel": "copy", "time_s": 1, '"$l"'}'; done > bad.jsonl; foretell evaluate --kernels bad.jsonl
  foretell evaluate: bad.jsonl:3: a second device; give it a file of its own
  [3]
  $ (head -1 v.jsonl; head -1 v.jsonl) > bad.jsonl; foretell evaluate --kernels bad.jsonl
  foretell evaluate: bad.jsonl:2: a second device; give it a file of its own
  [3]
  $ (head -3 v.jsonl; sed -n 4p v.jsonl | sed s/256/2560/) > bad.jsonl; foretell evaluate --kernels bad.jsonl
  foretell evaluate: bad.jsonl:4: copy: a block of 2560 x 1 x 1 threads; each is from 1 to 1024, 1024, 64
  [3]
  $ echo '{"device": "Abacus"}' > bad.jsonl; foretell evaluate --kernels bad.jsonl 2>&1 | cut -c 1-60
  foretell evaluate: no device file knows "Abacus"
  $ foretell evaluate --kernels v.jsonl,t.jsonl --folds 5
  foretell evaluate: --kernels goes with --leave-out kernel or device, --where, --siblings, --by, --rows and --seed alone
  [2]
  $ foretell evaluate --leave-out kernel
  foretell evaluate: nothing is measured yet, there is no HOME/.local/share/foretell/measurements.db; first: foretell collect --quick
  [4]
  $ foretell train --kernels v.jsonl,t.jsonl --method gp
  foretell train: --kernels without --family goes with --where, --without, --importance, --seed and --out alone
  [2]
  $ foretell train --kernels v.jsonl,t.jsonl --where kernel=none
  foretell train: v.jsonl,t.jsonl: no launch with a time that is asked for by kernel=none
  [4]
  $ foretell train --kernels v.jsonl,t.jsonl --without none.jsonl
  foretell train: cannot read none.jsonl: No such file or directory
  [3]
What each count is worth for time: by permuting it.
  $ foretell train --kernels v.jsonl,t.jsonl --importance -o worth.ftp | sed -n '/^regressor/,$p'
  regressor  metric  attribute            error grows by, points   +-
  -------------------------------------------------------------------
  kernel     time    memory / device                         1.6  0.0
  kernel     time    issue / device                          1.4  0.1
  kernel     time    cache / device                          1.4  0.2
  kernel     time    lanes                                   0.5  0.0
  kernel     time    L2 hit                                  0.5  0.1
  kernel     time    L2 cache / SM                           0.4  0.1
  kernel     time    instructions / byte                     0.2  0.0
  kernel     time    latency / device                        0.2  0.0
  
  written: worth.ftp
  next: foretell ptx FILE --grid X --device D --predictor worth.ftp
