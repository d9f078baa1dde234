What was measured on two devices (with the fake engine, under their names) answers for
them and for others.

  $ foretell collect --engine fake data/models/resnet18.onnx data/models/mobilenet_v2.onnx --db here.db -q > /dev/null
  > foretell data export --db here.db -o here.csv
  > for d in a30:1 t4:2; do python3 -c "
  > import csv, sys
  > name, factor = sys.argv[1].split(':')
  > rows = csv.DictReader(sys.stdin)
  > out = csv.DictWriter(sys.stdout, rows.fieldnames); out.writeheader()
  > for row in rows:
  >     row['device'] = name
  >     if row['metric'] == 'time':
  >         for k in ('value', 'error', 'mad', 'mean', 'std'):
  >             row[k] = row[k] and repr(float(row[k]) * float(factor))
  >     out.writerow(row)" $d < here.csv > ${d%:*}.csv; done
  > foretell data import a30.csv t4.csv --db both.db > /dev/null
  > foretell train --family --db both.db -o both.ftp > /dev/null; ls both.ftp
  both.ftp
  $ printf '#!/bin/sh\nexec foretell predict data/models/resnet18.onnx --predictor both.ftp "$@"\n' > ask; chmod +x ask
  $ ./ask --device a30 --json | pick time.basis family ops.0.time.basis lower_bound
  time.basis: "learned"
  family: "both.ftp"
  ops.0.time.basis: "learned"
  lower_bound: false
  $ ./ask --device l4 --json | pick time.basis family ops.0.time.basis
  time.basis: "scaled"
  family: "both.ftp"
  ops.0.time.basis: "scaled"
  $ ./ask --device a30,l4 --clocks 600,900 | blur
  resnet18.onnx
  assumed: batch 1 (the model leaves it open; --batch N sets it)
  assumed: inference, one forward pass at a time, fp32
  assumed: memory as PyTorch allocates it, operation by operation
  
  device  clock  time  low  high  power  energy  memory  fits  basis
  ----
  a30  600 MHz  # s  # s  # s  48.4 W  7.08 J  # B  yes  scaled
  a30  900 MHz  # s  # s  # s  55.0 W  5.96 J  # B  yes  scaled
  l4  600 MHz  # s  # s  # s  19.8 W  33.8 mJ  # B  yes  scaled
  l4  900 MHz  # s  # s  # s  22.2 W  31.7 mJ  # B  yes  scaled
  least energy on a30: at 900 MHz, # % of the energy and # % of the time at 900 MHz
  least energy on l4: at 900 MHz, # % of the energy and # % of the time at 900 MHz
  - is not known; asked about one device alone, foretell says why
  
  $ ./ask --device l4 --top 1 | grep -E 'learned from|interval' | blur
  learned from several devices, l4 not among them: both.ftp
  low .. high is a # % interval; 24 unique operations: 1 measured, 0 learned, 23 scaled, 0 roofline
  $ ./ask --device local 2>&1 | head -1 | cut -c 1-60
  foretell predict: there is no predictor for this machine yet
  $ foretell rank data/models/resnet18.onnx --predictor both.ftp --devices a30,t4,l4 | blur | grep -E '^[0-9]|best'
  1  l4  # s  # s  # s  55.2 mJ  # B  *  # %  scaled
  2  a30  # s  # s  # s  7.99 J  # B  # %  learned
  3  t4  # s  # s  # s  12.8 J  # B  # %  learned
  best: l4

Without being named it is found where train leaves it, unless a method is asked for.

  $ foretell train --family --db both.db > /dev/null
  $ foretell predict data/models/resnet18.onnx --device l4 --json | pick family | sed 's|"/.*/\([^/]*\)"|\1|'
  family: family.ftp
  $ foretell predict data/models/resnet18.onnx --device l4 --method physics --json | pick family
  family: null
