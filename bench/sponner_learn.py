"""What bench/sponner learns from its measurements: tables and charts."""
import csv
import gzip
import json
import math
import os
import random
import re
import subprocess
import tempfile

import sponner_charts as charts
from sponner_layers import KINDS, NETWORK_BATCH, extents, fields, network_layers

METHODS = {'boost': 'XGB', 'extra': 'ERT', 'knn': 'kNN', 'tree': 'tree', 'ridge': 'linear', 'mlp': 'MLP',
           'svr': 'SVR', 'template': 'template'}
FOLDS, STEPS = 5, 15
FEWEST = 20
RULES = {'alive': 'liveness', 'two': 'two largest', 'mean': 'twice the mean'}
# What the machine does at most, by what `foretell collect` measures of it: arithmetic, bytes.
PROBES = {'linear x=512x1024 out=1024 dtype=fp32': ('flops', 2 * 512 * 1024 * 1024),
          'relu x=1x16000000 dtype=fp32': ('bytes', 2 * 4 * 16000000)}
WORTH_WAITING_S = 400
LAYERS = ('conv2d', 'linear', 'maxpool2d', 'avgpool2d')


def plain(spec):
    """Without what the engine added."""
    return re.sub(r' layout=\S+', '', spec)


def kind_of(spec):
    kind, f = fields(spec.replace(' bias=1', ''))
    if kind == 'linear':
        return 'dense'
    if kind == 'conv2d' and f.get('groups', [1])[0] > 1:
        return 'depthwise'
    return 'dilated' if 'dilation' in f else kind


def columns(spec, augmented):
    """Hyper-parameters and the extents of tensors; augmented: the paper's four sums of them, too."""
    kind, f = fields(spec.replace(' bias=1', ''))
    row = f['x'] + f.get('out', [0])
    for name, usual in (('kernel', [1, 1]), ('stride', [1, 1]), ('pad', [0, 0]), ('dilation', [1, 1])):
        row += (f.get(name, usual) + [0, 0])[:2]
    row.append(f.get('groups', [1])[0])
    if augmented:
        row += extents(spec.replace(' bias=1', ''))
    return [math.log2(1 + v) for v in row]


class Measured:
    def __init__(self, folder):
        """`of` {(engine, kind, metric): {spec: value}}: without what the machine's probes measured and
        the network's own layers, which are in `own` {(engine, metric): {spec: value}}. Memory is what a layer
        allocates besides input and weights; of engines that do not count it, its result and workspace."""
        layers, self.of, self.own, self.peak, self.device = set(network_layers()), {}, {}, {}, None
        self.path = os.path.join(folder, 'layers.csv.gz')
        with gzip.open(self.path, 'rt', newline='') as f:
            rows = list(csv.DictReader(f))
        counts = {row['engine'] for row in rows if row['metric'] == 'memory'}
        for row in rows:
            spec, metric, value = plain(row['spec']), row['metric'], float(row['value'])
            self.device = row['device']
            if metric == 'workspace' and row['engine'] not in counts and spec.split(' ')[0] in LAYERS:
                metric, value = 'memory', value + 4 * extents(spec.replace(' bias=1', ''))[1]
            if metric == 'time' and spec in PROBES:
                self.peak[row['engine'], PROBES[spec][0]] = PROBES[spec][1] / value
            elif spec in layers:
                self.own.setdefault((row['engine'], metric), {})[spec] = value
            elif spec.split(' ')[0] in LAYERS and value > 0:
                # A layer of the zoo has a bias where it is dense, a probe has none.
                if 'linear' not in spec or 'bias=1' in spec:
                    self.of.setdefault((row['engine'], kind_of(spec), metric), {})[spec] = value

    def table(self, engine, kind, metric):
        return self.of.get((engine, kind, metric), {})


