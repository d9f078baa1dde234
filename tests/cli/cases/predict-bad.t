A device that nobody measured is scaled from its data sheet, and the answer says so.

  $ foretell predict data/models/resnet50.onnx --device a30 --top 2
  resnet50.onnx on a30: NVIDIA A30
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: inference, one forward pass at a time, fp32
  assumed: memory as PyTorch allocates it, operation by operation
  
  of one pass    estimate      low      high  basis
  --------------------------------------------------
  time            3.09 ms  1.17 ms   7.28 ms  scaled
  energy           215 mJ  81.4 mJ    507 mJ  scaled
  power            69.6 W   49.0 W    98.8 W  scaled
  peak memory     627 MiB  336 MiB  1.64 GiB  scaled
    weights      97.4 MiB
    inputs        588 KiB
    activations  9.19 MiB
    workspace    8.12 MiB
    process       512 MiB
  fits in the device's 24.0 GiB: yes, 23.4 GiB to spare
  the host issues everything in 3.08 ms, the device executes it in 1.16 ms: the host sets the time
  learned from several devices, a30 not among them: SOURCE/data/predictors/nvidia-fp32.ftp
  low .. high is a 90 % interval; 43 unique operations: 0 measured, 0 learned, 42 scaled, 0 roofline, the others take no time
  
  operation                                                                      count  share    total     each      low     high  basis
  ---------------------------------------------------------------------------------------------------------------------------------------
  conv2d x=1x256x14x14 out=256 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32       5  2.8 %  85.5 us  17.1 us  10.9 us  26.8 us  scaled
  conv2d x=1x256x14x14 out=1024 kernel=1x1 stride=1x1 pad=0x0 bias=1 dtype=fp32      6  2.3 %  71.9 us  12.0 us  7.64 us  18.8 us  scaled
  
  verify on that device: foretell measure data/models/resnet50.onnx --engine torch,device=cuda

At other clocks, with the one that takes the least energy; under a cap.

  $ foretell predict data/models/resnet50.onnx --batch 32 --device a30 --clocks 600,900,1200,1440
  resnet50.onnx
  assumed: inference, one forward pass at a time, fp32
  assumed: memory as PyTorch allocates it, operation by operation
  
  device     clock     time      low     high   power  energy   memory  fits  basis
  ----------------------------------------------------------------------------------
  a30      600 MHz  34.1 ms  22.7 ms  51.5 ms  89.2 W  3.04 J  930 MiB  yes   scaled
  a30      900 MHz  26.9 ms  17.9 ms  40.5 ms   107 W  2.88 J  930 MiB  yes   scaled
  a30     1.20 GHz  23.3 ms  15.6 ms  35.1 ms   150 W  3.50 J  930 MiB  yes   scaled
  a30     1.44 GHz  21.8 ms  14.6 ms  32.7 ms   165 W  3.58 J  930 MiB  yes   scaled
  least energy on a30: at 900 MHz, 80.4 % of the energy and 123.4 % of the time at 1.44 GHz
  least energy x time on a30: at 900 MHz, 80.4 % of the energy and 123.4 % of the time at 1.44 GHz
  
  $ foretell predict data/models/resnet50.onnx --batch 32 --device a30 --clocks 600,900 --csv -q | grep -E '^device|x=32x3' | cut -d, -f1,3,7,8
  device,count,basis,setting
  a30,1,scaled,clock=600MHz
  a30,1,scaled,clock=900MHz
  $ foretell predict data/models/resnet18.onnx --device a30 --clocks 600,900 --csv -q | awk -F, 'NR < 3 {print $8, (NR > 1 ? ($9 > 0) : $9)}'
  setting energy_j
  clock=600MHz 1
  $ foretell predict data/models/resnet18.onnx --device a30 --power-cap 100W --csv -q | awk -F, 'NR == 2 {print $8, ($9 > 0)}'
  power=100W 1
  $ foretell predict data/models/resnet18.onnx --device raspberry-pi-4 --csv -q | awk -F, 'NR == 2 {print NF, "[" $8 "]", "[" $9 "]"}'
  9 [] []
  $ foretell predict data/models/resnet50.onnx --batch 32 --device a30 --power-cap 100W --json | pick setting power.value power.high
  setting: "power=100W"
  power.value: 99.9031117918331
  power.high: 100.0
  $ foretell predict data/models/resnet50.onnx --batch 32 --device a30 --policy ieee --method physics --json | pick time.basis host_s busy_s
  time.basis: "scaled"
  host_s: 0.0030762
  busy_s: 0.0390921724488711
  $ foretell predict data/models/resnet50.onnx --device a30 --clock 9GHz
  foretell predict: a30: its highest clock is 1440 MHz
  [2]
  $ foretell predict data/models/resnet18.onnx --device a30 --clock 1.2
  foretell predict: a30: its highest clock is 1440 MHz, and none of its clocks is below 5 % of it
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --memory-clock 2430
  foretell predict: a30: its highest memory clock is 1215 MHz
  [2]
  $ foretell predict data/models/resnet18.onnx --device a30 --memory-clock 1
  foretell predict: a30: its highest memory clock is 1215 MHz, and none of its memory clocks is below 0.15 % of it
  [2]
  $ foretell predict data/models/resnet18.onnx --device h200-sxm --memory-clock 99999
  foretell predict: h200-sxm: its file does not say "memory_clock_mhz", which another memory clock needs
  [4]
  $ foretell predict data/models/resnet50.onnx --device a30 --clock fast
  foretell predict: --clock wants a clock such as 1200MHz or 1.2GHz, not "fast"
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --clock 900 --clocks 900
  foretell predict: --clock or --clocks, not both
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --policy fp8
  foretell predict: --policy fp8: it is one of default, tf32, ieee
  [2]

