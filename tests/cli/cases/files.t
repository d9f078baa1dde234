A file that a command writes is never one that it reads.

  $ foretell collect models/sequence.onnx --dim seq=64 --engine fake -q >out; cp "$(find . -name '*.db' | head -1)" u.db; cp u.db before.db
  $ foretell data export --db u.db -o u.db
  foretell data: --out u.db: this command reads that file; name another
  see foretell data --help
  [2]
  $ foretell train --db u.db --engine fake -o u.db
  foretell train: --out u.db: this command reads that file; name another
  see foretell train --help
  [2]
  $ ln -s u.db link; foretell data export --db u.db -o link
  foretell data: --out link: this command reads that file; name another
  see foretell data --help
  [2]
  $ foretell data export -o "$(find .local -name '*.db')"
  foretell data: --out .local/share/foretell/measurements.db: this command reads that file; name another
  see foretell data --help
  [2]
  $ foretell validate models/sequence.onnx --dim seq=64 --engine fake --html models/sequence.onnx
  foretell validate: --html models/sequence.onnx: this command reads that file; name another
  see foretell validate --help
  [2]
  $ foretell predict models/sequence.onnx --dim seq=64 --device a30 --html both --trace both
  foretell predict: --trace both: --html writes that file; name another
  see foretell predict --help
  [2]
  $ foretell predict models/sequence.onnx --dim seq=64 --device a30 --html ./both --trace both
  foretell predict: --trace both: --html writes that file; name another
  see foretell predict --help
  [2]
  $ mkdir folder; foretell predict models/sequence.onnx --dim seq=64 --device a30 --html folder/both --trace both >/dev/null; ls both folder
  both
  
  folder:
  both
  $ cmp u.db before.db

An older file stays until the new one is whole; pipes and devices are written through.

  $ echo old >a.csv; chmod 600 a.csv; foretell data export --db u.db -o a.csv; head -c 6 a.csv; echo; stat -c %a a.csv; ls | grep -c 'a.csv\.'
  device
  600
  0
  [1]
  $ mkfifo pipe; cat pipe | head -c 6 & foretell data export --db u.db -o pipe; wait; echo; stat -c %F pipe
  device
  fifo
  $ foretell train --db u.db --engine fake -o /dev/null >/dev/null 2>&1; stat -c %F /dev/null
  character special file
  $ (ulimit -f 8; foretell predict models/sequence.onnx --dim seq=64 --device a30 --html cut >/dev/null); ls | grep cut
  foretell predict: cannot write all of cut: is the disk full?
  [1]
  $ (ulimit -f 8; foretell data show --db u.db)
  foretell data: store u.db: files may not grow to that size here (ulimit -f)
  [3]
  $ foretell data export --db u.db -o .
  foretell data: cannot write .: it is a folder
  [3]

What has no end is not read to it.

  $ foretell ops /dev/zero
  foretell ops: /dev/zero: no large file, and more than 1 GiB came out of it
  [3]

A store whose tables are not those that foretell makes is not read: a view could run for ever, a trigger write.

  $ cp u.db view.db; python3 -c "
  > import sqlite3
  > c = sqlite3.connect('view.db')
  > c.execute('alter table measurement rename to hidden')
  > c.execute('create view measurement as with recursive r(i) as (select 1 union all select i + 1 from r) select hidden.*, i from hidden, r')
  > c.commit()"; foretell data show --db view.db
  foretell data: store view.db has other tables than foretell makes: something else changed it
  [3]
  $ cp u.db trigger.db; python3 -c "
  > import sqlite3
  > c = sqlite3.connect('trigger.db')
  > c.execute('create trigger t after insert on run begin delete from measurement; end')
  > c.commit()"; foretell data import a.csv --db trigger.db
  foretell data: store trigger.db has other tables than foretell makes: something else changed it
  [3]

Rows written by hand need no more than the key and the value.

  $ printf 'device,setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,value\nl4,,torch,2,relu x=8 dtype=fp32,forward,default,time,s,0.25\n' > hand.csv; foretell data import hand.csv --db hand.db; foretell data export --db hand.db | tail -1 | cut -d, -f 5,10-18
  1 measurement taken from hand.csv
  relu x=8 dtype=fp32,0.25,,,,,0,0,0,1

An import that fails leaves no store, and says which row or column is wrong.

  $ head -1 a.csv | sed 's/^device/Gerät/' >bad.csv; foretell data import bad.csv --db none.db; ls none.db 2>/dev/null
  foretell data: bad.csv, line 1: there is no column "device"; docs/data.md has the columns of a file of measurements, and the tools that make one of published tables
  [2]
  $ foretell data import missing.csv --db none.db; ls none.db 2>/dev/null
  foretell data: cannot read missing.csv: No such file or directory
  [2]
  $ : >empty.csv; foretell data import empty.csv --db none.db; ls none.db 2>/dev/null
  foretell data: empty.csv: it is empty
  [2]

Without a HOME nothing is put into the folder at hand; a folder that cannot be made is named.

  $ HOME= XDG_DATA_HOME= foretell collect --quick --engine fake
  foretell collect: HOME is not set, so there is no folder for measurements and predictors: name files with --db and --out
  [3]
  $ HOME= XDG_DATA_HOME= foretell data show
  foretell data: HOME is not set, so there is no folder for measurements and predictors: name files with --db and --out
  [3]
  $ HOME=/dev/null XDG_DATA_HOME= foretell data import a.csv
  foretell data: cannot make /dev/null/.local: Not a directory
  [3]

A full disk is said to be one, whatever is printed, and so is every other failure under --json.

  $ for c in "--help" "--version" "predict --help" "ops models/sequence.onnx --dim seq=64 --json" "ops models/sequence.onnx --dim seq=64 --csv" "ops models/sequence.onnx --dim seq=64" "devices --json" "doctor --json" "data --json" "rank models/sequence.onnx --dim seq=64 --devices a30,t4 --json" "predict models/sequence.onnx --dim seq=64 --device a30 --json"; do foretell $c 2>&1 >/dev/full | grep -o 'cannot write the result'; done
  cannot write the result
  cannot write the result
  cannot write the result
  cannot write the result
  cannot write the result
  cannot write the result
  cannot write the result
  cannot write the result
  cannot write the result
  cannot write the result
  cannot write the result
  $ foretell predict missing.onnx --json
  {
    "command": "predict",
    "exit": 3,
    "message": "missing.onnx: No such file or directory"
  }
  [3]
  $ foretell predict --bach 3 --json
  {
    "command": "predict",
    "exit": 2,
    "message": "unknown option --bach; did you mean --batch?"
  }
  [2]
  $ foretell $(printf 'boo\033[31mst') | cat -v
  foretell: unknown command "boo?[31mst"
  see foretell --help