class Lesson:
    """bench_learn, asked about rows (spec, value, fold): -> {method: values}, {method: seconds}"""

    def __init__(self, program):
        self.program, self.names = program, METHODS
        # XGBoost and libsvm may be missing.
        _, can = self.ask([(network_layers()[0], 1 + i, i % 2) for i in range(8)], True)
        self.names = {m: name for m, name in METHODS.items() if m in can}

    def ask(self, rows, augmented):
        with tempfile.NamedTemporaryFile('w', suffix='.csv') as f:
            x = [columns(spec, augmented) for spec, _, _ in rows]
            f.write(','.join(f'c{i}' for i in range(len(x[0]))) + ',y,fold\n')
            for line, (_, value, fold) in zip(x, rows):
                f.write(','.join(map(repr, line + [math.log(value)])) + f',{fold}\n')
            f.flush()
            done = subprocess.run([self.program, f.name, ','.join(self.names)], check=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = list(csv.DictReader(done.stdout.splitlines()))
        took = {m: float(s) for m, s in re.findall(r'^(\w+) ([0-9.]+) s$', done.stderr, re.M)}
        return {m: [math.exp(float(line[m])) for line in lines] for m in took}, took


def ape(said, real):
    return sum(abs(s / r - 1) for s, r in zip(said, real)) / len(real)


def r_squared(said, real):
    mean = sum(real) / len(real)
    return 1 - sum((s - r) ** 2 for s, r in zip(said, real)) / sum((r - mean) ** 2 for r in real)


def of_layer(spec):
    """The same for all batches of a layer."""
    return re.sub(r' x=\d+', ' x=', spec, count=1)


def cross_validate(lesson, table, augmented, apart):
    """-> {method: [MAPE, R2]}; apart: a layer's batches are all on one side"""
    specs = sorted(table)
    dealt = sorted({of_layer(s) if apart else s for s in specs})
    random.Random(1).shuffle(dealt)
    dealt = {name: i % FOLDS for i, name in enumerate(dealt)}
    fold = [dealt[of_layer(s) if apart else s] for s in specs]
    real = [table[s] for s in specs]
    said, _ = lesson.ask(list(zip(specs, real, fold)), augmented)
    return {m: [ape(said[m], real), r_squared(said[m], real)] for m in lesson.names}


def learn_in_steps(lesson, table):
    """A fifth is held out, of the rest ever more is learned from; -> {method: [[rows, MAPE]]}"""
    specs, found = sorted(table), {m: [] for m in lesson.names}
    random.Random(1).shuffle(specs)
    test, rest = specs[:len(specs) // FOLDS], specs[len(specs) // FOLDS:]
    for step in range(1, STEPS + 1):
        known = rest[:max(2, len(rest) * step // STEPS)]
        said, _ = lesson.ask([(s, table[s], 0) for s in test] + [(s, table[s], 1) for s in known], True)
        for m in lesson.names:
            found[m].append([len(known), ape(said[m], [table[s] for s in test])])
    return found


def in_memory(made):
    """Bytes of a chain of layers whose running allocates made[spec]: at its peak (weights, and the input of
    the layer that needs most), and by the paper's rules, the two largest layers and twice the mean."""
    layers = network_layers()
    weights = {s: 4 * extents(s)[2] for s in layers}
    alive = {s: 4 * extents(s)[0] + made[s] for s in layers}
    sizes = sorted(alive[s] + weights[s] for s in layers)
    return {'alive': sum(weights[s] for s in layers) + max(alive.values()), 'two': sum(sizes[-2:]),
            'mean': 2 * sum(sizes) / len(sizes)}


def foretell_network(lesson, measured, engine):
    """The paper's way: one regressor a kind and metric, times are added up; -> {method: {...}}"""
    layers = network_layers()
    found = {m: {'time': 0, 'memory': None, 'train_s': 0} for m in lesson.names}
    made = {m: {} for m in lesson.names}
    for kind in sorted({kind_of(s) for s in layers}):
        own = [s for s in layers if kind_of(s) == kind]
        for metric in ('time', 'memory'):
            table = measured.table(engine, kind, metric)
            if len(table) < FEWEST:
                continue
            # What the own layers' target is counts only for models made of them, which nobody asks.
            said, took = lesson.ask([(s, 1.0, 0) for s in own] + [(s, v, 1) for s, v in table.items()], True)
            for m in lesson.names:
                found[m]['train_s'] += took[m]
                if metric == 'time':
                    found[m]['time'] += sum(said[m][:len(own)])
                else:
                    made[m].update(zip(own, said[m]))
    for m, f in found.items():
        if all(s in made[m] for s in layers):
            f['memory'] = in_memory(made[m])
    return found


def ask(foretell, out, device, engine, method):
    """`foretell train` and `predict` with one method; None where that takes too long."""
    model, predictor = os.path.join(out, 'darknet.onnx'), os.path.join(out, f'{engine}-{method}.ftp')
    try:
        subprocess.run([foretell, 'train', '--db', os.path.join(out, 'learned.db'), '--device', device, '--engine',
                        engine, '--method', method, '--forget', '--without', model, '-o', predictor, '-q'],
                       check=True, stdout=subprocess.DEVNULL, timeout=WORTH_WAITING_S)
    except subprocess.TimeoutExpired:
        return None
    done = subprocess.run([foretell, 'predict', model, '--predictor', predictor, '--json', '-q'],
                          check=True, stdout=subprocess.PIPE)
    said = json.loads(done.stdout)
    os.remove(predictor)
    return {'time': said['time']}


class Kept:
    """Answers that take long, by name, in a file."""

    def __init__(self, path):
        self.path, self.of = path, {}
        if os.path.exists(path):
            with open(path) as f:
                self.of = json.load(f)

    def __call__(self, name, make, *args):
        if name not in self.of:
            self.of[name] = make(*args)
            with open(self.path + '.new', 'w') as f:
                json.dump(self.of, f)
            os.replace(self.path + '.new', self.path)
        return self.of[name]


# ---- tables ----


def percent(v):
    return f'{100 * v:.1f}' if v < 10 else f'{100 * v:.0f}'


def row(*cells):
    return '| ' + ' | '.join(map(str, cells)) + ' |'


def head(*cells):
    return '\n' + row(*cells) + '\n' + '|---' * len(cells) + '|'


def print_methods(kept, lesson, measured, engines):
    """-> {(metric, engine): {kind: {augmented: {method: [MAPE, R2]}}}}"""
    found = {}
    for metric in ('time', 'memory'):
        for engine in engines:
            tables = {k: measured.table(engine, k, metric) for k in KINDS}
            if metric == 'memory' and not any(tables.values()):
                continue
            for how, augmented, apart in (('without the four augmented columns', False, False),
                                          ('with the four augmented columns', True, False),
                                          ('with them, no batch of a held-out layer known', True, True)):
                print(f'\n**{metric}, {engine}, {how}**')
                print(head('kind', 'n', *lesson.names.values(), 'R2 of the best'))
                for kind, table in tables.items():
                    if len(table) < FEWEST:
                        print(row(kind, len(table), *['-'] * (len(lesson.names) + 1)))
                        continue
                    e = kept(f'{metric} {engine} {kind} {how}', cross_validate, lesson, table, augmented, apart)
                    if not apart:
                        found.setdefault((metric, engine), {}).setdefault(kind, {})[augmented] = e
                    best = min(lesson.names, key=lambda m: e[m][0])
                    print(row(kind, len(table), *(percent(e[m][0]) for m in lesson.names), f'{e[best][1]:.4f}'),
                          flush=True)
    return found


def print_curves(kept, lesson, measured, engines, metric):
    found = {}
    print(f'\n**{metric}: error at 1, 5, 10 and 15 of 15 steps, the best method of each**')
    print(head('engine', 'kind', 'layers', 'MAPE, %', 'method at the end'))
    for engine in engines:
        for kind in KINDS:
            table = measured.table(engine, kind, metric)
            if len(table) < 2 * FEWEST:
                continue
            c = kept(f'curve {metric} {engine} {kind}', learn_in_steps, lesson, table)
            found.setdefault(engine, {})[kind] = c
            best = [min(c[m][s][1] for m in lesson.names) for s in range(STEPS)]
            last = min(lesson.names, key=lambda m: c[m][-1][1])
            steps = [s for s in (0, 4, 9, 14)]
            print(row(engine, kind, ', '.join(f'{c[last][s][0]}' for s in steps),
                      ', '.join(percent(best[s]) for s in steps), lesson.names[last]), flush=True)
    return found


def off(said, real):
    return f'{100 * (said / real - 1):+.1f}'


def mib(v):
    return f'{v / 2**20:.1f}'


def print_network(kept, foretell, lesson, measured, notes, out, engine):
    """Every method beside the real run; nothing of the network is learned from."""
    real, layers = notes['network'], network_layers()
    t, m = real['time']['value'], notes['predict']['memory']
    own = {metric: measured.own.get((engine, metric), {}) for metric in ('time', 'memory')}
    tensors = real['memory']['total'] - (real['memory']['context'] or 0)
    bars = {}
    print(f'\n**{engine}**: measured {t:.3f} s (standard error {real["time"]["error"]:.3f}); memory '
          f'{mib(real["memory"]["total"])} MiB, {mib(tensors)} without what the process had before')
    if all(s in own['time'] for s in layers):
        bars['layers measured'] = whole = sum(own['time'][s] for s in layers)
        print(f'\nThe {len(layers)} layers measured one by one: {whole:.3f} s ({off(whole, t)} %).')
    if all(s in own['memory'] for s in layers):
        print('Memory by the measured layers: ' + ', '.join(
            f'{RULES[rule]} {mib(v)} MiB ({off(v, tensors)} %)' for rule, v in in_memory(own['memory']).items()) + '.')
    rough = kept(f'layers of {engine}', foretell_network, lesson, measured, engine)
    print(head('method', 'T, s: sum of layers', 'off by, %', 'learning, s of CPU', 'T, s: foretell predict',
               'off by, %', *(cell for name in RULES.values() for cell in ('M, MiB: ' + name, 'off by, %'))))
    for method, name in lesson.names.items():
        r = rough[method]
        p = kept(f'ask {engine} {method}', ask, foretell, out, measured.device, engine, method)
        said = [f'{p["time"]["value"]:.3f}', off(p['time']['value'], t)] if p else ['-', '-']
        for rule in RULES:
            said += [mib(r['memory'][rule]), off(r['memory'][rule], tensors)] if r['memory'] else ['-', '-']
        print(row(name, f'{r["time"]:.3f}', off(r['time'], t), f'{r["train_s"]:.2f}', *said), flush=True)
        bars[name] = r['time']
        if p:
            bars[name + ', predict'] = p['time']['value']
    print(f'\n`foretell predict`: memory {mib(m["total"]["value"])} MiB '
          f'({off(m["total"]["value"], real["memory"]["total"])} %), two largest {mib(m["two_largest"])} MiB, '
          f'twice the mean {mib(m["twice_mean"])} MiB')
    bars.update(print_analytic(measured, notes, engine))
    return {'real': t, 'bars': bars}


def print_analytic(measured, notes, engine):
    """PALEO adds what computing and moving take, the roofline takes the longer of both; peaks measured."""
    sums = {'PALEO': 0, 'roofline': 0}
    if not all((engine, what) in measured.peak for what in ('flops', 'bytes')):
        return {}
    for spec in network_layers():
        x, out, weights, flops = extents(spec)
        parts = flops / measured.peak[engine, 'flops'], 4 * (x + out + weights) / measured.peak[engine, 'bytes']
        sums['PALEO'] += sum(parts)
        sums['roofline'] += max(parts)
    t = notes['network']['time']['value']
    print(f'\nPeaks {measured.peak[engine, "flops"] / 1e9:.1f} GFLOP/s, '
          f'{measured.peak[engine, "bytes"] / 1e9:.1f} GB/s: '
          + ', '.join(f'{name} {v:.3f} s ({off(v, t)} %)' for name, v in sums.items()))
    return sums


def print_break_even(notes, engines):
    """After how many networks learning was cheaper than running them."""
    lines = {}
    print('\n' + head('engine', 'layers', 'collecting, s', 'training, s', 'an answer, s', 'running a network, s',
                      'pays from network'))
    for engine in engines:
        n = notes[engine]
        collecting = sum(n[k]['wall_s'] for k in ('singles', 'batches') if k in n)
        layers = sum(n[k]['measured_in_all'] for k in ('singles', 'batches') if k in n)
        once, each = n['train']['wall_s'], n['predict']['wall_s']
        bench = n['network']['wall_s']
        even = math.ceil((collecting + once) / (bench - each))
        lines[engine] = {'before': collecting + once, 'each': each, 'bench': bench}
        print(row(engine, layers, f'{collecting:.0f}', f'{once:.2f}', f'{each:.3f}', f'{bench:.1f}', even))
    return lines


def learn(engines, foretell, program, out, source=None):
    source = source or out
    measured, lesson = Measured(source), Lesson(program)
    with open(os.path.join(source, 'collected.json')) as f:
        notes = json.load(f)
    kept = Kept(os.path.join(out, 'learned.json'))
    store = os.path.join(out, 'learned.db')
    if not os.path.exists(store):
        subprocess.run([foretell, 'data', 'import', measured.path, '--db', store, '-q'], check=True,
                       stdout=subprocess.DEVNULL)
    print('## Methods by kind\n')
    errors = print_methods(kept, lesson, measured, engines)
    print('\n## Learning curves\n')
    curves = {m: print_curves(kept, lesson, measured, engines, m) for m in ('time', 'memory')}
    print('\n## Break-even\n')
    even = print_break_even(notes, engines)
    print('\n## The network\n')
    networks = {e: print_network(kept, foretell, lesson, measured, notes[e], out, e) for e in engines}
    charts.write_all(out, errors, curves, networks, even, lesson.names, KINDS, NETWORK_BATCH)
