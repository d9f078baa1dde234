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
  foretell explore: nothing of toy was run yet as the file stands; begin with: foretell explore run space.yaml --db toy.db
  [4]
  $ foretell explore run space.yaml --db toy.db
  toy: 18 points with 2 workloads each, 36 runs now, 0 failed, 0 left
  toy: 36 results (points and workloads), 36 good runs, 0 failed
  
  low: 7 Pareto-optimal points, hypervolume 0.553
  best settings      score  gain
  ------------------------------
  a=3 mode=1     10 points     4
  a=4 mode=1     11 points     5
  a=5 mode=1     14 points     6
  a=6 mode=1     19 points     7
  a=4 mode=2     21 points     9
  a=5 mode=2     24 points    11
  a=6 mode=2     29 points    13
  
  high: 7 Pareto-optimal points, hypervolume 0.532
  best settings      score  gain
  ------------------------------
  a=2 mode=1     19 points     3
  a=3 mode=1     22 points     4
  a=4 mode=1     27 points     5
  a=3 mode=2     32 points     7
  a=4 mode=2     37 points     9
  a=5 mode=2     44 points    11
  a=6 mode=2     53 points    13
  
  what decides score of low (18 points, R2 0.86 out of fold)
    mode       ############################   92.2 %
    a          ##                             7.8 %
  
  what decides gain of low (18 points, R2 0.78 out of fold)
    mode        ####################           66.3 %
    a           #######                        22.4 %
    a with mode ###                            11.3 %
  
  what goes together of low
  correlation               Pearson              Spearman               Kendall
  -----------------------------------------------------------------------------
  a, score     +0.20 (-0.30..+0.61)  +0.14 (-0.35..+0.57)  +0.11 (-0.23..+0.42)
  a, gain      +0.47 (+0.01..+0.77)  +0.38 (-0.13..+0.73)  +0.33 (+0.00..+0.60)
  score, gain  +0.84 (+0.60..+0.94)  +0.86 (+0.59..+0.95)  +0.73 (+0.53..+0.86)
  
  what decides score of high (18 points, R2 0.80 out of fold)
    a          #################              56.2 %
    mode       #############                  43.6 %
  
  what decides gain of high (18 points, R2 0.78 out of fold)
    mode        ####################           66.3 %
    a           #######                        22.4 %
    a with mode ###                            11.3 %
  
  what goes together of high
  correlation               Pearson              Spearman               Kendall
  -----------------------------------------------------------------------------
  a, score     +0.71 (+0.36..+0.88)  +0.69 (+0.28..+0.89)  +0.55 (+0.27..+0.75)
  a, gain      +0.47 (+0.01..+0.77)  +0.38 (-0.13..+0.73)  +0.33 (+0.00..+0.60)
  score, gain  +0.87 (+0.68..+0.95)  +0.83 (+0.55..+0.95)  +0.74 (+0.55..+0.86)
  
  does the best of one workload suit another? score
  best of  used for                 ranks  worse than its own best  learned from few  with the other's
  ----------------------------------------------------------------------------------------------------
  low      high      +0.79 (+0.46..+0.93)                   15.8 %                 -                 -
  high     low       +0.79 (+0.46..+0.93)                   10.0 %                 -                 -
  learned from few: median error of the rest, learned from 10 points of the workload at random;
  then with all points of the other one as well
  
  does the best of one workload suit another? gain
  best of  used for                 ranks  worse than its own best  learned from few  with the other's
  ----------------------------------------------------------------------------------------------------
  low      high      +1.00 (+1.00..+1.00)           the same point                 -                 -
  high     low       +1.00 (+1.00..+1.00)           the same point                 -                 -
  learned from few: median error of the rest, learned from 10 points of the workload at random;
  then with all points of the other one as well
  
  in short
  - Set a=3 mode=1: score of low is 10 points; the median of 18 points is 12.5 points (+25.0 %), the worst 29 points; the error of the best is not known.
  - Set a=6 mode=2: gain of low is 13; the median of 18 points is 3.5 (-73.1 %), the worst 1; the error of the best is not known.
  - score of low is decided by mode (92.2 %), a (7.8 %) of its variance.
  - Set a=2 mode=1: score of high is 19 points; the median of 18 points is 27.5 points (+44.7 %), the worst 53 points; the error of the best is not known.
  - Set a=6 mode=2: gain of high is 13; the median of 18 points is 3.5 (-73.1 %), the worst 1; the error of the best is not known.
  - score of high is decided by a (56.2 %), mode (43.6 %) of its variance.
  - What is best for low costs high 15.8 % in score against its own best, the most of all pairs (ranks correlate +0.79); its error is not known.
  - One point is the best of all workloads (gain).
  $ foretell explore resume space.yaml --db toy.db --csv | head -4
  toy: 18 points with 2 workloads each, 0 runs now, 0 failed, 0 left
  workload,a,mode,score,score_error,gain,gain_error,runs,front,failure
  low,1,0,4,,1,,1,0,
  low,1,1,14,,2,,1,0,
  low,1,2,24,,3,,1,0,
  $ foretell explore report space.yaml --db toy.db --json | pick points runs failed trials.0.point trials.0.values transfers.0.regret transfers.0.rank.n
  points: 36
  runs: 36
  failed: 0
  trials.0.point: {"a": 1.0, "mode": "0"}
  trials.0.values: {"score": 4.0, "gain": 1.0}
  transfers.0.regret: 0.157894736842105
  transfers.0.rank.n: 18

