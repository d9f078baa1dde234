A space is run point by point; the objectives here are numbers that a program prints, so that they are the same everywhere.

  $ cat >space.yaml <<'END'
  > name: toy
  > command: 'echo score $(( (A - 3) * (A - 3) + 10 * {mode} + {w} * A )); echo gain $((A * {mode} + 1))'
  > workloads:
  >   - {name: low, w: 0}
  >   - {name: high, w: 4}
  > parameters:
  >   - name: a
  >     low: 1
  >     high: 6
  >     environment: A
  >   - name: mode
  >     values: [0, 1, 2]
  > objectives:
  >   - name: score
  >     match: "score ([0-9]+)"
  >     unit: points
  >   - name: gain
  >     match: "gain ([0-9]+)"
  >     goal: maximize
  >     limit: 3
  > runs: {least: 1, most: 1}
  > END
  $ foretell explore report space.yaml --db toy.db
  $ foretell explore run space.yaml --db toy.db
  $ foretell explore resume space.yaml --db toy.db --csv | head -4
  $ foretell explore report space.yaml --db toy.db --json | pick points runs failed trials.0.point trials.0.values transfers.0.regret transfers.0.rank.n

What fails is kept with its words, and the others go on.

  $ cat >fails.yaml <<'END'
  > name: fails
  > command: [sh, -c, 'test {x} != 2 || { echo no two >&2; exit 7; }; echo v={x}']
  > parameters: [{name: x, values: [1, 2, 3]}]
  > objectives: [{name: v, match: "v=([0-9])"}]
  > runs: {least: 1, most: 1}
  > END
  $ foretell explore run fails.yaml --db toy.db
  $ foretell explore report fails.yaml --db toy.db --json | pick trials.1.failure trials.1.output failed
  $ foretell explore resume fails.yaml --db toy.db --retry 2>&1 >/dev/null
  $ foretell explore run fails.yaml --db other.db --max-runs 2 2>&1 >/dev/null
  $ foretell data merge other.db --db toy.db | tail -1

Builds are made once for each text.

  $ cat >build.yaml <<'END'
  > name: build
  > build: 'echo built {o} >>log; printf "#!/bin/sh\necho n=%s\n" {o} >{build}/p; chmod +x {build}/p'
  > command: ['{build}/p']
  > parameters:
  >   - name: o
  >     values: [1, 22]
  >   - name: e
  >     values: [x, y]
  >     environment: E
  > objectives:
  >   - {name: n, match: "n=([0-9]+)"}
  >   - {name: bytes, file: "{build}/p"}
  > runs: {least: 2, most: 2}
  > END
  $ foretell explore run build.yaml --db toy.db -q --csv
  $ sort log

Mistakes are told with their line.

  $ printf 'name: x\ncommand: [echo]\nparameters:\n  - name: a\n    lo: 1\n    high: 2\nobjectives: [time]\n' >bad.yaml; foretell explore run bad.yaml --db toy.db
  $ printf 'name: x\ncommand: [echo]\nparameters:\n  - name: a\n    low: 1\n    high: 2\nobjectives: [time]\n' >bad.yaml; foretell explore run bad.yaml --db toy.db
  $ foretell explore rum space.yaml --db toy.db
  $ foretell explore run space.yaml --design best --db toy.db
  $ foretell explore report missing.yaml --db toy.db
