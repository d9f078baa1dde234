What a file holds: kernels, their parameters, registers and instructions.

  $ foretell ptx ptx/nvcc/saxpy.ptx
  ptx/nvcc/saxpy.ptx: PTX 9.0 for sm_80, 2 kernels
  
  saxpy    line 16
    parameters    saxpy_param_0 (pointer), saxpy_param_1 (pointer), saxpy_param_2 (4 B), saxpy_param_3 (4 B)
    block         left to the launch
    registers     2 predicates, 0 of 16, 11 of 32, 8 of 64 bits declared; ptxas allocates fewer
    memory        0 B shared, 0 B local
    instructions  20 in the text: 6 load, 3 move, 2 int, 2 mul, 2 convert, 2 control, 1 fp32, 1 compare, 1 store
  
  transpose    line 61
    parameters    transpose_param_0 (pointer), transpose_param_1 (pointer), transpose_param_2 (4 B), transpose_param_3 (4 B)
    block         at most 128 threads
    registers     13 predicates, 0 of 16, 43 of 32, 13 of 64 bits declared; ptxas allocates fewer
    memory        0 B shared, 0 B local
    instructions  69 in the text: 16 int, 12 logic, 8 mul, 8 load, 7 move, 6 compare, 5 control, 4 store, 2 convert, 1 sync
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --json | pick files.#  files.0.target files.0.kernels.0.name files.0.kernels.0.parameters.2 files.0.kernels.0.instructions.fp32
  files.#: 1
  files.0.target: "sm_80"
  files.0.kernels.0.name: "saxpy"
  files.0.kernels.0.parameters.2: {"name": "saxpy_param_2", "size": 4, "align": 4, "pointer": false}
  files.0.kernels.0.instructions.fp32: 1
  $ foretell ptx ptx/nvcc/saxpy.ptx --csv
  file,kernel,line,parameters,block_x,block_y,block_z,predicates,registers_16,registers_32,registers_64,shared_bytes,local_bytes,instructions
  ptx/nvcc/saxpy.ptx,saxpy,16,4,0,0,0,2,0,11,8,0,0,20
  ptx/nvcc/saxpy.ptx,transpose,61,4,0,0,0,13,0,43,13,0,0,69

A text of cuobjdump's holds several modules.

  $ foretell ptx ptx/nvcc/cuobjdump.txt --entry saxpy | grep PTX
  ptx/nvcc/cuobjdump.txt: PTX 9.0 for sm_80, 2 kernels
  ptx/nvcc/cuobjdump.txt: PTX 9.0 for sm_90, 2 kernels

What a launch executes. Parameters that are used as addresses need no value.

  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --param saxpy_param_2=0.5 --param 3=100000
  saxpy of ptx/nvcc/saxpy.ptx (sm_80)
  grid 391, block 256: 391 blocks, 3128 warps, 100096 threads
  shared memory of a block: 0 B
  counts are exact
  
  instructions  of warps    share  of threads  predicated on  threads of 32
  -------------------------------------------------------------------------
  load             18762   30.0 %      600384         600384           32.0
  move              9384   15.0 %      300288         300288           32.0
  control           6256   10.0 %      200192         100192           16.0
  mul               6253   10.0 %      200096         200096           32.0
  int               6250   10.0 %      200000         200000           32.0
  convert           6250   10.0 %      200000         200000           32.0
  compare           3128    5.0 %      100096         100096           32.0
  fp32              3125    5.0 %      100000         100000           32.0
  store             3125    5.0 %      100000         100000           32.0
  -------------------------------------------------------------------------
  all              62533  100.0 %     2001056        1901056           30.4
  
  memory           bytes  requests     a request  would do
  --------------------------------------------------------
  global loads   781 KiB      6250  4.00 sectors      4.00
  global stores  391 KiB      3125  4.00 sectors      4.00
  
  work        200 kFLOP in fp32; 0.167 FLOP a byte of global memory
  branches    3128 conditional ones of warps, 0.0 % divergent
  
  lines  instructions  entered by warps  threads of 32   share  from
  ------------------------------------------------------------------------
  30-41            10              3128           32.0  50.0 %  saxpy.cu:1
  44-53             9              3125           32.0  45.0 %  saxpy.cu:3
  57                1              3128           32.0   5.0 %  saxpy.cu:7
  
  - 5.0 integer instructions stand beside each floating-point one

