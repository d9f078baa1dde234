"""What the converters of published tables have in common: reading a table (CSV with a header line,
plain or gzip), naming devices and operations as foretell does, and writing foretell's own
measurement CSV, which `foretell data import` reads (docs/data.md).

A converter is a list of Form and a call of main(). Of each row of a table its form's function says
what was measured and where; columns that it did not read become the conditions of the row's
measurements.
"""
import argparse
import calendar
import csv
import gzip
import json
import math
import os
import pathlib
import re
import shutil
import sys
import tempfile
import zlib
from dataclasses import dataclass, field

COLUMNS = ('device', 'setting', 'engine', 'engine_version', 'spec', 'phase', 'dtype_policy', 'metric',
           'unit', 'value', 'error', 'mad', 'mean', 'std', 'n', 'iterations', 'taken_at', 'run',
           'calibration', 'conditions')
UNITS = {'time': 's', 'accumulate': 's', 'power': 'W', 'energy': 'J', 'relative_performance': '1',
         'device_memory': 'B'}
MOST_ELEMENTS = 1 << 52
MOST_AXES = 8
LONGEST_FIELD = 1 << 20
NUMBER = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?', re.ASCII)
JSON_NUMBER = re.compile(r'-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?', re.ASCII)


class Wrong(Exception):
    """The table is not what it should be; the text says where and why. Exit code 3."""


# Keys that are left out of a spec where they have this value.
DEFAULTS = dict(dilation=1, groups=1, bias=0, to='', weights='', block=0, order=0, causal=0, train=0,
                ceil=0, tp=1, ep=1, gated=1)


def elements(shape):
    return math.prod(shape)


def op(kind, dtype, phase='forward', wrt='', inplace=False, **keys):
    """The spec of an operation. Keys come in the order that the kind has in ops.def; shapes and
    lists are tuples."""
    text = [kind]
    for key, value in keys.items():
        values = value if isinstance(value, tuple) else (value,)
        if key not in DEFAULTS or any(v != DEFAULTS[key] for v in values):
            text.append(f"{key}={'x'.join(map(str, values))}")
    check(kind, keys)
    text.append(f'dtype={dtype}')
    if phase != 'forward':
        text.append(f'phase={phase}')
    if wrt:
        text.append(f'wrt={wrt}')
    if inplace:
        text.append('inplace=1')
    return ' '.join(text)


def check(kind, keys):
    for key, value in keys.items():
        if isinstance(value, tuple) and (len(value) > MOST_AXES or elements(value) > MOST_ELEMENTS):
            raise ValueError(f'{kind}: {key} has more than 8 axes or 2^52 elements')
    if 'kernel' in keys:
        if len(keys['x']) != 4:
            raise ValueError(f'{kind}: x must be batch x channels x height x width')
        steps = keys['kernel'] + keys['stride'] + keys.get('dilation', ())
        if not all(0 < v <= 1 << 30 for v in steps):
            raise ValueError(f'{kind}: kernel, stride and dilation must be 1 to 2^30')
        if kind == 'conv2d':
            groups = keys.get('groups', 1)
            if groups < 1 or keys['out'] < 1 or keys['x'][1] % groups or keys['out'] % groups:
                raise ValueError(f'{kind}: groups must divide the channels of x and out')
        check_window(kind, **keys)
    if kind == 'moe' and not (1 <= keys['topk'] <= keys['experts'] and
                              1 <= keys['ep'] <= keys['experts'] and 1 <= keys['tp'] <= keys['hidden']):
        raise ValueError(f'{kind}: topk and ep must be 1 to experts, and tp 1 to hidden')
    if kind == 'collective' and keys['ranks'] < 1:
        raise ValueError(f'{kind}: ranks must be at least 1')


def check_window(kind, x, kernel, pad, dilation=(1, 1), **_):
    for axis in 0, 1:
        if x[2 + axis] + pad[axis] + pad[axis - 2] < dilation[axis] * (kernel[axis] - 1) + 1:
            raise ValueError(f'{kind}: the kernel is larger than the padded x')


def whole(kind, name, rest=''):
    """The spec of a network or kernel that was measured as one; `rest` tells it apart further."""
    return f"{kind} name={name.replace(' ', '_')}{' ' if rest else ''}{rest}"


def plain(title):
    return ''.join('-' if c in ' _' else c.lower() if c.isascii() else c for c in title)


def scalar(text):
    text = text.partition(' #')[0].strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in '\'"' else text


