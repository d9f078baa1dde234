# Schedules: "default" leaves loops as topi writes them; "rules" inlines, tiles and shares out among
# threads by shape alone; "tuned" tries tiles on this machine.
import hashlib
import itertools
import multiprocessing
import os
import random
import re
import tempfile
import time

import numpy
import tvm
from tvm import s_tir

SEARCH_S = 60  # of the processor: the longest that tiles of one function are tried
REDUCE = 2  # iter_type of an axis that is summed over
LANES = 16


def extents(sch, block):
    """(loop, extent, is reduced) of each loop around a block."""
    types = [v.iter_type == REDUCE for v in sch.get(block).iter_vars]
    loops = sch.get_loops(block)
    if len(loops) != len(types):
        return []
    return [(loop, int(sch.get(loop).extent), reduced) for loop, reduced in zip(loops, types)]


def reduces(sch, block):
    return any(v.iter_type == REDUCE for v in sch.get(block).iter_vars)


def divisor(n, most, multiple=1):
    """The largest divisor of n up to `most` that is a multiple, else 1."""
    return max([d for d in range(multiple, min(n, most) + 1, multiple) if n % d == 0], default=1)


def inline(sch, root):
    """What is one expression of its operands, into what uses it once."""
    outputs = [sch.get(b).name_hint for b in sch.get_output_blocks(root)]
    for block in sch.get_child_blocks(root):
        stmt = sch.get(block)
        if reduces(sch, block) or stmt.name_hint in outputs:
            continue
        users = sch.get_consumers(block)
        padded = any(w in stmt.name_hint for w in ("pad", "dilat", "turned", "Dilat"))
        if len(users) == 1 and not (padded and reduces(sch, users[0])):
            try:
                sch.compute_inline(block)
            except s_tir.ScheduleError:
                pass


def share_out(sch, loops, shared):
    """Loops among threads, where there are several."""
    if shared and loops:
        sch.parallel(sch.fuse(*loops) if len(loops) > 1 else loops[0])


def schedule_elementwise(sch, block, shared):
    loops = [loop for loop, _, _ in extents(sch, block)]
    if len(loops) > 1:
        share_out(sch, loops[:-1], shared)


def contiguous_sum(sch, block):
    """Does every operand lie contiguous along the axis that is summed over last?"""
    stmt = sch.get(block)
    last = stmt.iter_vars[-1].var
    return all(r.region and r.region[-1].min.same_as(last) for r in stmt.reads)


def schedule_dot(sch, block, shared):
    """Partial sums in the lanes of a vector, then their sum."""
    loops = extents(sch, block)
    last, n, _ = loops[-1]
    lanes = divisor(n, LANES)
    if lanes < 4:
        share_out(sch, [loop for loop, _, reduced in loops if not reduced], shared)
        return
    _, inner = sch.split(last, [None, lanes])
    partial = sch.rfactor(inner, 0)
    all_loops = sch.get_loops(partial)
    spatial = len(loops) - sum(reduced for _, _, reduced in loops)
    # rfactor leaves the loops in the order outer spatial, outer reduced, lanes.
    sch.vectorize(all_loops[-1])
    sch.decompose_reduction(partial, all_loops[spatial])
    if spatial:
        sch.reverse_compute_at(block, all_loops[spatial - 1])
        share_out(sch, all_loops[:spatial], shared)


def tiled(sch, block):
    """The loops that a product's tiles are made of: (vector, width), rows or None, sums, the rest."""
    loops = extents(sch, block)
    spatial = [(loop, n) for loop, n, reduced in loops if not reduced]
    summed = [loop for loop, _, reduced in loops if reduced]
    # Convolutions share an operand along their channels (axis 1), products along their rows.
    share = 1 if len(summed) > 1 and len(spatial) > 2 else len(spatial) - 2
    while share > 0 and len(summed) == 1 and spatial[share][1] == 1:
        share -= 1
    return spatial, summed, share


