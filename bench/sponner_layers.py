"""What bench/sponner measures: lists of layers, and the network of the paper's table 4."""
import math
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
WORKLOADS = os.path.join(HERE, '..', 'data', 'workloads')
KINDS = ['conv2d', 'depthwise', 'dilated', 'dense', 'maxpool2d', 'avgpool2d']
# 1 to 16 unless said here.
BATCHES = {'dense': [1, 4, 16, 64], 'maxpool2d': [1, 2, 4, 8, 16, 32, 64, 128],
           'avgpool2d': [1, 2, 4, 8, 16, 32, 64, 128]}
# One operation of more arithmetic than this takes the time of a hundred others; convolutions reach
# as far as the network's.
MOST_FLOPS = {'conv2d': 8e9}


def read_list(name):
    with open(os.path.join(WORKLOADS, name)) as f:
        return [line.strip() for line in f if line.strip() and not line.startswith('#')]


def fields(spec):
    """-> kind, {name: [numbers]}; dtype is left out"""
    kind, *pairs = spec.split()
    values = dict(pair.split('=') for pair in pairs)
    values.pop('dtype')
    return kind, {k: [int(n) for n in re.split('[x,]', v)] for k, v in values.items()}


def extents(spec):
    """-> input and output elements, weights, multiplications and additions"""
    kind, f = fields(spec)
    x, out = f['x'], f.get('out', [0])[0]
    if kind == 'linear':
        return math.prod(x), x[0] * out, x[1] * out + out, 2 * x[0] * x[1] * out
    pad, dilation = f['pad'], f.get('dilation', [1, 1])
    pad = pad if len(pad) == 4 else pad * 2
    size = [(x[2 + i] + pad[i] + pad[2 + i] - dilation[i] * (f['kernel'][i] - 1) - 1) // f['stride'][i] + 1
            for i in range(2)]
    window = math.prod(f['kernel'])
    made = x[0] * (out or x[1]) * math.prod(size)
    if kind != 'conv2d':
        return math.prod(x), made, 0, made * window
    inside = x[1] // f.get('groups', [1])[0] * window
    return math.prod(x), made, out * inside, 2 * made * inside


