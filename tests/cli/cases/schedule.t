What networks measured whole show of host and device goes into the predictor of a family.

  $ cat > make <<'END'
  > #!/usr/bin/env python3
  > print("device,setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,value,"
  >       "error,mad,mean,std,n,iterations,taken_at,run")
  > def put(spec, value):
  >     print(f"a30,,test,1,{spec},forward,default,time,s,{value:.6g},,,,,1,1,1700000000,1")
  > def alone(n):
  >     return 2e-6 + 8 * n / 5e11
  > for i in range(1, 80):
  >     put(f"{'relu' if i % 2 else 'tanh'} x={4000 * i * i} dtype=fp32", alone(4000 * i * i))
  > for i in range(6):
  >     name = f"network name=net{i} x=1x{i + 1} dtype=fp32"
  >     sizes = [4000 * k * k for k in (i + 30, 5 * i + 37, 70 - i)]
  >     for n in sizes:
  >         print(f",{name},test,,relu x={n} dtype=fp32,forward,,member,1,10,,,,,0,0,0,0")
  >     put(name, 0.7 * 10 * sum(map(alone, sizes)))
  > END
  $ chmod +x make; ./make > all.csv; foretell data import all.csv --db a.db | head -1
  85 measurements taken from all.csv
  $ printf '#!/bin/sh\nexec foretell train --family --db a.db --where phase=forward --method extra -q "$@"\n' > learn; chmod +x learn
  $ ./learn -o plain.ftp | grep -c "networks of"
  0
  [1]
  $ ./learn -o with.ftp --networks phase=forward | sed -n '/networks of/,/^$/p'
  networks of  policy   engine  phase    n  error  without  90 % interval  conv  products  others  relaid  bounded  a launch    idle  energy
  ------------------------------------------------------------------------------------------------------------------------------------------
  a30          default  test    forward  6  0.0 %   43.3 %   1.00 .. 1.00  1.00      1.00    0.68    1.00     1.00   60.9 us  31.3 W    1.00
  
  $ foretell show with.ftp --json | pick schedules.# schedules.0.phase schedules.0.engine schedules.0.n
  schedules.#: 1
  schedules.0.phase: "forward"
  schedules.0.engine: "test"
  schedules.0.n: 6
  $ printf 'relu x=14400000 dtype=fp32 *10\nrelu x=6400000 dtype=fp32 *10\n' > net.txt
  $ for p in plain with; do foretell predict net.txt --device a30 --predictor $p.ftp --json > $p.json; pick schedule_networks < $p.json; done
  schedule_networks: 0
  schedule_networks: 6
  $ python3 -c "
  > import json
  > a, b = (json.load(open(f'{p}.json'))['time']['value'] for p in ('plain', 'with'))
  > print(0.65 < b / a < 0.75, abs(b / (0.7 * 10 * (4e-6 + 8 * 20.8e6 / 5e11)) - 1) < 0.05)"
  True True
  $ foretell predict net.txt --device a30 --predictor with.ftp | grep "networks of"
  host and device as 6 networks of a30 showed
  $ ./learn -o no.ftp --networks device=t4
  foretell train: no network whose operations are listed was measured whole on a device and engine that operations were learned of
  [4]
  $ ./learn -o no.ftp --networks phase=forward --add with.ftp | grep -c "networks of"
  1
  $ sed '/network name=net[12345]/d' all.csv > few.csv; foretell data import few.csv --db few.db | head -1
  80 measurements taken from few.csv
  $ foretell train --family --db few.db --where phase=forward --method extra --networks phase=forward -o no.ftp
  warning: no schedule of a30, default, test, forward: 1 network, 2 are needed
  foretell train: no schedule: nowhere were 2 networks measured whole, of one device, policy, engine and phase
  [4]
  $ foretell train --family --lists .
  foretell train: --lists goes with --networks
  [2]

