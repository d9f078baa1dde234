A machine whose sensor is a recorded trace: 50 W, whatever runs. What was collected with
power answers with joules.

  $ python3 -c "print('# foretell trace 1'); print('# domain,part_of,counts,tells_power,all_fresh,period_s,window_s,duty,least_s'); print('# wall,,0,1,1,0.01,0.01,1,'); print('at_s,domain,watts,joules'); [print(f'{i / 100},wall,50,') for i in range(12000)]" >trace
  $ foretell collect --engine fake data/models/resnet18.onnx --power replay:trace --power-time 100ms --power-share 50% -q | grep energy
  12 with power and energy
  $ foretell train --engine fake --json | python3 -c "
  > import json, sys
  > print([(r['kind'], r['forest']['n']) for r in json.load(sys.stdin)['regressors'] if r['metric'] == 'power'])"
  [('all', 12)]
  $ foretell predict data/models/resnet18.onnx --engine fake --json > all.json; python3 -c "
  > import json
  > e = json.load(open('all.json')); j, t, w = (e[k] for k in ('energy', 'time', 'power'))
  > print(j['unit'], abs(j['value'] / t['value'] / 50 - 1) < 0.01, j['low'] < 50 * t['value'] < j['high'], j['high'] / j['low'] < 1.5)
  > print(w['unit'], abs(w['value'] / 50 - 1) < 0.01, w['low'] < 50 < w['high'], w['basis'])"
  J True True True
  W True True scaled
  $ foretell rank data/models/resnet18.onnx --engine fake --devices local --by energy --json | pick best
  best: "local"

What was collected without it says so.

  $ foretell collect --engine fake data/models/vgg16.onnx --db dry.db -q > /dev/null; foretell train --engine fake --db dry.db -o dry.ftp > /dev/null
  $ foretell predict data/models/vgg16.onnx --predictor dry.ftp --json | pick energy.value energy.basis
  energy.value: null
  energy.basis: "unavailable"

A predictor of one machine says what attributes are worth as well.

  $ foretell train --engine fake --importance --json | python3 -c "
  > import json, sys
  > rows = json.load(sys.stdin)['importance']
  > print(len(rows) > 10, sorted({r['metric'] for r in rows}), {r['phase'] for r in rows}, any(r['attribute'] == 'intensity' for r in rows))"
  True ['time', 'workspace'] {'forward'} True

An answer without energy says what would give it: the sensor, where, and the command.

  $ foretell predict data/models/resnet50.onnx --device epyc-7543 | grep unavailable:
  energy and power are unavailable: the power of a CPU cannot be predicted from its data sheet; measured where powercap (RAPL) can be read (on a host that has this device): foretell collect --power all, then foretell train
  $ foretell predict data/models/resnet50.onnx --device raspberry-pi-4 | grep unavailable:
  energy and power are unavailable: the power of a CPU cannot be predicted from its data sheet; measured where a power meter can be read (on a host that has this device): foretell collect --power "command:PROGRAM", then foretell train
  $ foretell predict data/models/resnet50.onnx --device jetson-tk1 | grep unavailable:
  energy and power are unavailable: the device's file does not say its power, tdp_w; measured where hwmon (INA3221) can be read (on a host that has this device): foretell collect --engine torch,device=cuda --power all, then foretell train --family
  $ foretell predict data/models/resnet50.onnx --device a30 --method roofline | grep unavailable:
  energy and power are unavailable: a data sheet alone does not say what operations draw; --method physics estimates them
