What a recorded machine lets one set. The tree is copied first, so that it may be changed.

  $ cp -r $FORETELL_DATA/../tests/recorded laptops && cp -r laptops/rapl-laptop laptop
  $ foretell clocks show --root laptop
  device  setting      now                                 range                choices                may be set
  ---------------------------------------------------------------------------------------------------------------
  cpu     core clock   2.70 GHz, between 400 and 3100 MHz  400 MHz .. 3.10 GHz                         yes
  cpu     governor     powersave                                                performance powersave  yes
  cpu     turbo        on                                                       on off                 yes
  cpu     cpus online  0-3                                                      0-3                    yes
  $ foretell clocks show --root laptops/amd-server
  device  setting      now                                  range                 choices                         may be set
  --------------------------------------------------------------------------------------------------------------------------
  cpu     core clock   2.10 GHz, between 1200 and 2900 MHz  1.20 GHz .. 2.90 GHz  2100 1700 1200 MHz              yes
  cpu     governor     userspace                                                  ondemand userspace performance  yes
  cpu     turbo        on                                                         on off                          yes
  cpu     cpus online  0-3                                                        0-3                             yes
  $ foretell clocks show --root laptops/bare-vm
  device  setting      now  range  choices  may be set
  ----------------------------------------------------
  cpu     core clock                        no
  cpu     turbo                             no
  cpu     cpus online  0-1         0-1      no
  
  cpu core clock: this virtual machine shows no CPU clock
    try: set it on the host
  cpu turbo: this virtual machine has no switch for turbo clocks
    try: set it on the host
  cpu cpus online: this virtual machine has no switches for its CPUs
    try: set it on the host
  $ foretell clocks show --root laptop --json | pick in_force settings.0.name settings.0.now settings.0.least settings.0.writable
  in_force: ""
  settings.0.name: "core clock"
  settings.0.now: 2700000000.0
  settings.0.least: 400000000.0
  settings.0.writable: true

For the time of a command. It prints what it prints; what was held comes on standard error.

  $ foretell clocks set --root laptop --core 1200 -q -- cat laptop/sys/devices/system/cpu/cpu2/cpufreq/scaling_max_freq
  1200000
  $ diff -r laptop laptops/rapl-laptop -x .foretell
  $ foretell clocks set --root laptop --core 2.7GHz --affinity 0 -- true
  foretell clocks: clock=2700MHz affinity=0 while it ran, put back now; seen: clock 1200 MHz, 52 C
  warning: the clock was not what was set
  $ foretell clocks set --root laptop --core 1.2GHz --affinity 0 -- sh -c 'exit 5'
  foretell clocks: clock=1200MHz affinity=0 while it ran, put back now; seen: clock 1200 MHz, 52 C
  [5]
  $ foretell clocks set --root laptop --governor performance --json -- true | pick settings.setting settings.governor settings.core_clock_hz command exit_code conditions.marks
  settings.setting: "governor=performance"
  settings.governor: "performance"
  settings.core_clock_hz: null
  command: ["true"]
  exit_code: 0
  conditions.marks: []
  $ foretell clocks set --root laptop --core 1200 -- no-such-program
  foretell clocks: no-such-program cannot be run: No such file or directory
  [4]
  $ foretell clocks set --root laptop --core 1200 -q -- foretell clocks set --root laptop --core 800 -- true 2>&1 | sed 's/process [0-9]*/process N/'
  foretell clocks: settings are held by process N already; wait for its end, or end it (it puts back what it set)
  $ diff -r laptop laptops/rapl-laptop -x .foretell

The nearest step, and clocks beyond what there is.

  $ foretell clocks set --root laptops/amd-server --core 1.6GHz --affinity 0 -- true
  warning: CPU 0 has no clock of 1600 MHz; the nearest is taken, 1700 MHz
  foretell clocks: clock=1700MHz affinity=0 while it ran, put back now; seen: clock 2100 MHz, 41 C
  warning: the clock was not what was set
  $ foretell clocks set --root laptop --core 12GHz -- true
  foretell clocks: CPU 0 has no clock of 12000 MHz; it goes from 400 to 3100 MHz
  [4]
  $ foretell clocks set --root laptops/bare-vm --core 1GHz -- true
  foretell clocks: this virtual machine shows no CPU clock (/sys/devices/system/cpu/cpu0/cpufreq); set it on the host
  [4]
  $ foretell clocks set --root laptop --power-cap 20W -- true
  foretell clocks: a CPU's memory clock and power cap cannot be set; name a GPU, --device nvml:0
  [4]

Until it is put back.

  $ foretell clocks set --root laptop --core 1200MHz --turbo off --keep
  set: clock=1200MHz turbo=off
  it stays until: foretell clocks reset
  $ foretell clocks show --root laptop | sed -n '3,4p;$p'
  cpu     core clock   2.70 GHz, fixed at 1200 MHz  400 MHz .. 3.10 GHz                         yes
  cpu     governor     powersave                                         performance powersave  yes
  13 values are kept; put them back: foretell clocks reset
  $ foretell clocks set --root laptop --governor performance --keep --json
  {
    "settings": {
      "setting": "governor=performance",
      "device": "cpu",
      "core_clock_hz": null,
      "memory_clock_hz": null,
      "power_cap_w": null,
      "cpus_online": null,
      "governor": "performance",
      "turbo": null,
      "affinity": null
    }
  }
  $ foretell clocks reset --root laptop
  17 values put back
  $ foretell clocks reset --root laptop
  nothing was set
  $ diff -r laptop laptops/rapl-laptop -x .foretell