Conflicts, sectors and divergence are counted, and what stands out is said.

  $ foretell ptx ptx/nvcc/saxpy.ptx --entry transpose --grid 32,64 --block 16,8 --shared 1024 --param 2=512 --param 3=1024 --blocks 2
  transpose of ptx/nvcc/saxpy.ptx (sm_80)
  grid 32 x 64, block 16 x 8: 2048 blocks, 8192 warps, 262144 threads
  shared memory of a block: 1024 B, 1024 of them dynamic
  counts are exact
  
  instructions  of warps    share  of threads  predicated on  threads of 32
  -------------------------------------------------------------------------
  int             131072   23.2 %     4194304        4194304           32.0
  logic            98304   17.4 %     3145728        3145728           32.0
  mul              65536   11.6 %     2097152        2097152           32.0
  load             65536   11.6 %     2097152        2097152           32.0
  move             57344   10.1 %     1835008        1835008           32.0
  compare          49152    8.7 %     1572864        1572864           32.0
  control          40960    7.2 %     1310720         262144            6.4
  store            32768    5.8 %     1048576        1048576           32.0
  convert          16384    2.9 %      524288         524288           32.0
  sync              8192    1.4 %      262144         262144           32.0
  -------------------------------------------------------------------------
  all             565248  100.0 %    18087936       17039360           30.1
  
  memory            bytes  requests     a request  would do
  ---------------------------------------------------------
  global loads   2.00 MiB     16384  4.00 sectors      4.00
  global stores  2.00 MiB     16384  4.00 sectors      4.00
  shared loads   2.00 MiB     16384   8.00 cycles      1.00
  shared stores  2.00 MiB     16384   1.00 cycles      1.00
  
  work        no floating-point arithmetic
  branches    32768 conditional ones of warps, 0.0 % divergent; 2048 barriers of blocks
  
  lines    instructions  entered by warps  threads of 32   share  from
  ---------------------------------------------------------------------------
  76-95              18              8192           32.0  26.1 %  saxpy.cu:9
  130-146            12              8192           32.0  17.4 %  saxpy.cu:17
  
  - shared loads take 8.0 cycles a request where 1.0 would do (bank conflicts); worst are those of saxpy.cu:22, 8.0 instead of 1.0
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --param 3=100000 --json | pick launch.grid counts.threads counts.exact counts.classes.fp32.warp counts.spaces.global.bytes.loaded counts.sectors.stored estimate blocks.#
  launch.grid: [391, 1, 1]
  counts.threads: 100096
  counts.exact: true
  counts.classes.fp32.warp: {"low": 3125, "value": 3125, "high": 3125}
  counts.spaces.global.bytes.loaded: {"low": 800000, "value": 800000, "high": 800000}
  counts.sectors.stored: {"low": 12500, "value": 12500, "high": 12500}
  estimate: null
  blocks.#: 3
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --param 3=100000 --csv | head -3
  class,warp,warp_low,warp_high,thread,thread_low,thread_high,on,on_low,on_high
  fp32,3125,3125,3125,100000,100000,100000,100000,100000,100000
  int,6250,6250,6250,200000,200000,200000,200000,200000,200000

A branch that depends on data: bounds, and why.

  $ foretell ptx examples/ptx/compiled/sm_80/elementwise.ptx --entry gelu --grid 100 --block 256 --param 2=25000 | head -12
  gelu of examples/ptx/compiled/sm_80/elementwise.ptx (sm_80)
  grid 100, block 256: 100 blocks, 800 warps, 25600 threads
  shared memory of a block: 0 B
  counts are estimates between bounds: line 344: a branch depends on data
  
  instructions                of warps    share                    of threads                 predicated on  threads of 32
  ------------------------------------------------------------------------------------------------------------------------
  fp32          12512 (10948 to 12512)   32.5 %     375000 (350000 to 400000)     375000 (350000 to 400000)           30.0
  compare                         9402   24.4 %                        300600                        300600           32.0
  move             3182 (2400 to 3182)    8.3 %       89300 (76800 to 101800)       89300 (76800 to 101800)           28.1
  load                            3182    8.3 %                        101800                        101800           32.0
  control                         2382    6.2 %                         76200        38700 (26200 to 51200)           16.2

