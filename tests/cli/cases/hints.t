Commands that are advised; `tests/hints` runs what this and the other cases print. A file's
name in quotes, the loss, clocks, caps and TF32 are as they were asked for.

  $ mkdir my; cp data/models/resnet18.onnx "my/it's 18.onnx"
  $ foretell predict "my/it's 18.onnx" --device a30 --batch 2 --dtype fp16 --policy tf32 --clock 1200 --power-cap 150 | tail -1
  verify on that device: foretell measure 'my/it'\''s 18.onnx' --engine torch,device=cuda,tf32=1 --dtype fp16 --batch 2 --clocks 1200MHz --power-cap 150W
  $ foretell predict data/models/resnet18.onnx --device a30 --batch 2 --mode training --loss mse --loss-on all --optimizer none | tail -1
  verify on that device: foretell measure data/models/resnet18.onnx --engine torch,device=cuda --mode training --optimizer none --loss mse --loss-on all --batch 2
  $ foretell predict data/models/resnet18.onnx --device a30 --run-mode graph | tail -1
  to verify it: engines of foretell run networks eagerly; --run-mode eager says what they take
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm -q | tail -1
  to verify it: engines of foretell run networks eagerly; --run-mode eager says what they take
  $ for m in graph compiled-graph eager; do foretell predict data/models/resnet18.onnx --device xeon-e5-2680v3 --run-mode $m | grep -E '^(assumed: [a-z]*, not|.*verify)'; done
  assumed: eager, not graph: of this device no other run mode is known
  verify on that device: foretell measure data/models/resnet18.onnx --engine onednn --threads 12
  assumed: compiled, not compiled-graph: of this device no other run mode is known
  to verify it: engines of foretell run networks eagerly; --run-mode eager says what they take
  verify on that device: foretell measure data/models/resnet18.onnx --engine onednn --threads 12
  $ foretell predict data/models/resnet18.onnx --device a30 --engine vllm | grep -E 'warning|verify'
  warning: nothing measured with vllm is behind this answer: it is that of torch
  to verify it: no engine of foretell runs it on that device
  $ foretell rank data/models/resnet18.onnx --devices a30,l4 --engine vllm | grep warning
  warning: nothing measured with vllm is behind this answer: it is that of torch: a30, l4
  $ foretell rank data/models/resnet18.onnx --devices a30 --engine vllm --json | pick choices.0.other_engine
  choices.0.other_engine: "nothing measured with vllm is behind this answer: it is that of torch"
  $ echo 'relu x=4x1000 dtype=fp32' | foretell predict - --device a30 | tail -1
  verify on that device, with the same standard input: foretell measure - --engine torch,device=cuda

An engine that nobody has is refused, with those that there are.

  $ foretell predict data/models/resnet18.onnx --engine foo 2>&1 | sed 's/ onednn,//'
  foretell predict: no engine "foo" in PLUGINS; there are fake, onnxruntime, opencl, torch, tvm
  $ foretell predict data/models/resnet18.onnx --device a30 --engine foo
  foretell predict: --engine foo: no predictor has measurements of it; there are trtllm, vllm, torch; how others serve a language model is asked with --concurrency N
  [2]
  $ foretell rank data/models/resnet18.onnx --devices a30,l4 --engine foo
  foretell rank: --engine foo: no predictor has measurements of it; there are trtllm, vllm, torch; how others serve a language model is asked with --concurrency N
  [2]
  $ foretell rank data/models/resnet18.onnx --devices local --engine foo 2>&1 | sed 's/ onednn,//'
  foretell rank: no engine "foo" in PLUGINS; there are fake, onnxruntime, opencl, torch, tvm
  $ foretell place data/models/resnet18.onnx --devices a30,l4 --link 16GB/s --engine foo
  foretell place: --engine foo: no predictor has measurements of it; there are trtllm, vllm, torch; how others serve a language model is asked with --concurrency N
  [2]

  $ foretell train --engine foo 2>&1 | sed 's/ onednn,//'
  foretell train: no engine "foo" in PLUGINS; there are fake, onnxruntime, opencl, torch, tvm
  $ foretell collect --engine fake models/sequence.onnx --dim seq=64 --db some.db 2>/dev/null | tail -1
  next: foretell train --engine fake --db some.db
  $ foretell train --engine foo --db some.db 2>&1 | sed 's/ onednn,//'
  foretell train: no engine "foo" in PLUGINS; there are fake, onnxruntime, opencl, torch, tvm

