A source of power is tried before anything is measured with it. On a machine that is too
busy to be asked often enough nothing is told: then once more.

  $ told() { for i in $(seq 60); do "$@" >said; grep -q '"reason": ""' said && break; done; cat said; }; told foretell doctor --json --power 'command:while :; do echo 60.5 W; sleep 0.02; done' | pick 0.name 0.power_w 0.counter_j 0.reason
  0.name: "command"
  0.power_w: 60.5
  0.counter_j: null
  0.reason: ""
  $ foretell doctor --power 'command:echo 7; exec sleep 9' | sed 's/ [0-9.]* s of [0-9.]* s/ T/'
    command              unavailable: no readings
  $ foretell doctor --power 'command:echo seven'
  foretell doctor: command: echo seven ended without a number: it should print watts, one number a line
  [4]
  $ printf 'at_s,domain,watts,joules\n0,wall,5,\n1,wall,x,\n' > bad.csv
  $ foretell doctor --power replay:bad.csv
  foretell doctor: bad.csv:3: a number is none
  [3]
  $ foretell doctor --power no-such-source
  foretell doctor: no source "no-such-source" on this machine: foretell doctor lists what there is
  [4]
  $ seq 0 3000 | awk 'BEGIN { print "at_s,domain,watts,joules" } { printf "%g,wall,%d,\n", $1 / 100, 40 + $1 % 2 }' > wall.csv
  $ told() { for i in $(seq 60); do "$@" >said; grep -q '"reason": ""' said && break; done; cat said; }; told foretell doctor --json --power replay:wall.csv | pick 0.name 0.reason
  0.name: "wall"
  0.reason: ""