By what a dataset calls a device, and by the name of a product of which there are variants.

  $ foretell predict data/models/resnet50.onnx --device 'Tesla V100-SXM2-16GB',h100,epyc-9654
  resnet50.onnx
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: h100 is h100-sxm (there are h100-nvl, h100-pcie, h100-sxm)
  assumed: inference, one forward pass at a time, fp32
  assumed: 96 threads, as oneDNN runs it: what Python and PyTorch do between operations is not in it (epyc-9654)
  assumed: memory as PyTorch allocates it, operation by operation
  
  device             time      low     high  energy   memory  fits  basis
  ------------------------------------------------------------------------
  v100-sxm2-16gb  3.09 ms  1.91 ms  7.30 ms  622 mJ  627 MiB  yes   scaled
  h100-sxm        3.08 ms  1.09 ms  7.28 ms  541 mJ  651 MiB  yes   scaled
  epyc-9654       3.64 ms  2.40 ms  5.52 ms       -  112 MiB  -     scaled
  - is not known; asked about one device alone, foretell says why
  

The roofline is a lower bound, with the words that it is one.

  $ foretell predict data/models/resnet50.onnx --device a30 --method roofline --top 1
  resnet50.onnx on a30: NVIDIA A30
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: inference, one forward pass at a time, fp32
  assumed: memory as PyTorch allocates it, operation by operation
  
  of one pass    estimate      low      high  basis
  -------------------------------------------------------
  time             368 us   368 us         -  roofline
  energy                -        -         -  unavailable
  power                 -        -         -  unavailable
  peak memory     627 MiB  336 MiB  1.64 GiB  roofline
    weights      97.4 MiB
    inputs        588 KiB
    activations  9.19 MiB
    workspace    8.12 MiB
    process       512 MiB
  fits in the device's 24.0 GiB: yes, 23.4 GiB to spare
  energy and power are unavailable: a data sheet alone does not say what operations draw; --method physics estimates them
  This is a lower bound, not an expectation: the device's data sheet alone was used (roofline);
  real times are longer, often several times.
  
  operation                                   count  share    total     each
  --------------------------------------------------------------------------
  add x=1x256x56x56 y=1x256x56x56 dtype=fp32      3  8.4 %  31.0 us  10.3 us
  
  verify on that device: foretell measure data/models/resnet50.onnx --engine torch,device=cuda

