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
  a30          default  test    forward  6  0.0 %   42.8 %   1.00 .. 1.00  1.00      1.00    0.70    1.00     1.00   18.0 us  29.7 W    1.00
  
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
  $ sed '/network name=net[345]/d' all.csv > few.csv; foretell data import few.csv --db few.db | head -1
  82 measurements taken from few.csv
  $ foretell train --family --db few.db --where phase=forward --method extra --networks phase=forward -o no.ftp
  warning: no schedule of a30, default, test, forward: 3 networks, 4 are needed
  foretell train: no schedule: nowhere were 4 networks measured whole, of one device, policy, engine and phase
  [4]
  $ foretell train --networks phase=forward
  foretell train: --networks goes with --family
  [2]
  $ foretell train --family --lists .
  foretell train: --lists goes with --networks
  [2]