class Devices:
    """The device files of foretell: which name a title stands for, and its thermal design power."""

    def __init__(self, folder):
        self.found, self.tdp, self.known = {}, {}, {}
        self.folder = folder
        for path in sorted(folder.glob('*.yaml')):
            self.read(path)

    def read(self, path):
        """`title:`, `tdp_w:` and `aliases:` of one file; nothing else is wanted of it."""
        titles, listed = [path.stem], False
        for line in path.read_text(encoding='utf-8').splitlines():
            key, _, value = line.partition(':')
            if listed and line.lstrip().startswith('- '):
                titles.append(scalar(line.lstrip()[2:]))
                continue
            listed = key == 'aliases' and not value.strip()
            if key == 'title':
                titles.append(scalar(value))
            elif key == 'aliases':
                titles += [scalar(t) for t in value.strip().strip('[]').split(',') if t.strip()]
            elif key == 'tdp_w' and NUMBER.fullmatch(scalar(value)):
                self.tdp[path.stem] = float(scalar(value))
        for title in titles:
            self.found.setdefault(plain(title), []).append(path.stem)

    def name(self, title):
        names = sorted(set(self.found.get(plain(title), [])))
        if len(names) > 1:
            raise ValueError(f'"{title}" may be {names[0]} or {names[1]}: take the alias out of one of '
                             f'{self.folder}/{names[0]}.yaml and {names[1]}.yaml')
        return names[0] if names else None


def device_folder(data_dir):
    """devices/ of the folder that is given, else of the installation, else of the source tree."""
    share = pathlib.Path(__file__).resolve().parents[2]
    folders = [pathlib.Path(data_dir)] if data_dir else [share, share / 'data']
    for folder in folders:
        if (folder / 'devices').is_dir():
            return folder / 'devices'
    raise Wrong(f'{folders[-1]}/devices: no folder of device files; --data-dir names the one above it')


@dataclass
class Form:
    """How one form of table is read, and the columns by which it is known."""
    needs: str
    row: object             # function of a Row
    engine: str = ''        # where the row does not say otherwise
    version: str = ''
    after: object = None    # function of the Table behind its last row


@dataclass
class Measurement:
    spec: str
    phase: str
    metric: str
    value: float
    std: float
    iterations: int
    settings: tuple         # beside those of its row


class Row:
    """One row of a table: its fields, and what its form says was measured. Fields that were asked
    for are no longer part of the conditions."""

    def __init__(self, table, fields):
        self.table, self.fields, self.used = table, fields, set()
        self.engine, self.version = table.form.engine, table.form.version
        self.title, self.policy, self.settings, self.taken_at = None, 'default', [], 0
        self.measured, self.unknown = [], False

    def wrong(self, name, what):
        at = self.table.place.get(name)
        place = '' if at is None else f', column {at + 1} ({name})'
        raise Wrong(f'{self.table.name}, line {self.table.line}{place}: {what}')

    def text(self, name):
        """'' where the column or its field is missing."""
        at = self.table.place.get(name)
        if at is None:
            return ''
        self.used.add(at)
        return self.fields[at]

    def keep(self, name):
        """Back among the conditions, though it was asked for."""
        self.used.discard(self.table.place.get(name))

    def whole(self, name, otherwise=None):
        """A whole number, which may be written as 64.0; it must be there where `otherwise` is None."""
        text = self.text(name)
        if not text and otherwise is not None:
            return otherwise
        if not text:
            self.wrong(name, 'a number is needed here' if name in self.table.place else
                       f'a column that is needed here is missing: {name}')
        value = float(text) if NUMBER.fullmatch(text) else -1
        if not 0 <= value <= MOST_ELEMENTS or value != int(value):
            self.wrong(name, 'not a whole number from 0 to 2^52')
        return int(value)

    def real(self, name):
        """NaN where it is missing."""
        text = self.text(name)
        value = float(text) if NUMBER.fullmatch(text) else math.nan
        if text and not math.isfinite(value):
            self.wrong(name, 'not a finite decimal number')
        return value

    def shape(self, name):
        """32x3x224x224, (16,512,1024), 128; at least one axis."""
        text = self.text(name)
        shape = read_shape(text)
        if not shape:
            self.wrong(name, 'a shape is needed here, as 32x3x224x224 or (32,3,224,224)')
        return shape

    def choice(self, name, *names):
        text = self.text(name)
        if text not in names:
            self.wrong(name, ' or '.join(names) + ' is wanted')
        return text

    def device(self, title):
        if not title:
            self.wrong('device', 'a device is needed here')
        self.title = title

    def tdp_w(self):
        """Of the row's device; NaN where no file has it."""
        devices = self.table.devices
        return devices.tdp.get(devices.name(self.title), math.nan)

    def setting(self, name, value, unit=None):
        """Nothing for an empty value, or for a number that is missing."""
        if unit is not None:
            value = '' if math.isnan(value) else f'{value:.10g}{unit}'
        if value:
            self.settings.append(f"{name}={value.replace(' ', '_')}")

    def when(self, text):
        """2025-02-12_13-18-17; otherwise in 1970."""
        m = re.match(r'(\d{4})-(\d\d)-(\d\d)_(\d\d)-(\d\d)-(\d\d)', text)
        if m and int(m[1]) >= 1970 and 1 <= int(m[2]) <= 12:
            self.taken_at = calendar.timegm(tuple(map(int, m.groups())))

    def value(self, spec, phase, metric, value, std=math.nan, iterations=1, settings=()):
        """Nothing for a value that is missing."""
        if not math.isnan(value):
            self.measured.append(Measurement(spec, phase, metric, value, std, iterations, settings))

    def member(self, source, network, phase, part, count, note=''):
        """`part` occurs `count` times in `network`, as `source` lists it: counts of one part add up
        within a file. Of a network that several devices list, the first device's list is taken."""
        key = source, network, phase
        if self.table.lister.setdefault(key, self.title) == self.title:
            known = self.table.members.setdefault((*key, part), [0, note])
            known[0] += count

    def is_generic(self):
        """Its operation has no kind here."""
        self.unknown = True

    def conditions(self):
        said = [json.dumps(name, ensure_ascii=False) + ': ' +
                (text if JSON_NUMBER.fullmatch(text) else json.dumps(text, ensure_ascii=False))
                for at, (name, text) in enumerate(zip(self.table.columns, self.fields))
                if text and at not in self.used]
        return '{' + ', '.join(said) + '}' if said else ''


