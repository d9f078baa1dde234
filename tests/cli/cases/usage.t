Without a command there is an overview, and it is an error.

  $ foretell >/dev/null 2>&1; echo $?
  2
  $ foretell --help | head -3
  usage: foretell COMMAND ...
  
  Predicts how long a neural network takes on a device, how many joules it uses

  $ foretell --version
  foretell 0.1.0

By whatever name it is called, a short one, too:

  $ bash -c 'exec -a f $(sed -n "s/^exec *\(.*\) .*/\1/p" "$(command -v foretell)") --version'
  foretell 0.1.0

With --verbose it has the commit, where it was built in a repository.

  $ foretell version -v | sed 's/ ([0-9a-f]*)$//'
  foretell 0.1.0
  $ foretell version --json
  {
    "version": "0.1.0"
  }

`help` explains as `--help` does, as wide as COLUMNS says.

  $ foretell help frobnicate
  foretell help: there is no command "frobnicate"; foretell help lists them
  [2]
  $ foretell help ops --man | head -4
  .TH FORETELL\-OPS 1 2026-11-28 "foretell 0.1.0" "User Commands"
  .SH NAME
  foretell\-ops \- list the unique operations of a model and what they cost
  .SH SYNOPSIS
  $ COLUMNS=40 foretell help show
  usage: foretell show P.ftp [options]
  
  show what a predictor was trained on and
  how good it is
  
  global options:
        --json
          print the result as JSON
        --csv
          print the result as CSV, where
          it is a table
    -q, --quiet
          no warnings, no progress
    -v, --verbose
          say more on standard error;
          twice: much more
        --data-dir DIR
          devices and models (also
          FORETELL_DATA)
        --db STORE
          file of measurements, or
          postgresql://USER@HOST/DATABASE
        --plugin-dir DIR
          engine plug-ins (also
          FORETELL_PLUGINS)
    -h, --help
          explain and exit
        --version
          print the version and exit
  
  examples:
    foretell show server.ftp
    foretell show server.ftp --csv
  $ foretell help --completion tcsh
  foretell help: --completion tcsh: it is one of bash, zsh, fish
  [2]

Every command explains itself, with examples.

  $ for c in predict rank measure ops collect train show evaluate data devices doctor clocks; do foretell $c --help | grep -c '^  foretell'; done
  13
  4
  8
  9
  7
  8
  2
  6
  5
  2
  4
  1
  $ foretell ops --help
  usage: foretell ops MODEL [options]
  
  list the unique operations of a model and what they cost
  
  MODEL is an .onnx file, a torch.export archive (.pt2), or a list of operations,
  one a line (- reads it from standard input). --diff takes two of them.
  
  options:
        --products             only the convolutions and matrix products inside operations
        --graph                every node in order, with its tensors
        --dot                  the graph as a picture, for Graphviz
        --diff                 what changed from one model to another
        --tree                 its modules with FLOPs, parameters and memory
        --device D             with --tree: their times and energy on this device, too
        --depth N              with --tree: how many levels of modules; all
        --list                 as a list of operations, which every command reads as a model
        --few N                with --list: only the N whose times on a device that nobody measured say most of the others (predict --correct), best first; of more than 4096 as many, evenly spaced, are compared
        --lower HOW            as an engine runs it: strided (PyTorch), channels-last (oneDNN), fused (TVM)
        --top N                how many operations to list, the heaviest; 40, with --diff 15
        --mode M               inference, or training: forward, loss, backward, optimizer
        --optimizer O          with training: none, sgd (the default), momentum, adam, adamw, adamw8bit
        --loss L               with training: auto (the default), none, cross_entropy, mse
        --loss-on R            with training: first (the default) or all results
        --batch N              batch size, where the model leaves it open
        --dim NAME=N           value of a symbolic dimension; may be repeated
        --dtype T              element type: fp64, fp32, fp16, bf16, or mixed precision: amp-bf16, amp-fp16; the model's own
        --input NAME=AxBx...   shape of an input; may be repeated
        --trips N              rounds of loops that end when data says so
  
  global options:
        --json                 print the result as JSON
        --csv                  print the result as CSV, where it is a table
    -q, --quiet                no warnings, no progress
    -v, --verbose              say more on standard error; twice: much more
        --data-dir DIR         devices and models (also FORETELL_DATA)
        --db STORE             file of measurements, or postgresql://USER@HOST/DATABASE
        --plugin-dir DIR       engine plug-ins (also FORETELL_PLUGINS)
    -h, --help                 explain and exit
        --version              print the version and exit
  
  examples:
    foretell ops resnet50.onnx
    foretell ops bert.onnx --batch 8 --dim seq=128 --json
    foretell ops resnet50.onnx --products
    foretell ops resnet50.pt2 --tree --depth 2 --device a30
    foretell ops resnet18.onnx --dot | dot -Tsvg -o resnet18.svg
    foretell ops resnet50.onnx --mode training --optimizer adam
    foretell ops --diff before.onnx after.onnx
    foretell ops resnet50.onnx --batch 32 --lower strided --list > r.ops
    foretell ops resnet50.onnx --list --few 50 > few.ops
    echo 'linear x=1x512 out=1000 dtype=fp32 *3' | foretell ops -