What stands out is said of counts that are known alone: of how many threads take part here only bounds are.

  $ foretell ptx examples/ptx/compiled/sm_80/control.ptx --entry spmv_csr --grid 100 --block 250 --param 5=20000 | grep -c "^- "
  0
  [1]
  $ foretell ptx examples/ptx/compiled/sm_80/control.ptx --entry spmv_csr --grid 100 --block 250 --param 5=20000 --device a30 --no-ptxas | grep "round"
  assumed: loops that depend on data go round once, also in the intervals

A size that is not known leaves bounds, too.

  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 | sed -n 4,6p
  counts are estimates between bounds: line 41: a branch depends on data
  not given, which may be why: saxpy_param_2, saxpy_param_3 (--param NAME=VALUE)
  
  $ foretell ptx ptx/triton/2*/add_kernel.ptx --grid 98 | sed -n 5p
  not given, which may be why: n (--param NAME=VALUE)
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1 --block 32 --json | pick launch.not_given
  launch.not_given: ["saxpy_param_2", "saxpy_param_3"]

Nor has a time that hangs on it.

  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 391 --block 256 --device h100-sxm --no-ptxas | grep "^on "
  on NVIDIA H100 SXM5 80 GB, by its data sheet: 2.26 us (745 ns to 3.84 us), 411 uJ (67.8 uJ to 1.40 mJ), 182 W (91.0 W to 364 W), bound by launch
  $ foretell ptx examples/ptx/compiled/sm_80/gemm.ptx --entry gemm_tiled --grid 64,64 --block 16,16 --device h100-sxm --no-ptxas | grep "^on "
  on NVIDIA H100 SXM5 80 GB, by its data sheet: 8.43 us (927 ns to unbounded), 3.46 mJ (191 uJ to unbounded), 411 W (205 W to 700 W), bound by latency
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry sax --grid 1 --block 32
  foretell ptx: ptx/nvcc/saxpy.ptx: there is no kernel 'sax', but saxpy, transpose
  [4]
  $ cp data/models/resnet18.onnx binary.ptx; foretell ptx binary.ptx
  foretell ptx: binary.ptx:1:1: found a byte 0x08, which is in no PTX
  [3]

On a GPU: time, power, occupancy.

  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 39063 --block 256 --param 3=10000000 --device a100 --registers 12 | grep -A 2 "^on "
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  on NVIDIA A100 SXM4 80 GB, by its data sheet: 75.0 us (45.0 us to 127 us), 17.4 mJ (5.21 mJ to 51.0 mJ), 232 W (116 W to 400 W), bound by memory
  assumed: memory moves each sector once, and addresses that depend on data, or are of wmma, are all different; where not, give the sizes of all buffers (--param 0=pointer:64MiB)
  occupancy   100.0 % of the warps an SM can hold, 8 blocks on each; 45.21 waves; 12 registers a thread (given)
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 39063 --block 256 --param 3=10000000 --device a100 --no-ptxas --json | pick estimate.device estimate.bound estimate.registers estimate.registers_from estimate.ptxas
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  estimate.device: "a100-sxm-80gb"
  estimate.bound: "memory"
  estimate.registers: 11
  estimate.registers_from: "estimated"
  estimate.ptxas: null

What a GPU would not run is predicted as if it did.

  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1 --block 32 --param 3=9 --device t4 --registers 12 | grep "^this"
  this PTX is for sm_80 and does not run there, on compute capability 7.5: predicted as if it did
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1 --block 32 --param 3=9 --shared 131072 --device rtx-4090 --registers 12 | grep "^a block"
  a block does not run there, where an SM has 100 KiB of shared memory: predicted as if it did
  $ foretell ptx examples/ptx/compiled/sm_90a/hopper.ptx --entry gemm_wgmma --grid 1 --block 128 --device b200 --registers 99 --json | pick estimate.runs_there
  estimate.runs_there: false
  $ foretell ptx examples/ptx/compiled/sm_90a/hopper.ptx --entry gemm_wgmma --grid 1 --block 128 --device h100 --registers 99 --json | pick estimate.runs_there
  warning: h100 is h100-sxm (there are h100-nvl, h100-pcie, h100-sxm)
  estimate.runs_there: true

What wgmma reads through descriptors stands apart.

  $ foretell ptx examples/ptx/compiled/sm_90a/hopper.ptx --entry gemm_wgmma --grid 1 --block 128 | grep -A 4 ^memory
  memory               bytes  requests                     a request  would do
  ----------------------------------------------------------------------------
  global stores     16.0 KiB       128  4.00 (1.00 to 64.00) sectors      4.00
  shared, by wgmma  48.0 KiB         -                             -         -
  

