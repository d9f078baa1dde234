"""The charts of bench/sponner: SVG, no library."""
import math
import os

COLOURS = ['#1b6ca8', '#c8553d', '#588157', '#7b2d8b', '#b8860b', '#2a9d8f', '#6c584c', '#d63384']
ROUND = [k * 10.0**e for e in range(-4, 7) for k in (1, 2, 5)]


class Panel:
    """An area with two axes, logarithmic unless its horizontal values are names."""

    def __init__(self, x, y, width, height, title, over, values, names=None):
        self.x, self.y, self.width, self.height, self.names = x, y, width, height, names
        self.svg = [f'<text x="{x}" y="{y - 10}" font-size="13" font-weight="bold">{title}</text>',
                    f'<path d="M{x} {y}V{y + height}H{x + width}" fill="none" stroke="#444"/>']
        self.over = None if names else self.reach(over)
        self.values = self.reach(values)

    @staticmethod
    def reach(values):
        low, high = min(values), max(values)
        return (low / 1.1, high * 1.1)

    def at_x(self, v):
        if self.names:
            return self.x + self.width * (v + 0.5) / len(self.names)
        return self.x + self.width * math.log(v / self.over[0]) / math.log(self.over[1] / self.over[0])

    def at_y(self, v):
        return self.y + self.height * (1 - math.log(v / self.values[0]) / math.log(self.values[1] / self.values[0]))

    def ticks(self, unit, scale):
        base = self.y + self.height
        for v in ROUND:
            if self.values[0] <= v <= self.values[1]:
                y = self.at_y(v)
                self.svg.append(f'<path d="M{self.x} {y:.1f}h{self.width}" stroke="#ddd"/><text x="{self.x - 5}" '
                                f'y="{y + 4:.1f}" text-anchor="end">{scale * v:g}{unit}</text>')
            if self.over and self.over[0] <= v <= self.over[1]:
                self.svg.append(f'<text x="{self.at_x(v):.1f}" y="{base + 15}" text-anchor="middle">{v:g}</text>')
        for i, name in enumerate(self.names or []):
            self.svg.append(f'<text x="{self.at_x(i):.1f}" y="{base + 15}" text-anchor="middle">{name}</text>')

    def line(self, points, colour, dashed=False):
        at = ' '.join(f'{self.at_x(x):.1f},{self.at_y(y):.1f}' for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ''
        self.svg.append(f'<polyline points="{at}" fill="none" stroke="{colour}" stroke-width="1.6"{dash}/>')

    def dot(self, x, y, colour, filled):
        self.svg.append(f'<circle cx="{x:.1f}" cy="{self.at_y(y):.1f}" r="3.5" stroke="{colour}" '
                        f'fill="{colour if filled else "white"}"/>')


def key(names, x, y, step):
    """Names with their colours, in a row."""
    return [f'<circle cx="{x + step * i}" cy="{y - 4}" r="4" fill="{COLOURS[i]}"/>'
            f'<text x="{x + step * i + 8}" y="{y}">{name}</text>' for i, name in enumerate(names)]


def write(path, width, height, parts):
    with open(path, 'w') as f:
        f.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
                f'font-size="11"><rect width="{width}" height="{height}" fill="white"/>\n')
        f.write('\n'.join(parts) + '\n</svg>\n')


def methods(path, errors, names, kinds):
    """Of each kind and method: error without (hollow) and with (filled) the augmented columns."""
    parts = key(names.values(), 70, 20, 80)
    for i, ((metric, engine), of) in enumerate(errors.items()):
        every = [e[m][0] for both in of.values() for e in both.values() for m in names]
        panel = Panel(60, 60 + 250 * i, 680, 190, f'{metric}, {engine}: MAPE, hollow without and filled with the four '
                      'augmented columns', None, every, kinds)
        panel.ticks(' %', 100)
        for k, kind in enumerate(kinds):
            for j, m in enumerate(names):
                x = panel.at_x(k) + 11 * (j - (len(names) - 1) / 2)
                for augmented, e in of.get(kind, {}).items():
                    panel.dot(x, e[m][0], COLOURS[j], augmented)
        parts += panel.svg
    write(path, 780, 60 + 250 * len(errors), parts)


