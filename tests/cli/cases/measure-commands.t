Any command is measured; several take turns. Figures differ, their places do not.

  $ echo "s/[0-9.]+ (ns|us|ms|s|B|KiB|MiB|CPUs)/T/g; s/[0-9]+\.[0-9]+/R/g; s/\[[mu]?s\]/[T]/g; /note:/d; s/ +\(cannot be distinguished\)//" >mask
  $ foretell measure --no-power -r 2 -n first -- true -- sleep 1.5 | sed -E -f mask
  1: first
    mean          T +- T (std)   user T, system T
    median        T, 95 % below T, range T .. T, 2 runs
    peak memory   T
    energy        unavailable: --no-power was given
  2: sleep R
    mean          T +- T (std)   user T, system T
    median        T, 95 % below T, range T .. T, 2 runs
    peak memory   T
    energy        unavailable: --no-power was given
  
  first has the shortest median; the others take
    R +- R times its time, R times its memory: sleep R
  $ foretell measure --no-power -r 1 -- true | sed -E -f mask
  1: true
    mean          T   user T, system T
    median        T, 95 % below T, range T .. T, 1 run
    peak memory   T
    energy        unavailable: --no-power was given
  $ foretell measure --no-power --min-runs 2 --max-runs 2 --setup 'printf s >>o' --prepare 'printf p >>o' --conclude 'printf c >>o' --cleanup 'printf e >>o' -- true >/dev/null; echo $(cat o)
  spcpce
  $ foretell measure --no-power -r 1 -L 'n=1..3..2' --shell 'exit 0 # {n}' -- true | grep '^[0-9]'
  1: true
  2: exit 0 # 1
  3: exit 0 # 3
  $ foretell measure --no-power -r 2 -n a --reference a -- sleep 1.5 -- true | sed -E -f mask | tail -2
  a, beside it:
    R +- R times its time, R times its memory: true
  $ foretell measure --no-power -r 2 -n 'a|b' --markdown m.md -- true > out; sed -n 1,2p m.md | sed -E -f mask; cut -d' ' -f2 m.md | tail -1
  | command | mean [T] | median [T] | min [T] | max [T] | peak memory [MiB] | energy [J] | relative |
  |:---|---:|---:|---:|---:|---:|---:|---:|
  `a\|b`
  $ foretell measure --no-power -r 3 --csv -- true | head -1
  command,start_s,wall_s,user_s,system_s,peak_bytes,exit_code,outlier
  $ foretell measure --no-power -r 3 --csv -- true | wc -l
  4
  $ foretell measure --no-power -r 2 --json -- true > j; python3 -c "import json; j = json.load(open('j')); r = j['results'][0]; print(sorted(j), sorted(r), len(r['runs']), sorted(r['runs'][0]))"
  ['foretell', 'line', 'machine', 'reference', 'results'] ['command', 'energy', 'energy_why', 'memory', 'outliers', 'ratio', 'ratio_error', 'runs', 'system_s', 'time', 'user_s'] 2 ['clock_hz', 'exit_code', 'foreign_load', 'outlier', 'page_faults', 'peak_bytes', 'read_bytes', 'signal', 'start_s', 'switches', 'system_s', 'temperature_max_k', 'timed_out', 'user_s', 'wall_s', 'written_bytes']
  $ foretell measure --no-power -r 2 --json -- true -- sleep 0.3 > j; python3 -c "
  > import json
  > for r in json.load(open('j'))['results']:
  >     t, walls, peaks = r['time'], [x['wall_s'] for x in r['runs']], [x['peak_bytes'] for x in r['runs']]
  >     print(r['command'], t['min'] == min(walls) <= t['median'] <= t['p95'] <= t['max'] == max(walls), 'sleep' not in r['command'] or t['min'] >= .3,
  >           abs(sum(walls) / len(walls) / t['mean'] - 1) < 1e-9, r['memory']['peak'] == max(peaks) >= r['memory']['mean'] > 0)"
  true True True True True
  sleep 0.3 True True True True