Rows of one's own, of an engine that is not ours and without threads, are learned from; what no engine measures is not advised.

  $ { echo device,setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,value; for n in 1 2 4 8 16 32 64 128; do echo "my-board,,mine,1,linear x=${n}x1024 out=1024 dtype=fp32,forward,default,time,s,${n}e-5"; done; } > own.csv
  $ foretell data import own.csv --db own.db 2>&1 | cut -d' ' -f 1,2
  8 measurements
  $ foretell train --db own.db --device my-board --engine mine -o own.ftp | tail -1
  next: foretell predict MODEL --device my-board --predictor own.ftp
  $ echo 'linear x=8x1024 out=1024 dtype=fp32' | foretell predict - --device my-board --predictor own.ftp | grep -oE '^time +[0-9.]+ us|foretell collect|verify.*'
  time            80.0 us
  verify it: no engine of foretell runs it on that device
  $ foretell train --db own.db --device my-board --setting threads=1
  foretell train: the store holds no measurements of my-board with engine onednn and threads=1; foretell collect --quick --engine onednn --db own.db makes some there, --family learns from whatever devices it holds
  [4]
  $ foretell train --db own.db --device my-board --setting ''
  foretell train: --setting is empty; rows that have none need no --setting
  [2]

Rows at several settings are not learned from together: one is to be named.

  $ { cat own.csv; sed -n 's/my-board,,/my-board,clock=900MHz,/p' own.csv; } > clocks.csv; foretell data import clocks.csv --db clocks.db
  16 measurements taken from clocks.csv
  $ foretell train --db clocks.db --device my-board --engine mine
  foretell train: the store holds measurements of my-board with engine mine at these settings: none, clock=900MHz; --setting names one
  [4]
  $ { head -1 own.csv; for t in 4 8; do sed -n "s/my-board,,/my-board,threads=$t,/p" own.csv; done; } > threads.csv; foretell data import threads.csv --db threads.db
  16 measurements taken from threads.csv
  $ foretell train --db threads.db --device my-board --engine mine
  foretell train: the store holds measurements of my-board with engine mine at these settings: threads=4, threads=8; --setting names one
  [4]
  $ foretell train --db threads.db --device my-board --engine mine --threads 8 -o own.ftp | tail -1
  next: foretell predict MODEL --device my-board --predictor own.ftp

The engine, threads, store and file that were named stay.

  $ echo 'linear x=8x64 out=64 dtype=fp32' > some.ops
  $ foretell collect some.ops data/models/squeezenet1_1.onnx --engine fake --threads 4 --db "my/own.db" | tail -1
  next: foretell train --engine fake --threads 4 --db my/own.db
  $ foretell train --engine fake --threads 4 --db my/own.db -o "my/own 4.ftp" | tail -1
  next: foretell predict MODEL --device local --predictor 'my/own 4.ftp'
  $ foretell train --engine fake --threads 4 --db my/own.db | tail -1
  next: foretell predict MODEL --device local --engine fake --threads 4
  $ foretell predict data/models/resnet18.onnx --predictor "my/own 4.ftp" --threads 4 | grep -E '^(verify|warning.*brings)'
  warning: 10 of 25 unique operations lie outside of what the predictor has seen; in the store that it was learned from, by foretell collect data/models/resnet18.onnx --engine fake --threads 4, then foretell train --engine fake --threads 4 -o more.ftp, then --predictor more.ftp, brings them in
  verify: foretell measure data/models/resnet18.onnx --engine fake --threads 4
  $ foretell predict data/models/resnet18.onnx --predictor "my/own 4.ftp" | tail -1
  verify: foretell measure data/models/resnet18.onnx --engine fake --threads 4
  $ foretell predict data/models/resnet18.onnx --predictor "my/own 4.ftp" --clock 1200
  foretell predict: --device local is answered as it was measured; at clock=1200MHz: foretell collect --quick --engine fake --threads 4 --clocks 1200MHz, then foretell train --engine fake --setting 'threads=4 clock=1200MHz' -o clocked.ftp, then --predictor clocked.ftp
  [4]
  $ foretell train --engine torch --db my/own.db
  foretell train: the store holds no measurements of THIS-MACHINE with engine torch and threads=1; foretell collect --quick --engine torch --db my/own.db makes some, --family learns from whatever devices it holds
  [4]
  $ foretell train --engine fake --device local --db my/own.db
  foretell train: the store holds no measurements of THIS-MACHINE with engine fake and threads=1; foretell collect --quick --engine fake --db my/own.db makes some, --family learns from whatever devices it holds
  [4]
  $ foretell measure some.ops --engine fake --threads 2 --time 10ms --no-power | tail -4
  no predictor for this engine and these threads yet, so nothing to compare with; two commands
  make one:
    foretell collect --quick --engine fake --threads 2
    foretell train --engine fake --threads 2

