A fleet on this machine: what is missing is planned, measured by jobs, merged, and not measured again.

  $ cat >lab.yaml <<'END'
  > node_hours: 1
  > kinds:
  >   - name: small
  >     device: a30
  >     engine: "fake,gpu=whatever it is called there"
  >     nodes: 2
  >     portable: "a folder"
  >     setup: mkdir -p ../../setup
  >     op_seconds: 0.01
  >     overhead_s: 1
  >     job_operations: 4
  >   - name: large
  >     device: h100
  >     engine: fake,gpu=h100,fail_kind=matmul
  >     threads: 2
  >     op_seconds: 0.01
  >     overhead_s: 1
  > wanted:
  >   - model: some.ops
  >   - {model: data/models/resnet18.onnx, batches: [1, 2], kinds: [large]}
  > END
  $ mkdir "a folder"; printf '#!/bin/sh\nexec foretell "$@"\n' >"a folder/foretell"; chmod +x "a folder/foretell"
  $ printf 'linear x=8x64 out=%d\n' 10 20 30 40 50 60 >some.ops; echo 'matmul x=2x8x8 y=2x8x8' >>some.ops
  $ foretell fleet plan lab.yaml --db lab.db
  kind   setting    wanted  measured  given up  missing  node hours
  -----------------------------------------------------------------
  small  threads=1       7         0         0        7   0.0006197
  large  threads=2      53         0         0       53   0.0007636
  0 node hours used of 1, about 0.00138 missing
  next: foretell fleet run lab.yaml --db lab.db
  $ ls | grep fleet
  [1]
  $ foretell fleet run lab.yaml --local 2 --db lab.db --json >ran.json; pick kinds.0.known kinds.0.missing kinds.0.refused kinds.0.jobs kinds.1.known kinds.1.missing kinds.1.refused out_of_budget quarantined <ran.json
  kinds.0.known: 7
  kinds.0.missing: 0
  kinds.0.refused: 0
  kinds.0.jobs: 2
  kinds.1.known: 52
  kinds.1.missing: 0
  kinds.1.refused: 1
  out_of_budget: false
  quarantined: []
  $ ls lab.fleet | grep -v -; cat lab.fleet/refused.csv
  lock
  refused.csv
  setup
  kind,what,name,reason
  large,operation,"matmul x=2x8x8 y=2x8x8 dtype=fp32","3 jobs ended without it and 0 died: fake: failure of matmul as planned"
  $ foretell data export --db lab.db --metric time | grep linear | grep -vc x=512x1024
  14
  $ foretell fleet plan lab.yaml --db lab.db | sed 's/^[0-9.e-]* node/# node/'
  kind   setting    wanted  measured  given up  missing  node hours
  -----------------------------------------------------------------
  small  threads=1       7         7         0        0           0
  large  threads=2      53        52         1        0           0
  why operations were given up: HOME/lab.fleet/refused.csv
  # node hours used of 1
  $ foretell fleet run lab.yaml --local 2 --db lab.db >/dev/null; foretell data export --db lab.db --metric time | grep linear | grep -vc x=512x1024
  14
  $ foretell fleet status lab.yaml --db lab.db --json | pick kinds.0.jobs kinds.0.waiting kinds.0.running kinds.0.died kinds.1.setting
  kinds.0.jobs: 2
  kinds.0.waiting: 0
  kinds.0.running: 0
  kinds.0.died: 0
  kinds.1.setting: "threads=2"

Every row says where it comes from.

  $ foretell data export --db lab.db --metric time | grep 'out=10 ' | grep -o '""[a-z]*"": ""' | sort | uniq -c
        2 ""clock"": ""
        2 ""driver"": ""
        2 ""foretell"": ""
        2 ""job"": ""
        2 ""node"": ""

  $ foretell collect some.ops --engine fake --db x.db --note node
  foretell collect: "node" is no note: NAME=VALUE, the name of letters, digits and '_'
  [2]