A GPU.

  $ ln -s $FORETELL_PLUGINS/../tests/libfake-nvidia-ml.so libnvidia-ml.so.1
  $ echo gpus=1 > gpu; export FAKE_NVML=gpu LD_LIBRARY_PATH=.
  > foretell clocks show | grep '^nvml:0 ' | cut -c1-74
  > foretell clocks set --device nvml:0 --core 1000 --power-cap 150 -- cat gpu 2>&1 | sed 's/, foreign load [0-9.]*//'
  > tail -2 gpu
  nvml:0  core clock    1.41 GHz  210 MHz .. 1.41 GHz  210 600 900 1200 1410
  nvml:0  memory clock  1.22 GHz  810 MHz .. 1.22 GHz  810 1215 MHz         
  nvml:0  power cap     300 W     100 W .. 300 W                            
  warning: nvml:0 has no core clock of 1000 MHz; the nearest is taken, 900 MHz
  gpus=1
  gpu0.limit_mw=150000
  gpu0.locked=900
  foretell clocks: device=nvml:0 clock=900MHz power=150W while it ran, put back now; seen: clock 900 MHz, memory 1215 MHz, 40 C
  gpu0.limit_mw=300000
  gpu0.locked=0
  $ echo gpus=1 > gpu; echo 'relu x=8x8' > one.ops; export FAKE_NVML=gpu LD_LIBRARY_PATH=.
  > foretell collect one.ops --engine fake --clocks 600,900 --clocks-of nvml:0 --db x.db --json -q | pick 0.setting 1.setting 0.measured 1.measured
  > foretell measure one.ops --engine fake --clocks 1200 --power-cap 200 --clocks-of nvml:0 --time 10ms | head -1 | cut -d, -f2
  > cat gpu
  0.setting: "threads=1 device=nvml:0 clock=600MHz"
  1.setting: "threads=1 device=nvml:0 clock=900MHz"
  0.measured: 1
  1.measured: 1
   threads=1 device=nvml:0 clock=1200MHz power=200W
  gpus=1
  gpu0.locked=600
  gpu0.locked=0
  gpu0.locked=900
  gpu0.locked=0
  gpu0.limit_mw=200000
  gpu0.locked=1200
  gpu0.limit_mw=300000
  gpu0.locked=0
  $ (echo gpus=1; echo gpu0.SetGpuLockedClocks=4; echo gpu0.SetApplicationsClocks=4) > gpu; export FAKE_NVML=gpu LD_LIBRARY_PATH=.
  > foretell measure one.ops --engine fake --clocks 1200 --clocks-of nvml:0
  foretell measure: nvml:0: its clocks may only be set by root; run with sudo, or: sudo nvidia-smi -i 0 -acp UNRESTRICTED
  [4]

Bad usage.

  $ foretell clocks
  foretell clocks: show, set or reset?
  [2]
  $ foretell clocks shwo
  foretell clocks: "shwo": show, set or reset?
  [2]
  $ foretell clocks show all
  foretell clocks: one argument too many: "all"
  [2]
  $ foretell clocks set --core 1200
  foretell clocks: for how long? -- CMD: while CMD runs; --keep: until foretell clocks reset
  [2]
  $ foretell clocks set -- true
  foretell clocks: nothing to set: --core, --memory, --power-cap, --cpus, --governor, --turbo or --affinity
  [2]
  $ foretell clocks set --keep
  foretell clocks: nothing to set: --core, --memory, --power-cap, --cpus, --governor, --turbo or --affinity
  [2]
  $ foretell clocks set --core 1200 --keep -- true
  foretell clocks: --keep sets for good, -- CMD for as long as CMD runs: one of them
  [2]
  $ foretell clocks set --core fast -- true
  foretell clocks: --core wants a clock such as 1200MHz or 1.2GHz, not "fast"
  [2]
  $ foretell clocks set --core 0 -- true
  foretell clocks: --core wants a clock such as 1200MHz or 1.2GHz, not "0"
  [2]
  $ foretell clocks set --power-cap 20V -- true
  foretell clocks: --power-cap wants watts such as 150W, not "20V"
  [2]
  $ foretell clocks show -- true
  foretell clocks: a command belongs to set only
  [2]
  $ foretell clocks show --device nvml:0
  foretell clocks: --device belongs to set only
  [2]
  $ foretell clocks reset --core 1GHz
  foretell clocks: --core belongs to set only
  [2]
  $ foretell clocks show --root nowhere
  foretell clocks: there is no recorded machine nowhere
  [3]
  $ foretell collect one.ops --clocks 600,
  foretell collect: --clocks wants clocks such as 600,900,1200 (MHz), at most 64, not "600,"
  [2]
  $ foretell collect one.ops --clocks 600,x
  foretell collect: --clocks wants clocks such as 600,900,1200 (MHz), at most 64, not "600,x"
  [2]
  $ foretell measure --clocks 600 -- true
  foretell measure: for commands: foretell clocks set ... -- foretell measure -- COMMAND
  [2]
  $ foretell measure one.ops --clocks 600,900 --csv
  foretell measure: --csv is for one clock; --json is for several
  [2]
  $ foretell clocks set 5000 --keep
  foretell clocks: one argument too many: "5000"; clocks and caps are options, as --core 1200MHz
  [2]