PALEO adds reading, computing and writing up: neither a bound nor an interval.

  $ foretell predict data/models/resnet50.onnx --device a30 --method paleo --top 1
  resnet50.onnx on a30: NVIDIA A30
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: inference, one forward pass at a time, fp32
  assumed: memory as PyTorch allocates it, operation by operation
  
  of one pass    estimate      low      high  basis
  -------------------------------------------------------
  time            1.16 ms        -         -  analytic
  energy                -        -         -  unavailable
  power                 -        -         -  unavailable
  peak memory     627 MiB  336 MiB  1.64 GiB  analytic
    weights      97.4 MiB
    inputs        588 KiB
    activations  9.19 MiB
    workspace    8.12 MiB
    process       512 MiB
  fits in the device's 24.0 GiB: yes, 23.4 GiB to spare
  energy and power are unavailable: a data sheet alone does not say what operations draw; --method physics estimates them
  PALEO: the device's data sheet alone was used, as if every operation reached its peak rate;
  how far real times are from it is not known.
  
  operation                                                                     count   share   total     each
  ------------------------------------------------------------------------------------------------------------
  conv2d x=1x256x14x14 out=256 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp32      5  11.0 %  127 us  25.4 us
  
  verify on that device: foretell measure data/models/resnet50.onnx --engine torch,device=cuda
  $ foretell predict data/models/resnet50.onnx --method paleo
  foretell predict: --method paleo needs a data sheet: --device with a name that foretell devices lists
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --method habitat
  foretell predict: --method wants physics, roofline or paleo, not "habitat"
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --method paleo --predictor p.ftp
  foretell predict: --method paleo uses no predictor: leave --predictor out
  [2]

  $ foretell predict models/sequence.onnx --device a30
  foretell predict: sequence.onnx: dimension "seq" of input "x" is open: add --dim seq=N
  [2]
  $ foretell predict models/sequence.onnx --device a30 --dim seq=64 | tail -1
  verify on that device: foretell measure models/sequence.onnx --engine torch,device=cuda --dim seq=64

What is missing is named, with the way to get it.

  $ foretell predict data/models/resnet50.onnx --device nosuch 2>&1 | cut -c 1-60
  foretell predict: no device "nosuch", and none with a name l
  $ foretell predict data/models/resnet50.onnx --device nosuch 2>/dev/null
  [4]
  $ foretell predict data/models/resnet50.onnx --device local
  foretell predict: there is no predictor for this machine yet (HOME/.local/share/foretell/local-onednn.ftp); two commands make one:
    foretell collect --quick --engine onednn
    foretell train --engine onednn
  [4]
  $ foretell predict data/models/resnet50.onnx --threads 4
  foretell predict: there is no predictor for this machine yet (HOME/.local/share/foretell/local-onednn-4-threads.ftp); two commands make one:
    foretell collect --quick --engine onednn --threads 4
    foretell train --engine onednn --threads 4
  [4]
  $ foretell predict data/models/resnet50.onnx --device a30,
  foretell predict: --device wants names joined by commas, at most 256 answers in all, not "a30,"
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --dtype int8
  foretell predict: networks are predicted in fp64, fp32, fp16 or bf16, not in int8
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --power-cap 10 | grep -E '^assumed:.* cap|^power'
  assumed: as much power as the lowest clock leaves, which is more than the cap
  power            17.5 W   12.4 W    17.5 W  scaled
  $ foretell predict data/models/resnet50.onnx --device a30 --dtype float
  foretell predict: there is no element type "float": fp64, fp32, fp16, bf16, amp-bf16, amp-fp16
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --precision fp8
  foretell predict: networks are predicted in fp64, fp32, fp16 or bf16, not in fp8, which weights of a language model's config.json may have
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --precision tf32
  foretell predict: TF32 is how products of fp32 are computed, not a type: --policy tf32 (all products), default (convolutions) or ieee (none)
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --precision fp16 --dtype bf16
  foretell predict: --precision or --dtype, not both
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --precision bfloat16
  foretell predict: there is no element type "bfloat16": fp64, fp32, fp16, bf16, amp-bf16, amp-fp16
  [2]
  $ foretell predict data/models/resnet50.onnx --device a30 --precision amp-fp8
  foretell predict: mixed precision is amp-bf16 or amp-fp16, not "amp-fp8"
  [2]
  $ printf 'linear x=8x64 out=32 dtype=int8\n' | foretell predict - --device a30 --dtype amp-fp16
  foretell predict: standard input computes in int8, which no cast changes: export it in fp32
  [2]
  $ foretell predict data/models/resnet50.onnx --device t4 --precision amp-bf16 | grep warning: | head -1
  warning: NVIDIA T4 has no hardware for bf16: libraries convert it, or refuse to run; the times are guesses
  $ foretell measure data/models/resnet50.onnx --engine nosuch 2>&1 | cut -d ';' -f 1
  foretell measure: no engine "nosuch" in PLUGINS
  $ foretell measure data/models/resnet50.onnx --engine nosuch 2>/dev/null
  [4]
  $ foretell measure data/models/resnet50.onnx --engine ../fake 2>&1 | cut -d ';' -f 1
  foretell measure: no engine "../fake" in PLUGINS
  $ foretell measure data/models/resnet50.onnx --engine fake --plugin-dir nowhere
  foretell measure: no engine plug-ins: cannot read folder nowhere
  [4]
  $ foretell collect --quick --engine fake --data-dir nowhere
  foretell collect: no models in nowhere: say --data-dir DIR, or name models
  [4]

