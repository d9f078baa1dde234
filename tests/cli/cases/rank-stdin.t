Many networks as lists of operations on standard input, each behind a line that names it.

  $ cat >nets <<'END'
  > --- wide
  > conv2d x=1x3x224x224 out=64 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32
  > relu x=1x64x112x112 dtype=fp32
  > linear x=1x1024 out=1000 dtype=fp32 *4
  > --- broken
  > relu x=1x64x112x112 dtype=fp32
  > relo x=1
  > --- deep  
  > # a comment
  > conv2d x=1x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32 *50
  > relu x=1x64x56x56 dtype=fp32 *50
  > ---
  > relu x=1x64x56x56 dtype=fp32 *3
  > END
  $ foretell rank --stdin --devices a30 <nets
  3 networks by time on a30: 3 placed, 0 over a limit, 0 too large, 0 not known
  
  #  network     time   energy   memory
  ----------------------------------------
  1  4        50.7 us  2.05 mJ  514 MiB  *
  2  wide      236 us  20.3 mJ  542 MiB
  3  deep     2.72 ms   176 mJ  521 MiB
  
  *: Pareto-optimal in time, energy and memory
  foretell rank: network 2 (broken) is skipped: list: line 2: unknown operation "relo"
  [3]
  $ foretell rank --stdin --devices a30 -q <nets 2>/dev/null >/dev/null
  [3]
  $ foretell rank --stdin --devices a30,l4 --by energy --limit time=1ms --top 3 <nets 2>/dev/null
  3 networks by energy on a30, l4: 4 placed, 2 over a limit, 0 too large, 0 not known
  
  #  network  device     time   energy   memory
  ------------------------------------------------
  1  4        l4      50.5 us  1.52 mJ  514 MiB  *
  2  4        a30     50.7 us  2.05 mJ  514 MiB
  3  wide     l4       234 us  10.1 mJ  542 MiB
  
  *: Pareto-optimal in time, energy and memory
  [3]
  $ foretell rank --stdin --devices a30,l4 --by energy --limit time=1ms --csv <nets 2>/dev/null | cut -d , -f 1-4,9-10
  place,network,device,state,pareto,why
  4,wide,a30,placed,0,
  3,wide,l4,placed,0,
  ,broken,a30,bad,0,"list: line 2: unknown operation ""relo"""
  ,broken,l4,bad,0,"list: line 2: unknown operation ""relo"""
  ,deep,a30,over limit,0,
  ,deep,l4,over limit,0,
  2,4,a30,placed,0,
  1,4,l4,placed,1,
  $ foretell rank --stdin --devices a30 --by edp --json <nets 2>/dev/null | pick networks placed skipped.0.number skipped.0.network best.0.network
  networks: 4
  placed: 3
  skipped.0.number: 2
  skipped.0.network: "broken"
  best.0.network: "4"

Names of files are no lists.

  $ printf 'a.onnx\nb.onnx\n' | foretell rank --stdin --devices a30
  foretell rank: network 1 (1) is skipped: list: line 1 is the name of a file, not an operation: foretell ops FILE --list gives those of a model
  [3]

Each is what predict says of it alone.

  $ sed -n '/deep/,/---$/p' nets | grep -v -e --- | foretell predict - --device a30 --json | pick time.value memory.total.value
  time.value: 0.00272255082896786
  memory.total.value: 545849344.0
  $ foretell rank --stdin --devices a30 --json <nets 2>/dev/null | pick best.2.network best.2.time_s best.2.memory_bytes
  best.2.network: "deep"
  best.2.time_s: 0.00272255082896786
  best.2.memory_bytes: 545849344.0

One without a name is called by its number; nothing behind the last line is no network.

  $ printf 'relu x=8x8 dtype=fp32\n---\n' | foretell rank --stdin --devices l4 --csv 2>/dev/null | cut -d , -f 1-4
  place,network,device,state
  1,1,l4,placed
  ,2,l4,bad
  $ foretell rank --stdin --devices l4 --limit time=1us <nets >/dev/null 2>&1
  [3]
  $ printf 'relu x=8x8 dtype=fp32\n' | foretell rank --stdin --devices l4 --limit time=1us | head -1
  1 network by time on l4: 0 placed, 1 over a limit, 0 too large, 0 not known
  $ printf 'relu x=8x8 dtype=fp32\n' | foretell rank --stdin --devices l4 --limit time=1us -q >/dev/null
  [1]

Mistakes, and what is not known.

  $ foretell rank --stdin --devices l4 </dev/null
  foretell rank: standard input holds no network
  [3]
  $ foretell rank --stdin <nets
  foretell rank: --stdin wants --devices with names that foretell devices lists
  [2]
  $ foretell rank
  foretell rank: MODEL is missing: foretell rank MODEL, or --stdin
  [2]
  $ foretell rank model.onnx --stdin <nets
  foretell rank: --stdin or MODEL, not both
  [2]
  $ foretell rank --stdin --devices local <nets
  foretell rank: --stdin: networks are ranked by families of devices and data sheets; local has neither
  [2]
  $ foretell rank --stdin --devices a30 --batches 1,2 <nets
  foretell rank: --stdin: lists of operations have their sizes in their lines: --batches does not apply
  [2]
  $ foretell rank --stdin --devices a30 --method roofline <nets
  foretell rank: --stdin: --method is physics, or left out
  [2]
  $ foretell rank --stdin --devices iphone-6,l4 --top 1 <nets
  3 networks by time on iphone-6, l4: 3 placed, 0 over a limit, 0 too large, 3 not known
  
  #  network  device     time   energy   memory
  ------------------------------------------------
  1  4        l4      50.5 us  1.52 mJ  514 MiB  *
  
  *: Pareto-optimal in time, energy and memory
  foretell rank: network 2 (broken) is skipped: list: line 2: unknown operation "relo"
  foretell rank: iphone-6: its file does not say "peak_fp32", which an estimate needs
  [3]