def separable(channels, size, kernel, stride):
    """A depthwise convolution with TensorFlow's "same" padding."""
    total = max(0, (-(-size // stride) - 1) * stride + kernel - size)
    before, after = total // 2, total - total // 2
    pad = f'{before}x{before}' + (f'x{after}x{after}' if before != after else '')
    return (f'conv2d x=1x{channels}x{size}x{size} out={channels} kernel={kernel}x{kernel} '
            f'stride={stride}x{stride} pad={pad} groups={channels} dtype=fp32')


def efficientnet(width, depth, size):
    """The depthwise convolutions of an EfficientNet (Tan, Le 2019, table 1 and section 3.3)."""
    blocks = [(3, 1, 16, 1, 1), (3, 6, 24, 2, 2), (5, 6, 40, 2, 2), (3, 6, 80, 2, 3), (5, 6, 112, 1, 3),
              (5, 6, 192, 2, 4), (3, 6, 320, 1, 1)]

    def rounded(n):
        new = max(8, int(n * width + 4) // 8 * 8)
        return new + 8 if new < 0.9 * n * width else new

    channels, size, found = rounded(32), -(-size // 2), []
    for kernel, expand, out, stride, repeats in blocks:
        for i in range(math.ceil(repeats * depth)):
            step = stride if i == 0 else 1
            found.append(separable(channels * expand, size, kernel, step))
            size, channels = -(-size // step), rounded(out)
    return found


def depthwise():
    """Of MobileNet, MobileNetV2, Xception and EfficientNet B0 to B7; NASNet's, whose cells crop and
    pad as they go, are not among them."""
    found, size = [], 112
    for channels, stride in [(32, 1), (64, 2), (128, 1), (128, 2), (256, 1), (256, 2), (512, 1), (512, 2),
                             (1024, 1)]:
        found.append(separable(channels, size, 3, stride))
        size = -(-size // stride)
    channels, size = 32, 112
    for expand, out, repeats, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                         (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(repeats):
            step = stride if i == 0 else 1
            found.append(separable(channels * expand, size, 3, step))
            size, channels = -(-size // step), out
    for channels, size in [(64, 147), (128, 147), (128, 74), (256, 74), (256, 37), (728, 37), (728, 19),
                           (728, 10), (1024, 10), (1536, 10)]:
        found.append(separable(channels, size, 3, 1))
    for width, depth, size in [(1.0, 1.0, 224), (1.0, 1.1, 240), (1.1, 1.2, 260), (1.2, 1.4, 300),
                               (1.4, 1.8, 380), (1.6, 2.2, 456), (1.8, 2.6, 528), (2.0, 3.1, 600)]:
        found += efficientnet(width, depth, size)
    return list(dict.fromkeys(found))


def dilated():
    """The zoo dilates nothing: its convolutions with a window, stride 1, at dilation 2 and 4, padded
    to keep their size (the paper does not list what it took)."""
    found = []
    for spec in read_list('keras-conv.ops'):
        kernel = fields(spec)[1]['kernel']
        if math.prod(kernel) == 1 or ' stride=1x1 ' not in spec:
            continue
        for d in (2, 4):
            pad = 'x'.join(str(d * (k - 1) // 2) for k in kernel)
            found.append(re.sub(r'pad=\S+', f'pad={pad} dilation={d}x{d}', spec))
    return list(dict.fromkeys(found))


def dense():
    """The classifiers of the zoo, and layers between them in size."""
    sizes = [(1024, 1000), (1280, 1000), (1408, 1000), (1536, 1000), (1664, 1000), (1792, 1000),
             (1920, 1000), (2048, 1000), (2304, 1000), (2560, 1000), (4032, 1000), (1056, 1000),
             (25088, 4096), (4096, 4096), (4096, 1000)]
    units = [16, 32, 64, 100, 128, 200, 256, 384, 512, 700, 1024, 1500, 2048, 3000, 4096]
    sizes += [(a, b) for a in units for b in units]
    return [f'linear x=1x{a} out={b} bias=1 dtype=fp32' for a, b in sizes]


def lists():
    """-> {kind: specs at batch 1}"""
    pools = read_list('keras-pool.ops')
    return {'conv2d': read_list('keras-conv.ops'), 'depthwise': depthwise(), 'dilated': dilated(),
            'dense': dense(), 'maxpool2d': [p for p in pools if p.startswith('maxpool2d')],
            'avgpool2d': [p for p in pools if p.startswith('avgpool2d')]}


def at_batch(spec, batch):
    return spec.replace(' x=1x', f' x={batch}x', 1)


def with_batches(kind, specs):
    """In ascending order of batches."""
    every = [at_batch(s, b) for b in BATCHES.get(kind, [1, 2, 4, 8, 16]) for s in specs]
    most = MOST_FLOPS.get(kind, 3e9)
    return [s for s in every if extents(s)[3] <= most and extents(s)[0] <= 1 << 25]


def write_specs(path, specs):
    with open(path, 'w') as f:
        f.write('\n'.join(specs) + '\n')


def write_lists(out):
    os.makedirs(out, exist_ok=True)
    for kind, specs in lists().items():
        every = with_batches(kind, specs)
        write_specs(os.path.join(out, kind + '.1.ops'), specs)
        write_specs(os.path.join(out, kind + '.ops'), every)
        print(f'{kind}: {len(specs)} layers, {len(every)} with their batches')
    write_specs(os.path.join(out, 'layers.ops'), network_layers())
    write_network(os.path.join(out, 'darknet.onnx'))


# ---- the network of table 4 ----

# Filters and window of a convolution and whether it keeps its size; None: maximum pooling, 2 x 2.
NETWORK = [(32, 3, 0), None, (64, 3, 1), None, (128, 3, 1), (64, 1, 0), (128, 3, 1), None, (256, 3, 1),
           (128, 1, 0), (256, 3, 1), None, (512, 3, 0), (256, 1, 0), (512, 3, 0), (512, 1, 0),
           (512, 3, 0), None, (1000, 1, 0)]
NETWORK_BATCH = 16


def network_layers():
    """-> specs, in order"""
    channels, size, specs = 3, 224, []
    for layer in NETWORK:
        x = f'x={NETWORK_BATCH}x{channels}x{size}x{size}'
        if layer is None:
            specs.append(f'maxpool2d {x} kernel=2x2 stride=2x2 pad=0x0 dtype=fp32')
            size //= 2
            continue
        channels, kernel, same = layer
        specs.append(f'conv2d {x} out={channels} kernel={kernel}x{kernel} stride=1x1 '
                     f'pad={same}x{same} dtype=fp32')
        size += 2 * same + 1 - kernel
    return specs


def varint(n):
    out = b''
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def message(*pairs):
    """A protobuf message of (field, number, text, bytes or list of these)."""
    out = b''
    for field, value in pairs:
        for v in value if isinstance(value, list) else [value]:
            if isinstance(v, int):
                out += varint(field << 3) + varint(v)
            else:
                v = v.encode() if isinstance(v, str) else v
                out += varint(field << 3 | 2) + varint(len(v)) + v
    return out


def node(kind, inputs, output, **attributes):
    """Field numbers are those of onnx.proto3."""
    of = [message((1, name), (3, v), (20, 2)) if isinstance(v, int) else message((1, name), (8, v), (20, 7))
          for name, v in attributes.items()]
    return message((1, inputs), (2, output), (4, kind), (5, of))


def value(name, shape):
    dims = message((1, [message((1, n)) for n in shape]))
    return message((1, name), (2, message((1, message((1, 1), (2, dims))))))


def write_network(path):
    """All weights are 0: `foretell measure` puts its own in their place."""
    nodes, weights, channels, last = [], [], 3, 'x'
    for i, layer in enumerate(NETWORK):
        made = f't{i}'
        if layer is None:
            nodes.append(node('MaxPool', last, made, kernel_shape=[2, 2], strides=[2, 2]))
        else:
            out, kernel, same = layer
            shape = [out, channels, kernel, kernel]
            weights.append(message((1, shape), (2, 1), (8, f'w{i}'), (9, bytes(4 * math.prod(shape)))))
            nodes.append(node('Conv', [last, f'w{i}'], made, pads=[same] * 4, kernel_shape=[kernel] * 2))
            channels = out
        last = made
    nodes += [node('GlobalAveragePool', last, 'pooled'), node('Flatten', 'pooled', 'flat'),
              node('Softmax', 'flat', 'y', axis=1)]
    graph = message((1, nodes), (2, 'darknet'), (5, weights), (11, value('x', [NETWORK_BATCH, 3, 224, 224])),
                    (12, value('y', [NETWORK_BATCH, channels])))
    with open(path, 'wb') as f:
        f.write(message((1, 8), (8, message((2, 13))), (7, graph)))
