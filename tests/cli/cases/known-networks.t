Networks measured whole at a set clock correct others at any clock: here they take 1.5 times as long as is predicted, and twice the energy.

  $ cat > make.py <<'END'
  > import csv, json, subprocess, sys
  > def ask(ops, *more):
  >     open('net.ops', 'w').write(ops)
  >     return json.loads(subprocess.run(['foretell', 'predict', 'net.ops', '--predictor', 'data/predictors/nvidia-fp32.ftp', '--json', '-q',
  >                                       *(() if '--device' in more else ('--device', 'l4')), *more], stdout=subprocess.PIPE, check=True).stdout)
  > def net(rows):
  >     return [(f'linear x={rows}x1024 out=4096 dtype=fp32', 24), (f'gelu x={rows}x4096 dtype=fp32', 24), (f'linear x={rows}x4096 out=1024 dtype=fp32', 24)]
  > def text(ops):
  >     return ''.join(f'{op} *{n}\n' for op, n in ops)
  > def store(path, sizes, energy=True, time=(1.5, 1.5, 1.5), drawn=4 / 3, engine='torch', run_mode='eager', to='w'):
  >     out = csv.writer(open(path, to))
  >     if to == 'w':
  >         out.writerow('device setting engine engine_version spec phase dtype_policy metric unit value'.split())
  >     for rows, longer in zip(sizes, time):
  >         spec, ops = f'network name=n{rows} x={rows}x1024 dtype=fp32', net(rows)
  >         a = ask(text(ops), '--clock', '1500', '--run-mode', run_mode)
  >         for metric, unit, value in [('time', 's', longer * a['time']['value']), ('energy', 'J', longer * drawn * a['energy']['value'])][:1 + energy]:
  >             out.writerow(['l4', f'clock=1500MHz run_mode={run_mode}', engine, '', spec, 'forward', 'default', metric, unit, repr(value)])
  >         for op, n in ops:
  >             out.writerow(['', spec, engine, '', op, 'forward', '', 'member', '', n])
  > END
  $ python3 -c "
  > from make import *
  > store('nets.csv', (2048, 4096, 8192)); store('times.csv', (2048, 4096, 8192), False); store('one.csv', (2048,))
  > wide, other = text(net(16384)), text([('conv2d x=64x256x28x28 out=256 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32', 20)])
  > plain, known, times = ask(wide, '--clock', '900'), ask(wide, '--clock', '900', '--correct', 'nets.csv'), ask(wide, '--clock', '900', '--correct', 'times.csv')
  > ratio = lambda a, b, k: a[k]['value'] / b[k]['value']
  > print(known['corrected_by'], 1.35 < ratio(known, plain, 'time') < 1.5, 1.6 < ratio(known, plain, 'energy') < 2)
  > print(abs(known['power']['value'] * known['time']['value'] / known['energy']['value'] - 1) < 1e-9)
  > print(all(known[k]['high'] / known[k]['low'] < plain[k]['high'] / plain[k]['low'] and known[k]['low'] < known[k]['value'] < known[k]['high'] for k in ('time', 'energy')))
  > print(times['time'] == known['time'], abs(ratio(times, plain, 'power') - 1) < 1e-9)
  > print(round(ratio(ask(other, '--correct', 'nets.csv'), ask(other), 'time'), 2))
  > at = lambda *more: [a['time']['value'] for a in ask(wide, '--clocks', '900,1500', *more)]
  > print([abs(a / b - ratio(known, plain, 'time')) < 0.01 for a, b in zip(at('--correct', 'nets.csv'), at())], at('--correct', 'nets.csv')[0] == known['time']['value'])"
  3 True True
  True
  True
  True True
  1.0
  [True, True] True

One network alone, or networks in another element type, correct nothing.

  $ python3 -c "from make import *; open('net.ops', 'w').write(text(net(4096))); open('half.ops', 'w').write(text(net(4096)).replace('fp32', 'fp16'))"
  $ foretell predict net.ops --device l4 --correct one.csv
  foretell predict: --correct one.csv: it holds no operation, nor two networks in this element type, of a device that is asked for and that a predictor for a family answers for
  [3]
  $ foretell predict half.ops --device l4 --correct nets.csv
  foretell predict: --correct nets.csv: it holds no operation, nor two networks in this element type, of a device that is asked for and that a predictor for a family answers for
  [3]