SHAPE = re.compile(r'\d{1,15}(x\d{1,15}){0,7}|\(\d{1,15}(, *\d{1,15}){0,7},? *\)', re.ASCII)


def read_shape(text):
    """() where it is none."""
    shape = tuple(map(int, re.findall(r'\d+', text))) if SHAPE.fullmatch(text) else ()
    return shape if elements(shape) <= MOST_ELEMENTS else ()


@dataclass
class Table:
    """One published table, and what was collected of it so far."""
    name: str
    devices: Devices
    run: int                # its measurements are of one run
    form: Form = None
    columns: list = field(default_factory=list)
    place: dict = field(default_factory=dict)
    line: int = 1
    lister: dict = field(default_factory=dict)      # (source, network, phase) -> first device
    members: dict = field(default_factory=dict)     # (source, network, phase, part) -> count, note
    results: dict = field(default_factory=dict)     # network -> shape of its last result
    unknown_devices: list = field(default_factory=list)
    unknown_ops: int = 0


def open_table(path):
    with open(path, 'rb') as f:
        packed = f.read(2) == b'\x1f\x8b'
    return (gzip.open if packed else open)(path, 'rt', encoding='utf-8-sig', errors='strict', newline='')


def read_csv(path):
    """(line, fields) of each row, the columns first."""
    with open_table(path) as f:
        rows = csv.reader(f, strict=True)
        try:
            for fields in rows:
                yield rows.line_num, fields
        except csv.Error as e:
            raise Wrong(f'{path}, line {rows.line_num}: {e}') from None


def convert(path, forms, source, devices, run, write, read):
    """Writes the table's measurements, then the parts of networks that it lists."""
    table = Table(path, devices, run)
    try:
        rows = read(path)
        find_form(table, next(rows, (1, []))[1], forms, source)
        for table.line, fields in rows:
            take(table, fields, write)
        if table.form.after:
            table.form.after(table)
    except OSError as e:
        what = 'the packed data is damaged' if isinstance(e, gzip.BadGzipFile) else e.strerror
        raise Wrong(f'cannot read {path}: {what}') from None
    except EOFError:
        raise Wrong(f'{path}, line {table.line + 1}: the packed data ends too early') from None
    except zlib.error:
        raise Wrong(f'{path}, line {table.line + 1}: the packed data is damaged') from None
    except UnicodeDecodeError:
        raise Wrong(f'{path}, after line {table.line}: not UTF-8 text') from None
    except json.JSONDecodeError as e:
        raise Wrong(f'{path}, line {e.lineno}: not JSON: {e.msg}') from None
    except ValueError as e:
        raise Wrong(f'{path}, line {table.line}: {e}') from None
    for (lists, network, phase, part), (count, note) in table.members.items():
        write(('', network, lists, '', part, phase, '', 'member', '1', count, '', '', '', '', 0, 0, 0, 0,
               '', note))
    return table


