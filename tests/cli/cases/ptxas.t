Registers, spills and shared memory come from ptxas, where it is on PATH.

  $ mkdir good && cat >good/ptxas <<'END' && chmod +x good/ptxas
  > #!/bin/sh
  > grep -c visible.*entry /dev/stdin >>asked
  > echo "$@" >>asked
  > ls -l /proc/self/fd | grep -c deleted >open
  > for kernel in transpose saxpy; do
  > echo "ptxas info    : Compiling entry function '$kernel' for '${2#-arch=}'"
  > echo "ptxas info    : Function properties for $kernel"
  > echo "    64 bytes stack frame, 24 bytes spill stores, 40 bytes spill loads"
  > echo "ptxas info    : Function properties for helper"
  > echo "    8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads"
  > echo "ptxas info    : Used 72 registers, used 1 barriers, 512 bytes smem, 376 bytes cmem[0]"
  > done >&2
  > END
  $ PATH=$PWD/good:$PATH foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --param 3=100000 --device a100 | grep -e occupancy -e spills
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  occupancy   37.5 % of the warps an SM can hold, 3 blocks on each; 1.21 waves; 72 registers a thread (ptxas for sm_80)
  - ptxas spills registers: its code stores 24.0 B a thread to local memory and loads 40.0 B, which is not in the counts
  $ cat asked
  2
  -v -arch=sm_80 -o /dev/null -e saxpy /dev/stdin
  $ cat open # input and messages of ls, and nothing more that is ours
  2
  $ PATH=$PWD/good:$PATH foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --param 3=100000 --device a100 --json | pick estimate.registers estimate.registers_from estimate.ptxas
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  estimate.registers: 72
  estimate.registers_from: "ptxas"
  estimate.ptxas: {"arch": "sm_80", "registers": 72, "stack_bytes": 64, "spill_stores": 24, "spill_loads": 40, "shared_bytes": 512}

It is asked for what the GPU executes; PTX of features that one generation has alone stays where it is.

  $ : >asked; PATH=$PWD/good:$PATH foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --device h100 | grep occupancy; cat asked
  warning: h100 is h100-sxm (there are h100-nvl, h100-pcie, h100-sxm)
  occupancy   37.5 % of the warps an SM can hold, 3 blocks on each; 0.99 waves; 72 registers a thread (ptxas for sm_90)
  2
  -v -arch=sm_90 -o /dev/null -e saxpy /dev/stdin
  $ : >asked; PATH=$PWD/good:$PATH foretell ptx examples/ptx/compiled/sm_90a/hopper.ptx --entry gemm_wgmma --grid 1 --block 128 --device b200 2>&1 | grep -e ptxas -e occupancy; cat asked
  warning: ptxas says nothing of gemm_wgmma in hopper.ptx; its registers are estimated from the PTX
  occupancy   37.5 % of the warps an SM can hold, 6 blocks on each; 0.00 waves; 45 registers a thread (estimated)
  3
  -v -arch=sm_90a -o /dev/null -e gemm_wgmma /dev/stdin

Once a module, with all of its kernels that are launched.

  $ : >asked; PATH=$PWD/good:$PATH foretell ptx --launches ptx/nvcc --device a100 | grep kernels; cat asked
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
    kernels        29.4 us, by the data sheet; registers by ptxas
  2
  -v -arch=sm_80 -o /dev/null -e saxpy,transpose /dev/stdin
  2
  -v -arch=sm_90 -o /dev/null -e saxpy /dev/stdin

Without a launch, for each kernel.

  $ : >asked; PATH=$PWD/good:$PATH foretell ptx ptx/nvcc/saxpy.ptx --device a100 | grep -e line -e allocated; cat asked
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  saxpy    line 16
    allocated     72 registers, 512 B shared, 24 B spilled and 40 B loaded back (ptxas for sm_80)
  transpose    line 61
    allocated     72 registers, 512 B shared, 24 B spilled and 40 B loaded back (ptxas for sm_80)
  2
  -v -arch=sm_80 -o /dev/null -e saxpy,transpose /dev/stdin
  $ PATH=$PWD/good:$PATH foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --device a100 --json | pick files.0.kernels.0.allocated
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  files.0.kernels.0.allocated: {"registers": 72, "from": "ptxas", "ptxas": {"arch": "sm_80", "registers": 72, "stack_bytes": 64, "spill_stores": 24, "spill_loads": 40, "shared_bytes": 512}}
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --device a100 --no-ptxas | grep allocated
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
    allocated     about 11 registers (estimated)
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --json | pick files.0.kernels.0.allocated
  files.0.kernels.0.allocated: null
  $ PATH=$PWD/good:$PATH foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --device mi100
  foretell ptx: mi100: kernels in PTX run on GPUs of NVIDIA's; name one of them
  [4]