Where addresses depend on data, a request has bounds.

  $ foretell ptx examples/ptx/compiled/sm_80/reduce.ptx --entry histogram --grid 8 --block 256 --param 2=100000 | grep -A 5 ^memory
  memory            bytes  requests                    a request  would do
  ------------------------------------------------------------------------
  global loads    102 KiB      3189                 1.06 sectors      1.02
  global stores  4.00 KiB        64                 4.00 sectors      2.00
  shared loads    399 KiB      3189  1.00 (1.00 to 31.38) cycles      1.00
  shared stores   399 KiB      3189  1.00 (1.00 to 31.38) cycles      1.00
  $ foretell ptx examples/ptx/compiled/sm_80/reduce.ptx --entry max_swap --grid 8 --block 256 --param 2=1000 --device a100-sxm-80gb --json | pick launch.memory_bytes assumptions.0
  launch.memory_bytes: null
  assumptions.0: "loops that depend on data go round once, also in the intervals"


A launch file: launches that are the same are one row, library calls are named.

  $ foretell ptx --launches ptx/nvcc
  ptx/nvcc: launch file, 12 launches
  
  kernel       times     grid   block  warps' instructions       FLOP  global memory  sectors a request
  -----------------------------------------------------------------------------------------------------
  saxpy            3      391     256                62533  200 kFLOP       1.14 MiB               4.00
  transpose        3  32 x 64  16 x 8               565248     0 FLOP       4.00 MiB               4.00
  saxpy            1        1      32                   11     0 FLOP            0 B                  -
  -----------------------------------------------------------------------------------------------------
  3 different      7                               1883354  600 kFLOP       15.4 MiB                   
  
  counts are exact
  
  library call, not in PTX  times       FLOP  as operation
  ---------------------------------------------------------------------------------
  cublasSgemm                   4  604 MFLOP  matmul x=512x768 y=768x768 dtype=fp32
  cudnnSoftmaxForward           1          -  -
  $ foretell ptx --launches ptx/nvcc/launches.jsonl --json | pick source launches.# launches.0.times libraries.# libraries.0.operation totals.launches
  source: "launch file"
  launches.#: 3
  launches.0.times: 3
  libraries.#: 2
  libraries.0.operation: "matmul x=512x768 y=768x768 dtype=fp32"
  totals.launches: 7
  $ foretell ptx --launches ptx/nvcc/launches.jsonl --csv | cut -d, -f1-9
  module,kernel,times,grid_x,grid_y,grid_z,block_x,block_y,block_z
  ptx/nvcc/saxpy.ptx,saxpy,3,391,1,1,256,1,1
  ptx/nvcc/saxpy.ptx,transpose,3,32,64,1,16,8,1
  ptx/nvcc/cuobjdump.txt,saxpy,1,1,1,1,32,1,1

On a GPU library calls are priced as operations are; what is not known is said to be missing.

  $ foretell ptx --launches ptx/nvcc --device a100 --registers 32 --json | pick libraries.0.time.basis libraries.1.time totals.libraries_by totals.library_calls totals.not_priced totals.not_counted
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  libraries.0.time.basis: "scaled"
  libraries.1.time: {"value": null, "low": null, "high": null, "unit": "s", "basis": "unavailable", "why": "what it computes is not known"}
  totals.libraries_by: "nvidia-fp32.ftp"
  totals.library_calls: 5
  totals.not_priced: 1
  totals.not_counted: 0
  $ foretell ptx --launches ptx/nvcc --device a100 --registers 32 --json >all.json; python3 -c 'import json; t = json.load(open("all.json")); s = t["totals"]; print(abs(s["kernels_time_s"] - sum(v["times"] * v["estimate"]["time"]["value"] for v in t["launches"])) < 1e-12, abs(s["libraries_time_s"] - 4 * t["libraries"][0]["time"]["value"]) < 1e-12, abs(s["time"]["value"] - s["kernels_time_s"] - s["libraries_time_s"]) < 1e-12, abs(s["time"]["low"] - sum(v["times"] * v["estimate"]["time"]["low"] for v in t["launches"]) - 4 * t["libraries"][0]["time"]["low"]) < 1e-12, s["energy"]["low"] < s["energy"]["value"] < s["energy"]["high"])'
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  True True True True True
  $ printf '{"library": "gemm", "operation": "linear x=64x1024 out=768 bias=1 dtype=fp16", "count": 12}\n{"library": "b", "operation": "matmul x=3x4 y=5x6"}\n' >calls.jsonl; foretell ptx --launches calls.jsonl --device a100
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  warning: b: its operation is not known: matmul: shapes do not fit together, or the result is too large
  calls.jsonl: launch file, 13 launches
  
  library call, not in PTX  times       FLOP     time  as operation
  -----------------------------------------------------------------------------------------------
  gemm                         12  101 MFLOP  10.1 us  linear x=64x1024 out=768 bias=1 dtype=fp16
  b                             1          -        -  matmul x=3x4 y=5x6
  
  on NVIDIA A100 SXM4 80 GB: 121 us (70.6 us to 228 us), 13.5 mJ (5.53 mJ to 36.0 mJ), 111 W (78.3 W to 158 W)
    library calls  121 us, by llm.ftp
  without 1 library call, of which it is not known what it computes
  $ foretell ptx -q --launches ptx/triton --device a100 | tail -1
  without 2 launches that could not be counted