Once this machine has a predictor, rank asks all devices all the same; local is left out of
what it has no answer for. A batch costs what its items cost.

  $ foretell rank data/models/squeezenet1_1.onnx --engine fake --threads 4 --csv | cut -d , -f 2 | grep -cE '^(local|a30|l4)$'
  3
  $ foretell rank data/models/squeezenet1_1.onnx --engine fake --threads 4 --clocks 1000 --top 1 | grep 'local'
  not known: local: --device local is answered as it was measured; at clock=1000MHz: foretell collect --quick --engine fake --threads 4 --clocks 1000MHz, then foretell train --engine fake --setting 'threads=4 clock=1000MHz' -o clocked.ftp, then --predictor clocked.ftp
  $ foretell rank data/models/resnet18.onnx --devices a30,l4 --batch 8 --price a30=2/h --price l4=1/h | tail -n +5 | head -4
  -----------------------------------------------------------------------------------------------------------
  1  a30     1.92 ms  1.33 ms  2.94 ms     4160  304 mJ  618 MiB                   0.1335  *   74.5 %  scaled
  2  l4      2.41 ms  1.66 ms  3.56 ms     3324  165 mJ  618 MiB                  0.08356  *~  25.5 %  scaled
  
  $ foretell rank data/models/resnet18.onnx --devices a30,l4 --batch 8 --price 1/h --json | pick tied choices.0.place choices.1.place choices.0.items_per_s choices.0.cost_per_item choices.0.values.cost.value
  tied: 1
  choices.0.place: 1
  choices.1.place: 2
  choices.0.items_per_s: 4160.23196110736
  choices.0.cost_per_item: 6.67697811984117e-08
  choices.0.values.cost.value: 5.34158249587294e-07

A device that lacks a fact keeps no network from the others.

  $ foretell rank --stdin --devices a30,iphone-6 < some.ops
  1 network by time on a30, iphone-6: 1 placed, 0 over a limit, 0 too large, 1 not known
  
  #  network  device     time   energy   memory
  ------------------------------------------------
  1  1        a30     57.0 us  1.88 mJ  520 MiB  *
  
  *: Pareto-optimal in time, energy and memory
  foretell rank: iphone-6: its file does not say "peak_fp32", which an estimate needs
  $ foretell place data/models/resnet18.onnx some.ops --devices a30,iphone-6
  2 networks on 2 devices: the least time until all are done
  
  network        device     time   energy   memory
  ------------------------------------------------
  resnet18.onnx  a30     1.23 ms  85.3 mJ  571 MiB
  some.ops       a30     57.0 us  1.88 mJ  520 MiB
  
  all are done after 1.29 ms and have taken 87.2 mJ; no other way is better
  left out for resnet18.onnx: iphone-6: its file does not say "peak_fp32", which an estimate needs
  left out for some.ops: iphone-6: its file does not say "peak_fp32", which an estimate needs