More is wanted: only that is measured. A budget ends it.

  $ echo 'linear x=8x64 out=70' >>some.ops; foretell fleet run lab.yaml --local 1 --db lab.db --json | pick kinds.0.wanted kinds.0.known kinds.1.known
  kinds.0.wanted: 8
  kinds.0.known: 8
  kinds.1.known: 53
  $ sed -i 's/node_hours: 1/node_hours: 0/' lab.yaml; echo 'linear x=8x64 out=80' >>some.ops; foretell fleet run lab.yaml --local 1 --db lab.db --json | pick kinds.0.missing out_of_budget
  kinds.0.missing: 1
  out_of_budget: true

Networks are measured whole, and points of explorations run, by jobs, too.

  $ cat >whole.yaml <<'END'
  > kinds:
  >   - {name: a, device: a30, engine: "fake,gpu=a30", nodes: 2, op_seconds: 0.01, overhead_s: 1, job_operations: 2}
  > wanted:
  >   - {model: data/models/resnet18.onnx, batches: [1, 4], measure: whole}
  >   - {explore: echo.yaml}
  > END
  $ cat >echo.yaml <<'END'
  > name: echo
  > command: [echo, "y={x}"]
  > parameters:
  >   - {name: x, values: [1, 2, 3]}
  > objectives:
  >   - {name: "y", match: "y=([0-9])"}
  > runs: {least: 2, most: 2}
  > END
  $ foretell fleet plan whole.yaml --db whole.db | sed -n 3p
  a     threads=1       5         0         0        5    0.001246
  $ foretell fleet run whole.yaml --local 2 --db whole.db --json | pick kinds.0.known kinds.0.missing kinds.0.refused
  kinds.0.known: 5
  kinds.0.missing: 0
  kinds.0.refused: 0
  $ foretell data export --db whole.db --metric time | grep -o 'network[^,]*' | sort
  network name=resnet18 x=1x3x224x224 dtype=fp32
  network name=resnet18 x=4x3x224x224 dtype=fp32
  $ foretell explore report echo.yaml --name echo@a --db whole.db --csv | cut -d, -f2,3,5
  x,y,runs
  1,1,2
  2,2,2
  3,3,2
  $ foretell fleet run whole.yaml --local 2 --db whole.db --json | pick kinds.0.missing; ls whole.fleet/*/*/list.ops | wc -l
  kinds.0.missing: 0
  3
  $ sed -i 's/\[echo, "y={x}"\]/[nothere, "{x}"]/' echo.yaml; foretell fleet run whole.yaml --local 2 --db whole.db --json | pick kinds.0.missing; foretell explore report echo.yaml --name echo@a --db whole.db --csv | grep -c nothere
  kinds.0.missing: 0
  3