A predictor is checked.

  $ foretell predict data/models/resnet50.onnx --predictor missing.ftp
  foretell predict: missing.ftp: No such file or directory
  [3]
  $ foretell show missing.ftp
  foretell show: missing.ftp: No such file or directory
  [3]
  $ echo 'not a predictor' > text.ftp; foretell show text.ftp
  foretell show: text.ftp: not a predictor file
  [3]
  $ foretell collect data/models/resnet18.onnx --engine fake -q > /dev/null && foretell train --engine fake -o p.ftp 2>&1 > /dev/null
  $ head -c 300 p.ftp > short.ftp; foretell show short.ftp
  foretell show: short.ftp: damaged predictor: the file is cut short (byte 16); train it again
  [3]
  $ foretell predict data/models/resnet18.onnx --predictor p.ftp --engine onednn
  foretell predict: p.ftp was trained with engine fake, not onednn
  [4]
  $ foretell predict data/models/resnet18.onnx --predictor p.ftp --device a30
  foretell predict: p.ftp is a predictor for THIS-MACHINE, not for a30
  [4]
  $ foretell train --engine fake -o /dev/null/p.ftp
  foretell train: cannot write /dev/null/p.ftp: Not a directory
  [3]
  $ foretell train --engine fake --threads 7 -o q.ftp
  foretell train: the store holds no measurements of THIS-MACHINE with engine fake and threads=7; foretell collect --quick --engine fake --threads 7 makes some, --family learns from whatever devices it holds
  [4]
  $ foretell train --engine fake --device a30 -o q.ftp
  foretell train: the store holds no measurements of a30 with engine fake and threads=1; foretell collect --quick --engine fake makes some there, --family learns from whatever devices it holds
  [4]

A summary is of the network alone; in JSON the operations are null.

  $ foretell predict data/models/resnet18.onnx --device a30 --summary | grep -c conv2d
  0
  [1]
  $ foretell predict data/models/resnet18.onnx --device a30 --summary --json | pick ops step
  ops: null
  step: "one forward pass"
  $ foretell predict data/models/resnet18.onnx --device a30 --summary --csv
  foretell predict: --csv lists operations, and --summary none
  [2]

What some of several devices assume names them, and what several warn of is said once.

  $ foretell predict data/models/resnet18.onnx --device a30,epyc-7763,raspberry-pi-4 --summary -q | grep threads
  assumed: 64 threads, as oneDNN runs it: what Python and PyTorch do between operations is not in it (epyc-7763)
  assumed: 4 threads, as oneDNN runs it: what Python and PyTorch do between operations is not in it (raspberry-pi-4)
  $ foretell predict examples/llm/llama-3-8b.json --device a100,a30,h100 -q | grep -c 'lie outside'
  1

A cap that no device of its kind reaches holds nothing back.

  $ foretell predict data/models/resnet18.onnx --device a30 --power-cap 1000 -q | grep cap
  assumed: the cap is above the 165 W that the device is built for (TDP): it holds nothing back
  to verify it: the device's driver may take no such power cap
  $ foretell predict data/models/resnet18.onnx --device t4 --power-caps 70,300 -q | grep '^t4' | sed -E 's/^t4 +[0-9.]+ W//' | uniq | wc -l
  1
  $ foretell predict data/models/resnet50.onnx --device l4 --batch 32 --power-caps 10,20,72 -q | grep -E '^least|^caps' | cut -d, -f1
  least energy on l4: under 20.0 W
  least energy x time on l4: under 72.0 W
  caps that do not hold: 10.0 W on l4; it draws more
  $ foretell predict data/models/resnet18.onnx --device a30 --power-cap 100 -q | grep -c 'the cap'
  0
  [1]