A predictor that cannot be read is left out where nobody named it, and the others answer.

  $ cp .local/share/foretell/local-fake-4-threads.ftp kept.ftp; head -c 1000 kept.ftp > .local/share/foretell/local-onednn.ftp
  $ foretell predict data/models/resnet18.onnx --device a30 | grep -E '^(warning|learned|time)' | blur s
  warning: a predictor is left out: HOME/.local/share/foretell/local-onednn.ftp: damaged predictor: the file is cut short (byte 16); train it again
  time  # s  # s  # s  scaled
  learned from several devices, a30 not among them: SOURCE/data/predictors/nvidia-fp32.ftp
  $ foretell predict data/models/resnet18.onnx
  foretell predict: HOME/.local/share/foretell/local-onednn.ftp: damaged predictor: the file is cut short (byte 16); train it again
  [3]
  $ foretell predict data/models/resnet18.onnx --device a30 --predictor .local/share/foretell/local-onednn.ftp
  foretell predict: .local/share/foretell/local-onednn.ftp: damaged predictor: the file is cut short (byte 16); train it again
  [3]
  $ echo damaged > .local/share/foretell/family.ftp
  $ foretell predict data/models/resnet18.onnx --device a30 --engine torch | grep -E '^(warning|learned)'
  warning: a predictor is left out: HOME/.local/share/foretell/family.ftp: not a predictor file
  learned from several devices, a30 not among them: SOURCE/data/predictors/nvidia-fp32.ftp
  $ foretell rank data/models/resnet18.onnx --devices a30,l4 | tail -3
  warning: a predictor is left out: HOME/.local/share/foretell/local-onednn.ftp: damaged predictor: the file is cut short (byte 16); train it again
  best: a30
  on average this answer lies 0.0 % above the best (expected regret)
  a30 and l4 cannot be distinguished (~): one host sets their times, equal within 1 %
  $ foretell rank data/models/resnet18.onnx --devices a30,l4 --json 2> warnings | pick choices.0.level_why choices.1.level choices.1.level_why
  choices.0.level_why: null
  choices.1.level: true
  choices.1.level_why: "one host sets their times, equal within 1 %"
  $ foretell rank data/models/resnet18.onnx --top 1 | tail -1
  warning: a predictor is left out: HOME/.local/share/foretell/local-onednn.ftp: damaged predictor: the file is cut short (byte 16); train it again
  mi325x, mi300x, mi300a, b300, b200, h200-sxm, h100-sxm, h800, h200-nvl, h100-nvl, h100-pcie and 107 more cannot be distinguished (~): their intervals overlap, or one host sets times equal within 1 %
  $ foretell place data/models/resnet18.onnx some.ops --devices a30,l4 | tail -1
  warning: a predictor is left out: HOME/.local/share/foretell/local-onednn.ftp: damaged predictor: the file is cut short (byte 16); train it again
  all are done after 1.23 ms and have taken 86.9 mJ; no other way is better
  $ foretell place data/models/resnet18.onnx --devices a30,l4 --link 16GB/s | tail -1
  warning: a predictor is left out: HOME/.local/share/foretell/local-onednn.ftp: damaged predictor: the file is cut short (byte 16); train it again
  alone on l4: 1.23 ms, 54.5 mJ

A product that comes in several variants is one of them, and commands say which.

  $ foretell predict some.ops --device a100 | grep 'assumed: a100'
  assumed: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  $ foretell rank some.ops --devices a100 --json | pick choices.0.device
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  warning: a predictor is left out: HOME/.local/share/foretell/local-onednn.ftp: damaged predictor: the file is cut short (byte 16); train it again
  choices.0.device: "a100-sxm-80gb"
  $ foretell place some.ops --devices a100,a30 --link 16GB/s --json | pick parts.0.device
  warning: a100 is a100-sxm-80gb (there are a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb)
  warning: a predictor is left out: HOME/.local/share/foretell/local-onednn.ftp: damaged predictor: the file is cut short (byte 16); train it again
  parts.0.device: "a100-sxm-80gb"
  $ foretell rank some.ops --devices a100 -q --json | pick choices.0.device
  choices.0.device: "a100-sxm-80gb"

A view takes no time, and nobody measured that.

  $ echo 'view x=1x10 out=10' > view.ops; foretell predict view.ops --device a30 --json | pick ops.0.time.value ops.0.time.basis
  ops.0.time.value: 0.0
  ops.0.time.basis: "none"