def most_rows(columns):
    """Of a tile as wide as that: what registers hold."""
    return max(1, min(8, 256 // columns))


def usual_tile(width, height):
    """Whole vectors where the width has them, else what divides it, else all of it."""
    tile = divisor(width, 64, LANES)
    if tile == 1:
        tile = divisor(width, 32)
    if tile < 4:  # a fraction of a vector: rather 37 of 74 or 111
        tile = divisor(width, 64)
    if tile == 1 and width <= 512:
        tile = width
    return tile, divisor(height, most_rows(tile))


def schedule_product(sch, block, shared, tile=None):
    """Tiles of the last axis and of one before it, in registers over the sums."""
    if tile and len(tile) == 1:
        schedule_drawn(sch, block, shared, *tile)
        return
    spatial, summed, share = tiled(sch, block)
    vector, width = spatial[-1]
    rows_there = spatial[share][1] if share >= 0 else 1
    columns, height = tile or usual_tile(width, rows_there)
    columns, height = divisor(width, columns), divisor(rows_there, height)
    outer, inner = sch.split(vector, [None, columns])
    before, rows = [loop for loop, _ in spatial[:-1]], []
    if share >= 0 and height > 1:
        before[share], row = sch.split(spatial[share][0], [None, height])
        rows = [row]
    if len(summed) == 1 and before:  # a strip of columns stays in the cache while all rows pass it
        before.insert(share, outer)
    else:
        before.append(outer)
    sch.reorder(*before, *summed, *rows, inner)
    if rows:
        sch.unroll(rows[0])
    if columns >= 4 and divisor(columns, LANES) > 1:
        parts, lane = sch.split(inner, [None, divisor(columns, LANES)])
        sch.vectorize(lane)
        if columns <= 128:
            sch.unroll(parts)
    share_out(sch, before, shared)
    sch.decompose_reduction(block, summed[0])


def schedule_drawn(sch, block, shared, seed):
    """MetaSchedule's multi-level tiling, SSRSRS, with extents by its sampler."""
    levels = [[] for _ in "SSRSRS"]
    sch.seed(seed)
    for loop, _, reduced in extents(sch, block):
        at = (2, 4) if reduced else (0, 1, 3, 5)
        for level, part in zip(at, sch.split(loop, sch.sample_perfect_tile(loop, len(at), 32))):
            levels[level].append(part)
    sch.reorder(*sum(levels, []))
    sch.vectorize(levels[5][-1])
    for loop in levels[5][:-1]:
        sch.unroll(loop)
    share_out(sch, levels[0], shared)
    sch.decompose_reduction(block, levels[2][0])


def is_product(sch, block):
    loops = extents(sch, block)
    return (reduces(sch, block) and bool(loops) and not contiguous_sum(sch, block)
            and len(sch.get(block).reads) > 1 and not all(reduced for _, _, reduced in loops))


def pad_rows(sch, block):
    """Rows that no tile divides, as 197, would be taken one by one, each reading all of the other
    operand: rows of zeros make them a multiple."""
    spatial, summed, share = tiled(sch, block)
    if len(summed) != 1 or share < 0 or spatial[share][1] <= 2 * LANES:
        return
    columns, rows = usual_tile(spatial[-1][1], spatial[share][1])
    if 2 * rows < most_rows(columns):
        padding = [1] * len(extents(sch, block))
        padding[share] = most_rows(columns)
        sch.pad_einsum(block, padding)


def prepared(func):
    """A schedule with everything inlined that can be, rows of products padded."""
    sch = s_tir.Schedule(func)
    root = sch.get_sblock("root")
    inline(sch, root)
    for block in sch.get_child_blocks(root):
        if is_product(sch, block):
            try:
                pad_rows(sch, block)
            except s_tir.ScheduleError:
                pass  # operands that are no plain elements of it
    inline(sch, root)
    return sch


def schedule_block(sch, block, shared, tile=None):
    if not reduces(sch, block):
        schedule_elementwise(sch, block, shared)
    elif extents(sch, block) and contiguous_sum(sch, block):
        schedule_dot(sch, block, shared)
    elif is_product(sch, block):
        schedule_product(sch, block, shared, tile)
    else:  # a pool, a sum over an outer axis: loops that LLVM makes vectors of itself
        share_out(sch, [loop for loop, _, reduced in extents(sch, block) if not reduced][:-1], shared)


def by_rules(func, shared, tile=None):
    """The function scheduled; as it is where the rules do not fit. tile: of products (columns, rows), or
    the seed that a multi-level tiling is drawn with, else the usual."""
    sch = prepared(func)
    for block in sch.get_child_blocks(sch.get_sblock("root")):
        name = sch.get(block).name_hint
        tried = sch.copy()
        try:
            schedule_block(tried, tried.get_sblock(name), shared, tile)
        except (s_tir.ScheduleError, RuntimeError, ValueError, IndexError):
            continue
        sch = tried
    return sch.mod["main"]


# ---- tuned: tiles by trial ----

def first_product(func):
    """(schedule, block), or None."""
    sch = prepared(func)
    for block in sch.get_child_blocks(sch.get_sblock("root")):
        if is_product(sch, block):
            return sch, block
    return None


def tiles(func):
    """Every (columns, rows) that divides the first product's axes, in turn with seeds of multi-level ones."""
    product = first_product(func)
    if not product:
        return []
    spatial, _, share = tiled(*product)
    width, height = spatial[-1][1], spatial[share][1] if share >= 0 else 1
    usual = usual_tile(width, height)
    found = [(c, r) for c in range(1, min(width, 512) + 1) if width % c == 0
             for r in range(1, min(height, 16) + 1) if height % r == 0 and c * r <= 2048]
    random.Random(1).shuffle(found)
    tried = [usual] + [t for t in found if t != usual]
    return [way for seed, tile in enumerate(tried, 1) for way in (tile, (seed,))]


def seconds(func, target, linker, arguments, folder, hopeless, clock):
    """The least of 30 ms of runs; a first run that takes longer than `hopeless` is enough."""
    path = f"{folder}/{time.perf_counter_ns()}.so"
    build(tvm.IRModule({"main": func.with_attr("global_symbol", "main")}), target, linker, path)
    main = tvm.runtime.load_module(path)["main"]
    best, begin = float("inf"), clock()
    for run in itertools.count():
        before = clock()
        main(*arguments)
        now = clock()
        best = min(best, now - before)
        if best > hopeless or (run and now > begin + 0.03):
            return best


def search(func, target, linker, trials, shared, answer):
    """Sends every tile that is better than those before it, until the time is over. What others have
    the processor for is no tile's time: one thread's own is taken where there is but one."""
    clock = time.perf_counter if shared else time.thread_time
    arguments = [tvm.runtime.tensor(numpy.ones([int(d) for d in b.shape], str(b.dtype)))
                 for b in func.params]
    best = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        for tile in tiles(func)[:trials]:
            took = seconds(by_rules(func, shared, tile), target, linker, arguments, folder, 3 * best, clock)
            if took < best:
                best = took
                answer.send(tile)
            if time.process_time() > SEARCH_S:
                break


def best_tile(func, target, linker, trials, shared):
    """By trial, in a process of its own: what breaks ends the search, with the best tile until then."""
    mine, its = multiprocessing.Pipe(False)
    worker = multiprocessing.get_context("fork").Process(
        target=search, args=(func, target, linker, trials, shared, its))
    worker.start()
    its.close()
    tile = None
    try:
        while True:
            tile = mine.recv()
    except EOFError:
        worker.join()
    return tile


def described(sch, block):
    """A product's loops and where it reads its operands, whatever axes and operands are called."""
    stmt = sch.get(block)
    axes = {v.var.name: f"v{i}" for i, v in enumerate(stmt.iter_vars)}

    def plain(read):
        index = re.sub(r"T\.int(?:32|64)\((\d+)\)", r"\1", str(read).partition("[")[2])
        return re.sub(r"[^\W\d]\w*", lambda word: axes.get(word[0], word[0]), index)
    return [e[1:] for e in extents(sch, block)], [plain(read) for read in stmt.reads]


def tuned(func, target, linker, trials, shared, folder):
    """A product is searched once: alone, and in every network that has it, it gets the same tile."""
    product = first_product(func)
    if not product:
        return by_rules(func, shared)
    what = [str(target), tiles(func)[:trials], shared, described(*product)]
    known = os.path.join(folder, hashlib.sha256(repr(what).encode()).hexdigest()[:32] + ".tile")
    if not os.path.exists(known):
        tile = best_tile(func, target, linker, trials, shared)
        if not tile:
            return by_rules(func, shared)
        with open(f"{known}.{os.getpid()}", "w", encoding="ascii") as f:
            f.write("x".join(map(str, tile)))
        os.replace(f.name, known)
    with open(known, encoding="ascii") as f:
        return by_rules(func, shared, tuple(map(int, f.read().split("x"))))