def find_form(table, columns, forms, source):
    """The first whose columns are all there."""
    table.columns = columns
    table.place = {name: at for at, name in enumerate(columns)}
    if not columns:
        raise Wrong(f'{table.name}: it is empty')
    if len(table.place) < len(columns) or '' in table.place:
        raise Wrong(f'{table.name}, line 1: a column without a name, or two of one name')
    for form in forms:
        if set(form.needs.split()) <= set(columns):
            table.form = form
            return
    wanted = '; or '.join(form.needs.replace(' ', ',') for form in forms)
    raise Wrong(f'{table.name}, line 1: not a table of {source}, which has the columns {wanted}')


def take(table, fields, write):
    if len(fields) != len(table.columns):
        raise Wrong(f'{table.name}, line {table.line}: {len(fields)} columns, but the header has '
                    f'{len(table.columns)}')
    row = Row(table, fields)
    table.form.row(row)
    table.unknown_ops += row.unknown
    if not row.measured:
        return
    if row.title is None:
        row.wrong('device', 'a device is needed here')
    device, conditions = named(table, row.title), row.conditions()
    for m in row.measured:
        setting = ' '.join((*row.settings, *m.settings))
        std = '' if math.isnan(m.std) else repr(m.std)
        write((device, setting, row.engine, row.version, m.spec, m.phase, row.policy, m.metric,
               UNITS[m.metric], repr(m.value), '', '', '', std, 1, m.iterations, row.taken_at, table.run,
               '', conditions))


def named(table, title):
    """The name of its device file; without one, the title in lower case, blanks as '-'."""
    if title not in table.devices.known:
        table.devices.known[title] = table.devices.name(title)
    name = table.devices.known[title]
    if name is None and title not in table.unknown_devices:
        table.unknown_devices.append(title)
    return name or ''.join('-' if c == ' ' else c.lower() if c.isascii() else c for c in title)


def note(table):
    if table.unknown_devices:
        titles = ', '.join(f'"{t}"' for t in table.unknown_devices)
        print(f'note: {table.name}: no device file knows {titles}; measurements are kept under these names',
              file=sys.stderr)
    if table.unknown_ops:
        print(f'note: {table.name}: {table.unknown_ops} rows are of operations without a kind here: generic',
              file=sys.stderr)


def main(source, what, forms, read=read_csv, paths=list):
    """The command: converts every table, or says what is wrong and writes nothing. read: the rows of
    a table, as read_csv() gives them; paths: of what was named, the tables."""
    p = argparse.ArgumentParser(
        prog=source, formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"{what}\n\nWrites foretell's measurement CSV, for `foretell data import`.",
        epilog=f'example:\n  {source} TABLE.csv.gz -o measured.csv && foretell data import measured.csv')
    p.add_argument('table', nargs='+', help='CSV with a header line, plain or packed by gzip' if read is read_csv else
                   'a file, or a folder of them')
    p.add_argument('-o', '--output', metavar='FILE', help='write here; else to standard output')
    p.add_argument('--data-dir', metavar='DIR', default=os.environ.get('FORETELL_DATA'),
                   help='folder with devices/, whose titles and aliases name the devices')
    o = p.parse_args()
    csv.field_size_limit(LONGEST_FIELD)
    try:
        devices = Devices(device_folder(o.data_dir))
        with tempfile.TemporaryFile('w+', newline='', encoding='utf-8') as out:
            writer = csv.writer(out, lineterminator='\n')
            writer.writerow(COLUMNS)
            tables = [convert(path, forms, source, devices, run, writer.writerow, read)
                      for run, named_path in enumerate(o.table, 1) for path in paths([named_path])]
            out.seek(0)
            copy(out, o.output, o.table)
    except Wrong as e:
        sys.exit(failed(source, e))
    for table in tables:
        note(table)


def copy(out, path, tables):
    """All of it: to standard output, or over a regular file that is none of the tables."""
    if not path:
        try:
            shutil.copyfileobj(out, sys.stdout)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)    # the reader has enough
        return
    if os.path.exists(path) and any(os.path.samefile(path, t) for t in tables):
        raise Wrong(f'{path} is one of the tables that are read')
    if os.path.exists(path) and not os.path.isfile(path):
        raise Wrong(f'{path} is not a regular file')
    try:
        fd, fresh = tempfile.mkstemp(dir=os.path.dirname(path) or '.', prefix='.foretell-')
    except OSError as e:
        raise Wrong(f'cannot write {path}: {e.strerror}') from None
    try:
        with open(fd, 'w', newline='', encoding='utf-8') as f:
            shutil.copyfileobj(out, f)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(fresh, 0o666 & ~umask)
        os.replace(fresh, path)
    except OSError as e:
        os.unlink(fresh)
        raise Wrong(f'cannot write {path}: {e.strerror}') from None


def failed(source, why):
    print(f'{source}: {why}', file=sys.stderr)
    return 3