What a CSV names its devices does not reach the terminal raw.

  $ foretell data export --db my/own.db | sed "s/^[^,]*,threads/$(printf 'red\033[31m'),threads/" > red.csv; foretell data import red.csv --db red.db
  100 measurements taken from red.csv
  $ foretell train --engine fake --threads 4 --device "$(printf 'red\033[31m')" --db red.db -o red.ftp > /dev/null
  $ foretell predict some.ops --predictor red.ftp --device "$(printf 'red\033[31m')" | head -1 | cat -v
  some.ops on red?[31m: red?[31m; fake 1, threads=4

A command that verifies names an engine that runs every operation; otherwise the answer says
which it lacks.

  $ foretell predict models/nonzero.onnx --device h100-sxm | tail -1
  to verify it: torch does not run nonzero x=4x8 out=2x32 dtype=int64
  $ foretell predict models/nonzero.onnx --device xeon-platinum-8380 --json | pick verify unverified
  verify: null
  unverified: "to verify it: onednn does not run nonzero x=4x8 out=2x32 dtype=int64"
  $ foretell predict models/nonzero.onnx --device xeon-platinum-8380 --engine onnxruntime | tail -1
  verify on that device: foretell measure models/nonzero.onnx --engine onnxruntime --threads 40
  $ foretell predict data/models/resnet18.onnx --device xeon-platinum-8380 --dtype fp16 | tail -1
  to verify it: onednn computes in fp32 alone, not in fp16

Names and options as other tools have them.

  $ foretell predict resnet50 --device a30
  foretell predict: resnet50: No such file or directory; a model is a file (ONNX, .pt2, GGUF, config.json, a list of operations) or a folder with config.json; ids of Hugging Face are for the Python package
  [3]
  $ foretell predict meta-llama/Llama-3.1-8B --device a30
  foretell predict: meta-llama/Llama-3.1-8B: No such file or directory; a model is a file (ONNX, .pt2, GGUF, config.json, a list of operations) or a folder with config.json; ids of Hugging Face are for the Python package
  [3]
  $ foretell predict data/models/resnet18.onnx --device a30 --batch-size 8
  foretell predict: unknown option --batch-size; did you mean --batch?
  see foretell predict --help
  [2]
  $ foretell predict data/models/resnet18.onnx --device a30 --sort energy
  foretell predict: unknown option --sort
  see foretell predict --help
  [2]
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --by throughput
  foretell rank: --by throughput: it is one of time, energy, power, edp, memory, cost, co2, or, of a language model that is served, ttft, tpot, itl, e2e, tokens-per-user, tokens-per-device
  [2]
  $ printf 'maxpool x=1x8x8x8\n' | foretell predict - --device a30
  foretell predict: standard input: line 1: unknown operation "maxpool"; did you mean maxpool1d, maxpool2d, maxpool3d?
  [3]
  $ printf 'conv2d x=1x8x8x8 out=8 kernel=3 stride=1 pad=1\n' | foretell predict - --device a30
  foretell predict: standard input: line 1: conv2d: kernel, stride and dilation need one value per axis, such as 3x3
  [3]
  $ foretell rank data/models/resnet18.onnx --by cost --price a30=1/h | grep 'no price'
  warning: a predictor is left out: HOME/.local/share/foretell/local-onednn.ftp: damaged predictor: the file is cut short (byte 16); train it again
  not known: a10, a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb, a10g, a16, a2, a40, a800, arc-pro-b60 and 148 more: no price is given
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --dim tp=2 --concurrency 4 | grep -o 'tensor-parallel-size .'
  tensor-parallel-size 2
  $ foretell predict examples/llm/llama-3-8b.json --device 8xH100 --concurrency 8
  foretell predict: no device "8xH100": one device is named; --tp 8 divides a language model among several, foretell place splits other networks
  [4]
  $ foretell predict data/models/resnet50.pt2 --device rtx-4090 --mode training --batch 1024 | grep 'verify'
  to verify it: it does not fit; --max-batch says what does
  $ foretell predict data/models/resnet50.pt2 --device rtx-4090 --mode training --batch 1024 --max-batch | grep 'verify'
  to verify it: it does not fit; --batch 283 does

Of several devices a warning names those that it is about.

  $ foretell predict data/models/resnet18.onnx --device l4,t4,p100 | grep -o "correct few.db.*"
  correct few.db (t4, p100-pcie-16gb)