What fails is kept with its words, and the others go on.

  $ cat >fails.yaml <<'END'
  > name: fails
  > command: [sh, -c, 'test {x} != 2 || { echo no two >&2; exit 7; }; echo v={x}']
  > parameters: [{name: x, values: [1, 2, 3]}]
  > objectives: [{name: v, match: "v=([0-9])"}]
  > runs: {least: 1, most: 1}
  > END
  $ foretell explore run fails.yaml --db toy.db
  fails: 3 points, 3 runs now, 1 failed, 0 left
  fails: 3 results (points and workloads), 2 good runs, 1 failed
  
  front: 1 Pareto-optimal point
  best settings  v
  ----------------
  x=1            1
  
  1 failed
    x=2: the run ended with 7: no two
  
  in short
  - Set x=1: v is 1; the median of 2 points is 2 (+100.0 %), the worst 3; the error of the best is not known.
  $ sed 's/values: .*/values: [2]}]/; s/name: fails/name: none/' fails.yaml >none.yaml; foretell explore run none.yaml --db toy.db 2>/dev/null | grep -A1 ^front
  front: every point failed
  
  $ foretell explore run none.yaml --db toy.db -q >/dev/null
  foretell explore: the only run failed, so nothing is known; resume with --retry runs it again, once the reason is mended
  [1]
  $ foretell explore report none.yaml --db toy.db | tail -2
  1 failed
    x=2: the run ended with 7: no two
  $ foretell explore report fails.yaml --db toy.db --json | pick trials.1.failure trials.1.output failed
  trials.1.failure: "the run ended with 7"
  trials.1.output: "no two\n"
  failed: 1
  $ foretell explore resume fails.yaml --db toy.db --retry 2>&1 >/dev/null
  fails: 3 points, 1 run now, 1 failed, 0 left
  $ foretell explore run fails.yaml --db other.db --max-runs 2 2>&1 >/dev/null
  fails: 3 points, 2 runs now, 0 failed, 1 left
  go on with: foretell explore resume fails.yaml --db other.db
  $ foretell data merge other.db --db toy.db | sed -n 2p; foretell explore report fails.yaml --db toy.db --json | pick runs failed points
  2 runs of explorations taken
  runs: 4
  failed: 1
  points: 3
  $ foretell data merge other.db --db toy.db --json | pick trials; foretell explore report fails.yaml --db toy.db --json | pick runs
  trials: 0
  runs: 4

Of what it wrote the last line with a word in it stands there, not a "}" alone, and not all of a long one.

  $ cat >words.yaml <<'END'
  > name: words
  > command: [sh, -c, 'test {x} = 1 && printf "{\n  why: none\n}\n"; test {x} = 3 && yes é | head -c 3000 | tr -d "\n"; test {x} = 4']
  > parameters: [{name: x, values: [1, 2, 3, 4]}]
  > objectives: [{name: v, match: "v=([0-9])"}]
  > runs: {least: 1, most: 1}
  > END
  $ foretell explore run words.yaml --db toy.db 2>/dev/null | grep '^  x=' >failed; grep -v x=3 failed; grep x=3 failed | wc -c; iconv -f utf-8 -t utf-16 failed >/dev/null
    x=1: the run ended with 1: why: none
    x=2: the run ended with 1
    x=4: v: the output has no "v=([0-9])"
  346

An objective that cannot be measured does not make a front empty; a model that is worse than the mean says so.

  $ cat >some.yaml <<'END'
  > name: some
  > command: [sh, -c, 'echo y=$(echo {a} {b} | md5sum | tr a-f 1-6 | cut -c1-3)']
  > parameters: [{name: a, low: 1, high: 8}, {name: b, values: [1, 2, 3]}]
  > objectives: [{name: y, match: "y=([0-9]+)"}, {name: energy}]
  > runs: {least: 1, most: 1}
  > END
  $ foretell explore run some.yaml --db toy.db --no-power 2>/dev/null | grep -e known -e R2
  energy is known of no point: the front is of the other objectives
  what decides y (24 points, R2 -0.46 out of fold: worse than the mean, do not rely on it)
  - Set a=7 b=1: y is 33; the median of 24 points is 437.5 (+1225.8 %), the worst 944; the error of the best is not known.
  - y is not explained by the parameters: a model of these 24 points is worse than their mean (R2 -0.46 out of fold).

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
  workload,o,e,n,n_error,bytes,bytes_error,runs,front,failure
  ,1,x,1,0,19,0,2,1,
  ,1,y,1,0,19,0,2,1,
  ,22,x,22,0,20,0,2,0,
  ,22,y,22,0,20,0,2,0,
  $ sort log
  built 1
  built 22