What has no bound has none in JSON and CSV either.

  $ foretell ptx examples/ptx/compiled/sm_80/control.ptx --entry spin_lock --grid 4 --block 64 --json | pick counts.exact counts.classes.control.warp counts.classes.atomic
  counts.exact: false
  counts.classes.control.warp: {"low": 16, "value": 32, "high": null}
  counts.classes.atomic: {"warp": {"low": 0, "value": 16, "high": null}, "thread": {"low": 0, "value": 256, "high": null}, "on": {"low": 0, "value": 256, "high": null}}
  $ foretell ptx examples/ptx/compiled/sm_80/control.ptx --entry spin_lock --grid 4 --block 64 --csv | grep -e control -e atomic
  control,32,16,,768,512,,384,256,
  atomic,16,0,,256,0,,256,0,

What Triton, Inductor and XLA left behind.

  $ foretell ptx --launches ptx/triton
  ptx/triton: Triton cache, 2 launches
  
  not counted, for what is missing:
    add_kernel: its grid, which Triton does not keep: a launch file says it
    softmax_kernel: its grid, which Triton does not keep: a launch file says it
  $ foretell ptx ptx/triton/2*/add_kernel.ptx --grid 98 --param n=100000 | head -4
  add_kernel of ptx/triton/2IJGZHDPAIY3GYIVY7CEQEAL43KDZ4VQAM4TZGX7D54IZP2MINCQ/add_kernel.ptx (sm_80)
  grid 98, block 128: 98 blocks, 392 warps, 12544 threads
  shared memory of a block: 0 B
  counts are exact
  $ foretell ptx --launches ptx/inductor
  warning: ptx/inductor/3a/c3azvyplqc3ruv6mrantjcnnfqd7g45qk3bh3en4dte6dp4rol2v.py: triton_poi_fused_1 is in the cache in 2 versions and no .best_config says which runs; the one with 256 elements a block is taken
  ptx/inductor: Inductor cache, 7 launches
  
  kernel                                             times  grid  block  warps' instructions        FLOP  global memory  sectors a request
  ----------------------------------------------------------------------------------------------------------------------------------------
  triton_poi_fused_0                                     1   256    256               139264   786 kFLOP       3.50 MiB               2.17
  triton_poi_fused_1                                     1    32    128                21760      0 FLOP        544 KiB              31.27
  triton_per_fused_2                                     1     8    256              16512 *   254 kFLOP       96.0 KiB              16.00
  triton_per_fused_exp_prepare_softmax_online_sub_3      1     8    256                 8320   117 kFLOP       62.5 KiB              15.62
  ----------------------------------------------------------------------------------------------------------------------------------------
  4 different                                            4                            185856  1.16 MFLOP       4.19 MiB                   
  
  * an estimate between bounds; --json has them
  
  library call, not in PTX    times        FLOP  as operation
  -----------------------------------------------------------------------------------------------------------------
  extern_kernels.convolution      1  7.08 MFLOP  conv2d x=8x3x32x32 out=16 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32
  extern_kernels.addmm            1  12.6 MFLOP  linear x=8x1024 out=768 bias=1 dtype=fp32
  extern_kernels.addmm            1  12.3 MFLOP  linear x=8x768 out=1000 bias=1 dtype=fp32
  $ foretell ptx -q --launches ptx/xla --device h100 --no-ptxas
  ptx/xla: XLA dump, 28 launches
  
  kernel                times  grid  block  warps' instructions        FLOP  global memory  sectors a request     time
  --------------------------------------------------------------------------------------------------------------------
  wrapped_transpose_1       1    64     32                 7424      0 FLOP       72.0 KiB               5.80  3.53 us
  wrapped_transpose         1   256    128                61440      0 FLOP       1.00 MiB               2.67  3.63 us
  input_reduce_fusion       1    64    256                39936   181 kFLOP       2.00 MiB              14.33  3.20 us
  loop_multiply_fusion      1     4    128                  240    512 FLOP       4.00 KiB               4.00  2.08 us
  loop_compare_fusion       6     1      1                    9      0 FLOP         5.00 B               1.00  2.07 us
  loop_add_fusion           5     1      1                    6      0 FLOP         8.00 B               1.00  2.07 us
  wrapped_tanh              5     4    128                  528  10.2 kFLOP       4.00 KiB               4.00  2.13 us
  triton_softmax_2          1    32     32                 2688  39.9 kFLOP       14.0 KiB               4.33  2.52 us
  --------------------------------------------------------------------------------------------------------------------
  8 different              21                            114452   272 kFLOP       3.11 MiB                     48.4 us
  
  counts are exact
  
  library call, not in PTX           times        FLOP     time  as operation
  ----------------------------------------------------------------------------------------------------------------------------------
  kCopy                                  1           -        -  -
  __cudnn$convBiasActivationForward      1   151 MFLOP  4.77 us  conv2d x=8x16x32x32 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32
  __cublas$lt$matmul                     5  65.5 kFLOP  3.85 us  matmul x=8x64 y=64x64 dtype=fp32
  
  on NVIDIA H100 SXM5 80 GB: 72.4 us (39.0 us to 136 us), 10.1 mJ (2.99 mJ to 33.4 mJ), 139 W (79.7 W to 249 W)
    kernels        48.4 us, by the data sheet; registers estimated
    library calls  24.0 us, by nvidia-fp32.ftp
  without 1 library call, of which it is not known what it computes