What is not good stops with a sentence.

  $ sed 's/echo.yaml/nothere.yaml/' whole.yaml >bad.yaml; foretell fleet plan bad.yaml --db bad.db
  foretell fleet: wanted: cannot read nothere.yaml: No such file or directory
  [3]
  $ sed 's/^command: .*/predict: [data\/models\/resnet18.onnx, --batch, "{x}"]/; s/^objectives:/objectives: [time]/; /match/d; /^runs/d' echo.yaml >asked.yaml; sed 's/echo.yaml/asked.yaml/' whole.yaml >bad.yaml; foretell fleet plan bad.yaml --db bad.db
  foretell fleet: wanted: asked.yaml: its points are predicted, not run; ask for them with: foretell explore report
  [3]
  $ sed 's/  - {name: x.*/  - {name: x, low: 1, high: 9000}\n  - {name: z, low: 1, high: 9000, environment: Z}/' echo.yaml >many.yaml; sed 's/echo.yaml/many.yaml/' whole.yaml >bad.yaml; foretell fleet plan bad.yaml --db bad.db
  foretell fleet: wanted: the space has more than 16777216 points: draw some of them (random, latin, sobol)
  [3]
  $ foretell fleet plan nothere.yaml
  foretell fleet: cannot read nothere.yaml: No such file or directory
  [3]
  $ foretell fleet plan some.ops
  foretell fleet: some.ops:1: here stand keys and values (kinds, wanted, error, node_hours, folder, calibration)
  [3]
  $ printf '#!/bin/sh\nsed "$1" lab.yaml >bad.yaml; foretell fleet plan bad.yaml --db bad.db\n' >bad; chmod +x bad
  $ ./bad 's/overhead_s/overhead/'
  foretell fleet: bad.yaml:10: kinds: there is no key "overhead"; known are name, device, engine, threads, clocks_mhz, constraint, partition, account, sbatch, nodes, foretell, portable, setup, power, op_seconds, overhead_s, job_minutes, job_operations
  [3]
  $ ./bad '/device: a30/d'
  foretell fleet: bad.yaml:3: kinds: "device:" is missing
  [3]
  $ ./bad 's/large$/small/'
  foretell fleet: bad.yaml:12: kinds: "small" stands here twice
  [3]
  $ ./bad 's/\[large\]/[huge]/'
  foretell fleet: bad.yaml:20: wanted: there is no kind "huge"
  [3]
  $ ./bad 's/nodes: 2/nodes: 0.5/'
  foretell fleet: bad.yaml:6: nodes: a number from 1 is wanted
  [3]
  $ ./bad 's/threads: 2/clocks_mhz: [fast]/'
  foretell fleet: bad.yaml:15: clocks_mhz: a number is wanted, not "fast"
  [3]
  $ ./bad 's/threads: 2/sbatch: [gres]/'
  foretell fleet: bad.yaml:15: sbatch: an option like --gres=gpu:1 is wanted
  [3]
  $ ./bad 's/some.ops/nothere.onnx/'
  foretell fleet: wanted: nothere.onnx: nothere.onnx: No such file or directory
  [3]
  $ ./bad 's/engine: fake,gpu=h100.*/engine: ",x"/'
  foretell fleet: kind large: its engine has no name
  [3]
  $ ./bad '/^wanted/,$d'
  foretell fleet: bad.yaml:1: "wanted:" is missing
  [3]
  $ foretell fleet look lab.yaml
  foretell fleet: "look" is not one of plan, run, status
  [2]
  $ foretell fleet plan lab.yaml --local 1
  foretell fleet: --local is for run
  [2]

Slurm that is not there, or says no.

  $ sed -i 's/node_hours: 0/node_hours: 1/' lab.yaml
  $ PATH=${PATH%%:*} foretell fleet run lab.yaml --db lab.db
  foretell fleet: cannot run squeue: No such file or directory: without Slurm, jobs run on this machine with --local N
  [3]
  $ printf '#!/bin/sh\n' >squeue; printf '#!/bin/sh\necho "sbatch: error: Batch job submission failed: Invalid feature specification" >&2\nexit 1\n' >sbatch; chmod +x squeue sbatch
  $ PATH=.:$PATH foretell fleet run lab.yaml --db lab.db
  foretell fleet: kind small: sbatch refuses: Batch job submission failed: Invalid feature specification
  [3]
  $ printf '#!/bin/sh\necho "$@" | tr " " "\\n" | grep -vE "^/|HOME" >said\nexit 1\n' >sbatch
  $ sed -i 's/nodes: 2/nodes: 2\n    constraint: "a30;id"\n    partition: gpu\n    sbatch: [--gres=gpu:1]/' lab.yaml; PATH=.:$PATH foretell fleet run lab.yaml --db lab.db; grep -v foretell- said
  foretell fleet: kind small: sbatch refuses: 
  --parsable
  --exclusive
  --no-requeue
  --array
  0-0
  --job-name
  --output
  --time
  40
  --constraint
  a30;id
  --partition
  gpu
  --gres=gpu:1