What evaluate says of a network that it hides is what predict answers without it.

  $ foretell evaluate --db a.db --where phase=forward --networks phase=forward --method extra -q --leave-out network=net3 --rows rows.csv | grep '^network'
  network  1  0.0 %   0.0 %  0.0 %      100.0 %   -  0.0 %     0.1 %   10.4 %  100.0 %      1.00
  $ cut -d, -f6-8,14 rows.csv
  spec,phase,metric,split
  network name=net3 x=1x4 dtype=fp32,forward,time,net3
  $ sed '/network name=net3/d; /^a30.*relu x=\(4356000\|10816000\|17956000\) /d' all.csv > rest.csv; foretell data import rest.csv --db rest.db | head -1
  82 measurements taken from rest.csv
  $ sed -n '/^,network name=net3 .*relu/s/^,[^,]*,test,,\([^,]*\),.*,member,1,\([0-9]*\),.*/\1 *\2/p' all.csv > net3.ops; cat net3.ops
  relu x=4356000 dtype=fp32 *10
  relu x=10816000 dtype=fp32 *10
  relu x=17956000 dtype=fp32 *10
  $ foretell train --family --db rest.db --where phase=forward --method extra -q --networks phase=forward -o rest.ftp > /dev/null
  $ foretell predict net3.ops --device a30 --predictor rest.ftp --json > said.json; python3 -c "
  > import csv, json
  > said, row = json.load(open('said.json'))['time'], next(csv.DictReader(open('rows.csv')))
  > print(all(f'{said[k]:.12g}' == f'{float(row[k]):.12g}' for k in ('value', 'low', 'high')), said['basis'] == row['basis'])"
  True True
  $ foretell evaluate --db a.db --networks phase=forward --folds 3
  foretell evaluate: --networks are held out by --leave-out network, device or family alone
  [2]
  $ foretell evaluate --db a.db --networks phase=forward --leave-out kind
  foretell evaluate: networks are left out by network, device or family
  [2]
  $ foretell evaluate --db a.db --leave-out family
  foretell evaluate: --leave-out family is for --networks
  [2]
  $ foretell evaluate --db a.db --networks phase=forward --metric power
  foretell evaluate: of networks time and energy are evaluated
  [2]
  $ foretell evaluate --db a.db --networks phase=forward --lists all.csv
  foretell evaluate: all.csv: no column "network"; network, family, x, operation and count are needed
  [3]

Networks of a device without a single operation answer for others of it, in elements as wide.

  $ cat > alone <<'END'
  > #!/usr/bin/env python3
  > print("device,setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,value,"
  >       "error,mad,mean,std,n,iterations,taken_at,run")
  > for i in range(12):
  >     print(f"a30,,test,1,network name=net{i} x=4x{i + 1},forward,default,time,s,"
  >           f"{(1 + i) * 2e-3:.6g},,,,,1,1,1700000000,1")
  > END
  $ python3 alone > alone.csv; foretell data import alone.csv --db alone.db | head -1
  12 measurements taken from alone.csv
  $ (echo network,family,x,operation,count; for i in 0 1 2 3 4 5 6 7 8 9 10 11; do echo "net$i,f$i,8x$((i + 1)),relu x=100000000 dtype=fp16,$((i + 1))"; done) > lists.csv
  $ foretell train --family --db alone.db --networks device=a30 --lists lists.csv -q -o alone.ftp | sed -n '1,3p'
  learned from  setting  engine  dtype policy  measurements
  ---------------------------------------------------------
  a30                    test 1  default                 12
  $ echo 'relu x=100000000 dtype=fp16 *5' > one.ops; foretell predict one.ops --device a30 --predictor alone.ftp | grep -E '^time|^host'
  time            20.0 ms  20.0 ms   20.0 ms  learned
  host and device as 12 networks of a30 showed
  $ foretell predict one.ops --device l4 --predictor alone.ftp
  foretell predict: the predictor was made of what was measured whole, and of none on l4 in this phase and in elements as wide
  [4]
  $ foretell evaluate --db alone.db --networks device=a30 --lists lists.csv --leave-out family -q | grep '^network' | cut -c 1-40
  network  12  0.0 %   0.0 %  0.0 %      1
  $ foretell train --family --db alone.db --networks name=net1,net2 --lists lists.csv -q -o no.ftp
  foretell train: no operation to learn from, and of networks alone nothing is learned of fewer than 5 families of architectures
  [4]