What is missing or wrong is said.

  $ foretell ptx
  foretell ptx: FILE is missing, or --launches PATH; see foretell ptx --help
  [2]
  $ foretell ptx nowhere.ptx
  foretell ptx: cannot read nowhere.ptx: No such file or directory
  [3]
  $ foretell ptx ptx/README.md
  foretell ptx: ptx/README.md:1:1: found '#', expected '.version'
  [3]
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry sax
  foretell ptx: no kernel is called sax
  [4]
  $ foretell ptx ptx/nvcc/saxpy.ptx --grid 1 --block 1
  foretell ptx: ptx/nvcc/saxpy.ptx: 2 kernels are in it: say which (--entry saxpy)
  [2]
  $ foretell ptx ptx/nvcc/saxpy.ptx --block 32
  foretell ptx: --grid is missing: how many blocks does the launch have?
  [2]
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1
  foretell ptx: block is missing: saxpy has no .reqntid that says it
  [2]
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1 --block 32 --registers 256
  foretell ptx: --registers: a thread has at most 255
  [2]
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 9999999999 --block 32
  foretell ptx: grid is 9999999999; from 1 to 4294967295 was expected
  [2]
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry sax --grid 1 --block 32
  foretell ptx: ptx/nvcc/saxpy.ptx: there is no kernel 'sax', but saxpy, transpose
  [4]
  $ foretell ptx nowhere.ptx --grid 1 --block 32
  foretell ptx: cannot read nowhere.ptx: No such file or directory
  [3]
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1,2,x
  foretell ptx: --grid wants up to three whole numbers such as 32,8, not "1,2,x"
  [2]
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1 --block 2000
  foretell ptx: saxpy: a block of 2000 x 1 x 1 threads; each is from 1 to 1024, 1024, 64
  [2]
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1 --block 32 --param n=3
  foretell ptx: saxpy has no parameter n; from 0 on: saxpy_param_0, saxpy_param_1, saxpy_param_2, saxpy_param_3
  [2]
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1 --block 32 --param 3
  foretell ptx: --param wants NAME=VALUE such as n=4096 or x=pointer:64MiB, not "3"
  [2]
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1 --block 32 --param 3=0.5
  foretell ptx: parameter saxpy_param_3 of 4 bytes is an integer, and is given a fraction
  [2]
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1 --block 32 --param 3=ptr
  foretell ptx: an argument is "pointer" or a number, not "ptr"
  [2]
  $ foretell ptx ptx/nvcc/saxpy.ptx --launches ptx/nvcc
  foretell ptx: --launches says which kernels and which grids: it stands without FILE, --grid, --block and --param
  [2]
  $ foretell ptx --launches data/devices
  foretell ptx: data/devices: neither launches.jsonl nor PTX is in it or below it
  [3]
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1 --block 32 --device ryzen
  foretell ptx: no device "ryzen", and none with a name like it; foretell devices lists the 162 there are
  [4]