What is given is not asked for, nor what is not to be.

  $ : >asked; PATH=$PWD/good:$PATH foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --device a100 --registers 40 | grep occupancy; cat asked
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  occupancy   75.0 % of the warps an SM can hold, 6 blocks on each; 0.60 waves; 40 registers a thread (given)
  $ : >asked; PATH=$PWD/good:$PATH foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --device a100 --no-ptxas | grep occupancy; cat asked
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  occupancy   100.0 % of the warps an SM can hold, 8 blocks on each; 0.45 waves; 11 registers a thread (estimated)

Without it, and where it refuses, says nothing, or has no end: an estimate, and why.

  $ mkdir bare && for p in sh sed grep cat sleep yes; do ln -s "$(command -v $p)" bare; done; ln -s "$(command -v foretell)" bare
  $ PATH=$PWD/bare foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --device a100 | grep occupancy
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  occupancy   100.0 % of the warps an SM can hold, 8 blocks on each; 0.45 waves; 11 registers a thread (estimated, for no ptxas is on PATH)
  $ PATH=$PWD/bare foretell ptx --launches ptx/nvcc --device a100 | grep kernels
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
    kernels        22.8 us, by the data sheet; registers estimated, for no ptxas is on PATH
  $ printf '#!/bin/sh\necho "ptxas info : hello"; echo "ptxas /dev/stdin, line 12; error   : Feature x needs sm_90" >&2; exit 255\n' >bare/ptxas; chmod +x bare/ptxas
  $ PATH=$PWD/bare foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --device h100 2>&1 | grep -e ptxas -e occupancy
  warning: ptxas refuses saxpy.ptx for sm_80: line 12; Feature x needs sm_90; registers are estimated from the PTX
  occupancy   100.0 % of the warps an SM can hold, 8 blocks on each; 0.37 waves; 11 registers a thread (estimated)
  $ printf '#!/bin/sh\nexit 1\n' >bare/ptxas
  $ PATH=$PWD/bare foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --device a100 2>&1 | grep -e ptxas -e occupancy
  warning: ptxas refuses saxpy.ptx for sm_80: it does not say why; registers are estimated from the PTX
  occupancy   100.0 % of the warps an SM can hold, 8 blocks on each; 0.45 waves; 11 registers a thread (estimated)
  $ printf '#!/bin/sh\necho "Compiling entry function '"'"'saxpy"; echo " registers"; echo "Used 99999999999999999999999 registers"; echo "Used -1 registers"\n' >bare/ptxas
  $ PATH=$PWD/bare foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --device a100 2>&1 | grep -e ptxas -e occupancy
  warning: ptxas says nothing of saxpy in saxpy.ptx; its registers are estimated from the PTX
  occupancy   100.0 % of the warps an SM can hold, 8 blocks on each; 0.45 waves; 11 registers a thread (estimated)
  $ printf '#!/bin/sh\nsleep 60 & exec sleep 60\n' >bare/ptxas
  $ PATH=$PWD/bare foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --device a100 --ptxas-time 200ms 2>&1 | grep -e ptxas -e occupancy
  warning: ptxas is not through with saxpy.ptx after 0.2 s in all (--ptxas-time): what it has not said of registers is estimated from the PTX
  occupancy   100.0 % of the warps an SM can hold, 8 blocks on each; 0.45 waves; 11 registers a thread (estimated)
  $ printf '#!/bin/sh\nexec yes ptxas\n' >bare/ptxas
  $ PATH=$PWD/bare foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --device a100 2>&1 | grep -e ptxas -e occupancy
  warning: HOME/bare/ptxas prints more than 8 MiB; registers of saxpy.ptx are estimated from the PTX
  occupancy   100.0 % of the warps an SM can hold, 8 blocks on each; 0.45 waves; 11 registers a thread (estimated)
  $ printf 'no program' >bare/ptxas
  $ PATH=$PWD/bare foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --device a100 2>&1 | grep -e ptxas -e occupancy
  warning: ptxas refuses saxpy.ptx for sm_80: HOME/bare/ptxas: 1: no: not found; registers are estimated from the PTX
  occupancy   100.0 % of the warps an SM can hold, 8 blocks on each; 0.45 waves; 11 registers a thread (estimated)
  $ printf '#!/no/such/program\n' >bare/ptxas
  $ PATH=$PWD/bare foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --device a100 2>&1 | grep -e ptxas -e occupancy
  warning: cannot run HOME/bare/ptxas: No such file or directory; registers of saxpy.ptx are estimated from the PTX
  occupancy   100.0 % of the warps an SM can hold, 8 blocks on each; 0.45 waves; 11 registers a thread (estimated)