Designs have as many points as their options say; builds are kept where they are wanted.

  $ printf 'name: lv\ncommand: "echo {x}"\nparameters:\n  - {name: x, type: real, low: 0, high: 1}\nobjectives:\n  - {name: v, match: "(.*)"}\nruns: {least: 1, most: 1}\n' >levels.yaml
  $ foretell explore run levels.yaml --db levels.db --design full --levels 3 -q --csv
  workload,x,v,v_error,runs,front,failure
  ,0,0,,1,1,
  ,0.5,0.5,,1,0,
  ,1,1,,1,0,
  $ printf 'name: fr\ncommand: "echo {a}{b}{c}{d}{e}"\nparameters:\n' >fraction.yaml; for p in a b c d e; do echo "  - {name: $p, low: 0, high: 1}"; done >>fraction.yaml; printf 'objectives:\n  - {name: v, match: "(.*)"}\nruns: {least: 1, most: 1}\n' >>fraction.yaml
  $ for r in 3 5; do foretell explore run fraction.yaml --db fraction$r.db --design fractional --resolution $r -q --csv | wc -l; done
  9
  17
  $ foretell explore run build.yaml --db kept.db -q --csv --build-dir kept >/dev/null; ls -d kept/* | wc -l
  2

Points are run by their number in the design, on each machine under a name of its own.

  $ foretell explore run build.yaml --db parts.db -q --csv --only 4,1 --name build@n1 --note node=n1 | cut -d, -f2,3,8
  o,e,runs
  1,x,2
  22,y,2
  $ cp build.yaml 'a build.yaml'
  $ foretell explore report 'a build.yaml' --db parts.db --name 'other one'
  foretell explore: nothing of other one was run yet as the file stands; begin with: foretell explore run 'a build.yaml' --name 'other one' --db parts.db
  [4]
  $ foretell explore report build.yaml --db parts.db
  foretell explore: nothing of build was run yet as the file stands; begin with: foretell explore run build.yaml --db parts.db
  [4]
  $ python3 -c 'import sqlite3
  > query = """SELECT DISTINCT name, point, json_extract(conditions, ?) FROM trial t JOIN exploration e ON e.id = exploration_id"""
  > print(*sorted("|".join(row) for row in sqlite3.connect("parts.db").execute(query, ["$.node"])), sep="\n")'
  build@n1|o=1 e=x|n1
  build@n1|o=22 e=y|n1
  $ foretell explore run build.yaml --db parts.db --only 5
  foretell explore: build: point 5 of a design of 4 points
  [2]
  $ foretell explore run build.yaml --db parts.db --only 0
  foretell explore: --only 0: points are numbered from 1: N,N,...
  [2]
  $ foretell explore report build.yaml --db parts.db --only 1
  foretell explore: --only is for run
  [2]
  $ foretell explore run build.yaml --db parts.db --search random --only 1
  foretell explore: --only is of a design, not of a --search
  [2]

Mistakes are told with their line.

  $ printf 'name: x\ncommand: [echo]\nparameters:\n  - name: a\n    lo: 1\n    high: 2\nobjectives: [time]\n' >bad.yaml; foretell explore run bad.yaml --db toy.db
  foretell explore: bad.yaml:5: parameters: there is no key "lo"; known are name, values, ordered, low, high, type, log, environment, setting, when
  [3]
  $ printf 'name: x\ncommand: [echo]\nparameters:\n  - name: a\n    low: 1\n    high: 2\nobjectives: [time]\n' >bad.yaml; foretell explore run bad.yaml --db toy.db
  foretell explore: bad.yaml:4: a: where does it act? {a} stands neither in command nor in build, and it has no environment or setting
  [3]
  $ foretell explore rum space.yaml --db toy.db
  foretell explore: "rum" is not one of run, resume, report, verify, front; did you mean run?
  [2]
  $ foretell explore run space.yaml --design best --db toy.db
  foretell explore: --design best: it is one of full, fractional, random, latin, sobol
  [2]
  $ foretell explore report missing.yaml --db toy.db
  foretell explore: cannot read missing.yaml: No such file or directory
  [3]

The front of runs is in the report.

  $ printf 'name: one\ncommand: ["true", "{n}"]\nparameters:\n  - name: n\n    values: [1, 2]\nobjectives:\n  - name: time\n' > one.yaml; foretell explore front one.yaml
  foretell explore: front is of what is predicted: one has no predict; explore report shows the front of its runs
  [2]