One launch as a table: its classes, or with a device the row of a list, with intervals; the sum over classes in JSON.

  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1024 --block 256 --param 0=1048576 --csv | head -1
  class,warp,warp_low,warp_high,thread,thread_low,thread_high,on,on_low,on_high
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1024 --block 256 --param 0=1048576 --csv --device a100 --no-ptxas | python3 -c "
  > import csv, sys
  > for r in csv.DictReader(sys.stdin):
  >     print(r['kernel'], r['times'], *[float(r[f'{m}_low']) < float(r[f'{m}_{u}']) < float(r[f'{m}_high']) for m, u in [('time', 's'), ('power', 'w'), ('energy', 'j')]])"
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  saxpy 1 True True True
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 1024 --block 256 --param 0=1048576 --json | python3 -c "
  > import json, sys
  > c = json.load(sys.stdin)['counts']
  > print(all(c['all'][k]['value'] == sum(v[k]['value'] for v in c['classes'].values()) > 0 for k in ('warp', 'thread', 'on')))"
  True

Sizes of buffers tell reads of a byte that is there already from others; numbers may be hexadecimal.

  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 4096 --block 256 --param 0=0x100000 --device a100 --no-ptxas | grep -E '^on|^assumed'
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  on NVIDIA A100 SXM4 80 GB, by its data sheet: 9.21 us (3.04 us to 15.6 us), 1.92 mJ (317 uJ to 6.26 mJ), 208 W (104 W to 400 W), bound by memory
  assumed: memory moves each sector once, and addresses that depend on data, or are of wmma, are all different; where not, give the sizes of all buffers (--param 0=pointer:64MiB)
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 4096 --block 256 --param 0=1048576 --param 2=pointer:4MiB --param 3=pointer:4MiB --device a100 --no-ptxas | grep -E '^on|^assumed'
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  on NVIDIA A100 SXM4 80 GB, by its data sheet: 7.53 us (4.52 us to 12.8 us), 1.47 mJ (442 uJ to 5.01 mJ), 196 W (97.8 W to 391 W), bound by latency
  $ foretell ptx ptx/nvcc/saxpy.ptx --entry saxpy --grid 4096 --block 256 --param 0=1048576 --param 2=pointer:64kiB --param 3=pointer:64KiB --device a100 --no-ptxas
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  foretell ptx: an argument is "pointer" or a number, not "pointer:64kiB"
  [2]

A kernel of C++ goes by the name that people call it; CUDA C++ itself is not PTX.

  $ sed 's/\bsaxpy\b/_ZN3nnx5saxpyIfLi4EEEvPT_i/' ptx/nvcc/saxpy.ptx >mangled.ptx; foretell ptx mangled.ptx --entry saxpy --grid 1 --block 32 --param 0=32 | head -1
  nnx::saxpy<...> of mangled.ptx (sm_80)
  $ foretell ptx mangled.ptx | grep line
  nnx::saxpy<...>    _ZN3nnx5saxpyIfLi4EEEvPT_i    line 16
  transpose    line 61
  $ foretell ptx ptx/nvcc/saxpy.cu
  foretell ptx: ptx/nvcc/saxpy.cu is CUDA C++, not PTX; nvcc makes PTX of it: nvcc -ptx -arch=sm_80 ptx/nvcc/saxpy.cu -o kernels.ptx
  [3]
  $ printf '\177ELF\002\001' >saxpy.cubin; foretell ptx saxpy.cubin
  foretell ptx: saxpy.cubin is a compiled program, not PTX; where it has PTX in it: cuobjdump -ptx saxpy.cubin
  [3]
  $ printf '\120\355\125\272\001' >saxpy.fatbin; foretell ptx saxpy.fatbin
  foretell ptx: saxpy.fatbin is a compiled program, not PTX; where it has PTX in it: cuobjdump -ptx saxpy.fatbin
  [3]