def curves(path, found, names, title):
    """Errors of held-out layers over how many were learned from, a panel a kind."""
    parts = key(names.values(), 70, 20, 80)
    for i, (kind, of) in enumerate(found.items()):
        points = [p for c in of.values() for p in c]
        panel = Panel(60 + 370 * (i % 2), 62 + 230 * (i // 2), 300, 170, f'{kind}, {title}', [p[0] for p in points],
                      [p[1] for p in points])
        panel.ticks(' %', 100)
        for j, m in enumerate(names):
            panel.line(of[m], COLOURS[j])
        parts += panel.svg
    rows = (len(found) + 1) // 2
    parts.append(f'<text x="390" y="{72 + 230 * rows}" text-anchor="middle">layers learned from; error: MAPE of the '
                 'fifth that was held out</text>')
    write(path, 780, 85 + 230 * rows, parts)


def network(path, found, batch):
    """What every method says beside the real run."""
    parts, top = [], 20
    for engine, of in found.items():
        widest = max(list(of['bars'].values()) + [of['real']])
        parts.append(f'<text x="150" y="{top}" font-size="13" font-weight="bold">{engine}, batch {batch}: seconds'
                     '</text>')
        bottom = top + 12 + 17 * len(of['bars'])
        for i, (name, t) in enumerate(of['bars'].items()):
            y = top + 10 + 17 * i
            colour = COLOURS[1] if 'predict' in name else '#444' if 'measured' in name else COLOURS[0]
            parts.append(f'<text x="144" y="{y + 11}" text-anchor="end">{name}: {t:.3f}</text><rect x="150" y="{y}" '
                         f'width="{500 * t / widest:.1f}" height="13" fill="{colour}"/>')
        x = 150 + 500 * of['real'] / widest
        parts.append(f'<path d="M{x:.1f} {top + 6}V{bottom}" stroke="black" stroke-dasharray="4 3"/><text x="{x:.1f}" '
                     f'y="{bottom + 13}" text-anchor="middle">really run: {of["real"]:.3f}</text>')
        top = bottom + 45
    write(path, 720, top - 20, parts)


def break_even(path, found):
    """Seconds spent over the number of networks one wants to know about."""
    counts = [2**i for i in range(11)]
    every = [v for f in found.values() for n in counts
             for v in (f['bench'] * n, f['before'] + f['each'] * n)]
    panel = Panel(70, 50, 480, 230, 'Seconds spent to know the times of so many networks', counts, every)
    panel.ticks(' s', 1)
    parts = []
    for i, (engine, f) in enumerate(found.items()):
        panel.line([(n, f['bench'] * n) for n in counts], COLOURS[i], True)
        panel.line([(n, f['before'] + f['each'] * n) for n in counts], COLOURS[i])
        parts.append(f'<text x="562" y="{80 + 40 * i}" fill="{COLOURS[i]}">{engine}: learned</text><text x="562" '
                     f'y="{96 + 40 * i}" fill="{COLOURS[i]}">{engine}: run (dashed)</text>')
    parts.append('<text x="310" y="316" text-anchor="middle">networks</text>')
    write(path, 700, 330, panel.svg + parts)


def write_all(out, errors, learned, networks, even, names, kinds, batch):
    methods(os.path.join(out, 'methods.svg'), errors, names, kinds)
    for metric, of in learned.items():
        for engine, found in of.items():
            curves(os.path.join(out, f'curves-{metric}-{engine}.svg'), found, names, f'{metric}, {engine}')
    network(os.path.join(out, 'network.svg'), networks, batch)
    break_even(os.path.join(out, 'break-even.svg'), even)