Energy, of a recorded machine that draws 50 W, 30 of them in its processor. On a machine
that is too busy to be asked often enough nothing is told: then once more.

  $ python3 -c "print('# foretell trace 1'); print('# domain,part_of,counts,tells_power,all_fresh,period_s,window_s,duty,least_s'); print('# wall,,0,1,1,0.01,0.01,1,'); print('# wall/cpu,wall,0,1,1,0.01,0.01,1,'); print('at_s,domain,watts,joules'); [print(f'{i / 100},wall,50,\n{i / 100},wall/cpu,30,') for i in range(6000)]" >trace
  $ for i in $(seq 60); do foretell measure --power replay:trace -r 3 -n a -n b --json --markdown m.md -- sleep 0.2 -- sleep 0.3 >j; [ $(grep -c '"why": null' j) = 4 ] && break; done; python3 -c "
  > import json
  > for r in json.load(open('j'))['results']:
  >     for e in r['energy']:
  >         true = {'wall': 50, 'wall/cpu': 30}[e['domain']] * r['time']['mean']
  >         print(r['command'], e['domain'], e['part_of'], abs(e['value'] / true - 1) < .01, len(e['joules']), e['why'])"
  a wall None True 3 None
  a wall/cpu wall True 3 None
  b wall None True 3 None
  b wall/cpu wall True 3 None
  $ for i in $(seq 60); do foretell measure --power replay:trace --power-time 200ms -r 3 -- true | grep -oE 'wall[^ ]* at .*' >said; [ $(wc -l <said) = 2 ] && break; done; cat said
  wall at 50.0 W, idle 50.0 W
  wall/cpu at 30.0 W, idle 30.0 W
  $ foretell measure --power replay:trace -r 3 --prepare true -- true | grep energy
    energy        wall: unavailable: runs are shorter than the 0.12 s that the sensor needs, and are not looped with --prepare or --conclude
    energy        wall/cpu: unavailable: runs are shorter than the 0.12 s that the sensor needs, and are not looped with --prepare or --conclude
  $ foretell measure --power-error 2 -- true; echo $?
  foretell measure: --power-error 2: a share like 2% or 0.02
  2

What cannot be measured says why.

  $ foretell measure --no-power -- false; echo $?
  foretell measure: false ended with 1; --show-output tells why, --ignore-failure measures it all the same
  1
  $ foretell measure --no-power --timeout 100ms -- sleep 9; echo $?
  foretell measure: sleep 9 took longer than 0.1 s and was ended
  1
  $ foretell measure --no-power -- no-such-program; echo $?
  foretell measure: cannot run no-such-program: No such file or directory
  4
  $ foretell measure --no-power --stdin no-such-file -- cat; echo $?
  foretell measure: cannot read no-such-file: No such file or directory
  3
  $ foretell measure --no-power --prepare 'exit 3' -- true; echo $?
  foretell measure: the prepare command "exit 3" ended with 3
  1
  $ foretell measure model.onnx -- true; echo $?
  foretell measure: a model (model.onnx) and commands exclude each other
  2
  $ foretell measure; echo $?
  foretell measure: MODEL or -- COMMAND is missing
  2
  $ foretell measure -- true -- -- true; echo $?
  foretell measure: there is no command between two --
  2
  $ foretell measure --list n -- true; echo $?
  foretell measure: --list wants NAME=A,B,... or NAME=1..8, not "n"
  2
  $ foretell measure -n a -n b -- true; echo $?
  foretell measure: 2 names for 1 command
  2
  $ foretell measure --reference b -n a -- true; echo $?
  foretell measure: --reference b: no command has that --name
  2

What would be ignored is refused.

  $ foretell measure model.onnx --warmup 3; echo $?
  foretell measure: --warmup is for commands, not for a model
  2
  $ foretell measure model.onnx --name a; echo $?
  foretell measure: --name is for commands, not for a model
  2
  $ foretell measure --predictor p.ftp -- true; echo $?
  foretell measure: --predictor is for models, not for commands
  2
  $ foretell measure --dim seq=128 --shell true; echo $?
  foretell measure: --dim is for models, not for commands
  2
  $ foretell measure --clocks 600 -- true; echo $?
  foretell measure: for commands: foretell clocks set ... -- foretell measure -- COMMAND
  2
  $ foretell measure --no-power --power replay:trace -- true; echo $?
  foretell measure: --power and --no-power exclude each other
  2

A signal is said as a shell says it; what has -- among its words is for --shell.

  $ foretell measure --no-power -i -r 1 --csv --shell 'kill -9 $$' | cut -d, -f7
  exit_code
  137
  $ foretell measure --no-power -r 1 --shell 'set -- a -- b; echo "$@"' --show-output | head -1
  a -- b

A range of a list has an end that can be reached.

  $ for r in 1..9223372036854775807 1..1001 9..1 1..9..0 1..99999999999999999999; do foretell measure -r 1 -L n=$r -- true; done
  foretell measure: --list n=1..9223372036854775807: more than 1000 values
  foretell measure: --list n=1..1001: more than 1000 values
  foretell measure: --list n=9..1: a range counts upwards, by whole numbers
  foretell measure: --list n=1..9..0: a range counts upwards, by whole numbers
  foretell measure: --list n=1..99999999999999999999: a range counts upwards, by whole numbers
  [2]
  $ foretell measure --no-power -r 1 -L n=-9223372036854775808..9223372036854775807..9223372036854775807 --csv -- true {n} | cut -d, -f1
  command
  true -9223372036854775808
  true -1
  true 9223372036854775806

Threads that take turns are said, where time is real.

  $ foretell measure data/models/squeezenet1_1.onnx --engine fake,foreign=0.001 --threads 5000 --time 1ms 2>&1 >/dev/null | sed 's/the [0-9]* CPU.*/the CPUs/'
  warning: 5000 threads take turns on the CPUs
  $ foretell measure data/models/squeezenet1_1.onnx --engine fake,foreign=0.001 --threads 1 --time 1ms 2>&1 >/dev/null