Sectors of which a part is used: 16,777,216 floats, each from a sector of its own, are 604 MB; all but what L2 may hold
has to come from memory.
  $ cat >strided.ptx <<'END'
  > .version 7.0
  > .target sm_80
  > .address_size 64
  > .visible .entry strided(.param .u64 x, .param .u64 y, .param .u32 n)
  > {
  >   .reg .pred %p1; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f1;
  >   ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u32 %r1, [n];
  >   cvta.to.global.u64 %d1, %d1; cvta.to.global.u64 %d2, %d2;
  >   mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  >   mad.lo.s32 %r5, %r2, %r3, %r4;
  >   setp.ge.s32 %p1, %r5, %r1; @%p1 bra L;
  >   shl.b32 %r6, %r5, 5; mul.wide.s32 %d3, %r6, 4; add.s64 %d4, %d1, %d3; ld.global.f32 %f1, [%d4];
  >   mul.wide.s32 %d5, %r5, 4; add.s64 %d6, %d2, %d5; st.global.f32 [%d6], %f1;
  > L: ret;
  > }
  > END
  $ foretell ptx strided.ptx --grid 65536 --block 256 --param n=16777216 --device a100 --no-ptxas | grep ^on
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  on NVIDIA A100 SXM4 80 GB, by its data sheet: 340 us (276 us to 578 us), 75.5 mJ (30.6 mJ to 231 mJ), 222 W (111 W to 400 W), bound by memory
  $ foretell ptx strided.ptx --grid 65536 --block 256 --param n=0x1000000 --param y=pointer:64MiB --device a100 -q --no-ptxas --json | python3 -c "
  > import json, sys; t = json.load(sys.stdin)['estimate']['time']
  > print(t['value'] > 604e6 / 2039e9, t['low'] > (604e6 - 42e6) / 2039e9, t['low'] < t['value'] < t['high'])"
  True True True

Long lists are counted on all cores: each launch as alone, and the first that is wrong is the error.

  $ cat >list.py <<'END'
  > import json, struct, subprocess
  > rows = [json.loads(l) for l in open('examples/ptx/resnet18.jsonl') if 'kernel' in l]
  > made = []
  > for scale in range(1, 20):
  >     for d in rows:
  >         d = json.loads(json.dumps(d))
  >         d['count'], d['module'] = 1, 'examples/ptx/' + d['module']
  >         if d['kernel'] == 'conv_tiled_3x3':
  >             d['grid'][2] = d['params'][6] * scale
  >         elif d['kernel'] == 'winograd_input':
  >             d['grid'], d['params'][2] = d['grid'] * 2 + scale, d['params'][2] * 2 + scale
  >         else:
  >             continue
  >         made.append(d)
  > def ask(rows):
  >     open('list.jsonl', 'w').writelines(json.dumps(d) + '\n' for d in rows)
  >     p = subprocess.run(['foretell', 'ptx', '--launches', 'list.jsonl', '--json'], capture_output=True, text=True)
  >     return json.loads(p.stdout)['launches'] if p.returncode == 0 else json.loads(p.stderr)
  > every = ask(made)
  > alone = [ask([d])[0] for d in made[::9]]
  > counts = [v['counts'] for v in every]
  > print(len(every) > 64, every == ask(made), sum(v['counts'] not in counts for v in alone))
  > for at in 30, 20:
  >     made[at] = {**made[at], 'block': [1024, 3], 'name': f'launch {at}'}
  > print(ask(made))
  > END
  $ python3 list.py
  True True 0
  {'command': 'ptx', 'exit': 3, 'message': 'launch 20: winograd_input: a block of 1024 x 3 x 1 threads; there are at most 1024'}

A predictor that is missing, or knows no kernels, is said once, before any launch.

  $ foretell ptx --launches examples/ptx/launches.jsonl --device h100-sxm --predictor none.ftp
  foretell ptx: none.ftp: No such file or directory
  [3]
  $ foretell ptx examples/ptx/compiled/sm_80/gemm.ptx --device a100,h100
  foretell ptx: --device a100,h100: ptx takes one device
  [2]
  $ foretell ptx --launches examples/ptx/launches.jsonl --device h100-sxm --predictor data/predictors/nvidia-fp32.ftp
  foretell ptx: data/predictors/nvidia-fp32.ftp has nothing of kernels; foretell train --kernels makes one that has
  [4]