So the answer is as without it, also where a cap would be another setting than what was measured.

  $ for d in "data/models/resnet18.onnx --device t4" "examples/llm/llama-3-8b.json --device h200-sxm"; do for cap in "" "--power-cap 701" "--power-cap 700W"; do foretell predict $d $cap -q | grep -E '^(time|energy|power)'; done | sort | uniq -c | cut -c 1-10; done
        3 en
        3 po
        3 ti
        3 en
        3 po
        3 ti
  $ for cap in 701 700 699; do foretell predict examples/llm/llama-3-8b.json --device h200-sxm --power-cap $cap -q | grep -c 'lie outside'; done
  1
  1
  0
  [1]

Power as a collector's sensor shows it in a loop of so many calls is of one operation and of NVIDIA's GPUs; a loop has calls.

  $ for d in h200-sxm mi300x; do for loop in "" "--setting loop=18000"; do foretell predict examples/llm/llama-3-8b.json --device $d $loop -q | grep '^energy'; done | uniq | wc -l; done
  1
  1
  $ echo 'linear x=1x4096 out=4096 dtype=bf16' > one.ops; for d in h200-sxm mi300x; do for loop in "" "--setting loop=300"; do foretell predict one.ops --device $d $loop -q --json | pick ops.0.power.value; done | uniq | wc -l; done
  2
  1
  $ for n in -5 0 1e9 long; do foretell predict one.ops --device h200-sxm --setting loop=$n; done 2>&1 | uniq | cut -d: -f2
   loop=-5
   loop=0
   loop=1e9
   loop=long

A number that no device has is no device; a launch takes microseconds.

  $ foretell predict data/models/resnet18.onnx --device rtx9090 2>&1 | cut -d';' -f1
  foretell predict: no device "rtx9090", and none with a name like it
  $ foretell predict data/models/resnet18.onnx --device h100-sxm --launch-time 5
  foretell predict: the host takes microseconds for a launch, such as 9us: not 5 s
  [2]

A file that is not there is neither a network nor a language model.

  $ foretell predict nothere.onnx --device h100 --precision fp16
  foretell predict: nothere.onnx: No such file or directory
  [3]

TF32 is used as PyTorch does unless said otherwise, also of devices that were measured without; what has none has it in no
way: of no policy, default, ieee and tf32 so many are alike.

  $ for d in a100-pcie-40gb t4; do for p in "" "--policy default" "--policy ieee" "--policy tf32"; do foretell predict data/models/resnet50.onnx --batch 32 --device $d $p --json | pick busy_s; done | uniq -c | cut -d: -f1; done
        2 busy_s
        1 busy_s
        1 busy_s
        4 busy_s

No launch takes no time, and a setting says each thing once.

  $ foretell predict data/models/resnet18.onnx --device l4 --launch-time 0
  foretell predict: --launch-time 0: a launch takes more than 0 s
  [2]
  $ for t in -5us inf nan 1e300s 1e-300s; do foretell predict data/models/resnet18.onnx --device l4 --launch-time $t; done
  foretell predict: the host takes microseconds for a launch, such as 9us: not -5e-06 s
  foretell predict: the host takes microseconds for a launch, such as 9us: not inf s
  foretell predict: the host takes microseconds for a launch, such as 9us: not nan s
  foretell predict: the host takes microseconds for a launch, such as 9us: not 1e+300 s
  foretell predict: the host takes microseconds for a launch, such as 9us: not 1e-300 s
  [2]
  $ foretell predict data/models/resnet18.onnx --device l4 --clock 1000 --setting clock=900MHz
  foretell predict: setting "clock=1000MHz clock=900MHz": clock is twice in it
  [2]
  $ foretell predict data/models/resnet18.onnx --device raspberry-pi-5 --launch-time 9us --summary | grep warning
  warning: no launches are in these times: --launch-time is not used
  $ foretell predict data/models/resnet18.onnx --device raspberry-pi-5 --launch-time 9us --host i7 --summary | grep 'no launches'
  warning: no launches are in these times: --host and --launch-time are not used