What is not understood is named, and the nearest word suggested.

  $ foretell predcit x.onnx
  foretell: unknown command "predcit"; did you mean predict?
  see foretell --help
  [2]
  $ foretell frobnicate
  foretell: unknown command "frobnicate"
  see foretell --help
  [2]
  $ foretell ops x.onnx --bach 4
  foretell ops: unknown option --bach; did you mean --batch?
  see foretell ops --help
  [2]
  $ foretell ops x.onnx -z
  foretell ops: unknown option -z
  see foretell ops --help
  [2]
  $ foretell collect --quikc
  foretell collect: unknown option --quikc; did you mean --quick?
  see foretell collect --help
  [2]
  $ foretell data shwo
  foretell data: "shwo" is not one of show, export, import, merge, facts; did you mean show?
  [2]

Values are checked.

  $ foretell ops x.onnx --batch
  foretell ops: --batch wants a value: --batch N
  see foretell ops --help
  [2]
  $ foretell ops x.onnx --batch=0
  foretell ops: --batch wants a whole number from 1 to 4294967295, not "0"
  see foretell ops --help
  [2]
  $ foretell ops x.onnx --batch 4.5
  foretell ops: --batch wants a whole number from 1 to 4294967295, not "4.5"
  see foretell ops --help
  [2]
  $ foretell ops x.onnx --batch 99999999999999999999
  foretell ops: --batch wants a whole number from 1 to 4294967295, not "99999999999999999999"
  see foretell ops --help
  [2]
  $ foretell collect --quick --budget soon
  foretell collect: --budget wants a duration such as 90s, 500ms or 10min, not "soon"
  see foretell collect --help
  [2]
  $ foretell collect --quick --budget=-5s
  foretell collect: --budget wants a duration such as 90s, 500ms or 10min, not "-5s"
  see foretell collect --help
  [2]
  $ foretell collect --quick=yes
  foretell collect: --quick takes no value
  see foretell collect --help
  [2]
  $ foretell ops x.onnx --dim seq
  foretell ops: --dim wants NAME=N, such as seq=128, not "seq"
  [2]
  $ foretell ops x.onnx --dim seq=0
  foretell ops: --dim wants NAME=N, such as seq=128, not "seq=0"
  [2]
  $ foretell train --method magic
  foretell train: --method magic: it is one of ridge, knn, template, tree, forest, extra, boost, mlp, svr, gp, hist, middle
  [2]
  $ foretell ops
  foretell ops: MODEL is missing
  see foretell ops --help
  [2]
  $ foretell ops a.onnx b.onnx
  foretell ops: one argument too many: "b.onnx"; --diff compares two models
  [2]
  $ foretell predict data/models/resnet18.onnx --device a30 --device l4
  foretell predict: --device is given twice: it takes a list, such as --device a30,l4
  see foretell predict --help
  [2]
  $ foretell predict data/models/resnet18.onnx --device 'a30, L4 ' --json | pick 1.device
  1.device: "l4"
  $ foretell predict data/models/resnet18.onnx --device a30 --price a30=1/h
  foretell predict: --price is of serving and of training over --gpus; what networks cost says foretell rank --price
  [2]
  $ foretell measure sleep 1
  foretell measure: one argument too many: "1"; a program stands behind --: foretell measure -- PROGRAM ...
  see foretell measure --help
  [2]
  $ foretell collect
  foretell collect: name models or lists of operations, or say --quick
  [2]
  $ foretell data import
  foretell data: import wants the files to take from
  [2]
  $ foretell ops x.onnx --json --csv
  {
    "command": "ops",
    "exit": 2,
    "message": "--json and --csv exclude each other"
  }
  [2]
  $ foretell measure x.onnx --csv --json
  {
    "command": "measure",
    "exit": 2,
    "message": "--json and --csv exclude each other"
  }
  [2]
  $ foretell doctor --csv
  foretell doctor: there is no --csv here, but --json
  see foretell doctor --help
  [2]

Options may stand before the command and behind the model, joined or apart; "--"
ends them.

  $ echo 'relu x=1x8 dtype=fp32' > one.ops
  $ foretell --csv ops one.ops
  spec,count,flops,bytes_read,bytes_written,parameters
  relu x=1x8 dtype=fp32,1,8,32,32,0
  $ foretell ops --csv -- one.ops
  spec,count,flops,bytes_read,bytes_written,parameters
  relu x=1x8 dtype=fp32,1,8,32,32,0

A result that cannot be written is a failure.

  $ foretell ops one.ops > /dev/full
  foretell ops: cannot write the result: No space left on device
  [3]