Networks say nothing of the width of others that are unlike them, and where they scatter more than a prediction allows it becomes wider.

  $ python3 -c "
  > from make import *
  > other = text([('conv2d x=64x256x28x28 out=256 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32', 20)])
  > store('same.csv', (2048, 4096, 8192), time=(1, 1, 1)); store('scattered.csv', (2048, 4096, 8192), time=(100, 0.01, 50))
  > width = lambda a, k='time': a[k]['high'] / a[k]['low']
  > print([round(width(ask(other, '--correct', f)) / width(ask(other)), 2) for f in ('same.csv', 'nets.csv')])
  > one = text(net(16384))
  > print(1.01 < width(ask(one, '--correct', 'same.csv')) < width(ask(one)) < 5 < width(ask(one, '--correct', 'scattered.csv')))"
  [1.0, 1.0]
  True

One measurement of many that is far off widens nothing.

  $ python3 -c "
  > from make import *
  > head, *rows = csv.reader(open('same.csv'))
  > again = [[r[0], f'{r[1]} session={i}', *r[2:]] for i in range(10) for r in rows if r[0]]
  > again[0][-1] = repr(float(again[0][-1]) / 10)
  > csv.writer(open('off.csv', 'w')).writerows([head] + [r for r in rows if not r[0]] + again)
  > one = text(net(16384))
  > width = lambda *more: (lambda t: t['high'] / t['low'])(ask(one, *more)['time'])
  > print(width('--correct', 'off.csv') < 0.95 * width())"
  True

However often one network was measured, the others say as much.

  $ python3 -c "
  > from make import *
  > store('apart.csv', (2048, 4096, 8192), time=(1.7, 3, 1))
  > head, *rows = csv.reader(open('apart.csv'))
  > again = [[r[0], f'{r[1]} session={i}', *r[2:]] for i in range(20) for r in rows if r[0] and 'n2048' in r[4]]
  > csv.writer(open('often.csv', 'w')).writerows([head] + rows + again)
  > one = text(net(16384))
  > width = lambda f: (lambda t: t['high'] / t['low'])(ask(one, '--correct', f)['time'])
  > print(round(width('often.csv') / width('apart.csv'), 2))"
  1.0

Networks by another engine say nothing, whether one is asked for or most are by another. Shares are of the corrected time, and the host's and the device's time as well.

  $ python3 -c "
  > from make import *
  > one = text(net(16384))
  > store('mixed.csv', (2048, 4096, 8192)); store('mixed.csv', (1024, 16384), time=(0.3, 0.3), engine='tensorrt', to='a')
  > known = ask(one, '--correct', 'nets.csv')
  > print([ask(one, '--correct', 'mixed.csv', *more)['time'] == known['time'] for more in ([], ['--engine', 'torch'])])
  > print(round(sum(op['share'] for op in known['ops']), 1), round(known['busy_s'] / known['time']['value'], 1))"
  [True, True]
  1.0 1.0

Of more than 1,000 networks as many are taken, of each of them.

  $ python3 -c "
  > from make import *
  > head, *rows = csv.reader(open('nets.csv'))
  > csv.writer(open('many.csv', 'w')).writerows([head] + [r for r in rows if not r[0]] + [[r[0], f'{r[1]} session={i}', *r[2:]] for i in range(400) for r in rows if r[0]])
  > one = text(net(16384))
  > many, known = (ask(one, '--correct', f) for f in ('many.csv', 'nets.csv'))
  > print(many['corrected_by'], round(many['time']['value'] / known['time']['value'], 2))"
  1000 1.0

Networks are compared with what is predicted in their run mode.

  $ python3 -c "
  > from make import *
  > store('graph.csv', (16, 32, 64), time=(1, 1, 1), run_mode='graph')
  > small = text(net(16))
  > print([round(ask(small, '--run-mode', mode, '--correct', 'graph.csv')['time']['value'] / ask(small, '--run-mode', mode)['time']['value'], 3) for mode in ('eager', 'graph')])"
  [1.0, 1.0]

Networks that drew less than the board may do not lead above that, and the low end stays; those that drew more do.

  $ python3 -c "
  > from make import *
  > one = text(net(16384))
  > store('less.csv', (2048, 4096, 8192), drawn=1.2)
  > less, more = (ask(one, '--correct', f) for f in ('less.csv', 'nets.csv'))
  > down = lambda a: a['energy']['value'] / a['energy']['low']
  > print(round(less['power']['value'], 3), less['power']['high'], 1.1 < down(less) < down(more), more['power']['value'] > 80)"
  72.0 72.0 True True
