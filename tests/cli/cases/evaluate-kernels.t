Kernels in PTX that were timed, told without their kernel or GPU: here all are a launch and bytes over
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
  $ foretell evaluate --kernels v.jsonl,t.jsonl,a.jsonl | head -6 | cut -c 1-13
  kernel    n  
  -------------
  all     108  
  -------------
  copy     36  
  again    36  
  $ foretell evaluate --kernels v.jsonl,t.jsonl,a.jsonl --leave-out device --json | pick kernels.0.kernel kernels.0.device
  kernels.0.kernel: "copy"
  kernels.0.device: "v100-pcie-16gb"
  $ foretell evaluate --kernels v.jsonl --leave-out device
  foretell evaluate: there are launches of one device only; to tell others, measure more of them
  [4]
  $ foretell evaluate --kernels v.jsonl --leave-out network
  foretell evaluate: --kernels goes with --leave-out kernel or device
  [2]
  $ foretell evaluate --kernels none.jsonl
  foretell evaluate: cannot read none.jsonl
  [3]
  $ echo nonsense > bad.jsonl; foretell evaluate --kernels bad.jsonl
  foretell evaluate: bad.jsonl:1:8: '[' or '{' expected near 'nonsense'
  [3]
  $ echo '{"kernel": "copy", "time_s": 1}' > bad.jsonl; foretell evaluate --kernels bad.jsonl
  foretell evaluate: bad.jsonl:1: a launch before the line that names the device; give what ptx-measure wrote
  [3]
  $ for l in '"registers": -1' '"static_shared": 1e300'; do head -1 v.jsonl; echo '{"kernel": "copy", "time_s": 1, '"$l"'}'; done > bad.jsonl; foretell evaluate --kernels bad.jsonl
  foretell evaluate: bad.jsonl:2: registers or shared memory that no GPU has
  [3]
  $ (head -1 v.jsonl; head -1 v.jsonl) > bad.jsonl; foretell evaluate --kernels bad.jsonl
  foretell evaluate: bad.jsonl:2: a second device; give it a file of its own
  [3]
  $ (head -3 v.jsonl; sed -n 4p v.jsonl | sed s/256/2560/) > bad.jsonl; foretell evaluate --kernels bad.jsonl
  foretell evaluate: bad.jsonl:4: copy: a block of 2560 x 1 x 1 threads; each is from 1 to 1024, 1024, 64
  [3]
  $ echo '{"device": "Abacus"}' > bad.jsonl; foretell evaluate --kernels bad.jsonl 2>&1 | cut -c 1-60
  foretell evaluate: no device file knows "Abacus"
