Where nothing was made yet the doctor says what makes it.

  $ foretell doctor --json | pick store.usable store.state predictor.usable predictor.state store.path
  store.usable: false
  store.state: "not there yet: foretell collect --quick makes it"
  predictor.usable: false
  predictor.state: "not there yet: foretell train makes it"
  store.path: "HOME/.local/share/foretell/measurements.db"
  $ foretell doctor | grep -A 4 '^files'
  files
    data                 SOURCE/data
    measurements         HOME/.local/share/foretell/measurements.db
                         not there yet: foretell collect --quick makes it
    predictor            HOME/.local/share/foretell/local-onednn.ftp
  $ env -u HOME foretell doctor --json | pick store.state predictor.state
  store.state: "HOME is not set: foretell collect --quick --db FILE"
  predictor.state: "HOME is not set: foretell train --db FILE --out FILE.ftp"
  $ env -u HOME foretell predict models/sequence.onnx --dim seq=64 --device local
  foretell predict: no folder with a predictor for this machine is known (HOME is not set, or the program gave none); two commands make one, for --predictor this.ftp:
    foretell collect --quick --engine onednn --db this.db
    foretell train --engine onednn --db this.db --out this.ftp
  [4]
  $ foretell doctor --json | pick engines.0.name engines.0.usable machine.fingerprint
  engines.0.name: "fake"
  engines.0.usable: true
  machine.fingerprint: "THIS-MACHINE"
  $ foretell doctor --plugin-dir nowhere | grep -A 1 '^engines'
  engines in nowhere
    none: build with libdnnl-dev installed, or say --plugin-dir DIR
  $ foretell doctor --plugin-dir nowhere > /dev/null
  [1]

What would be ignored is refused.

  $ foretell doctor --trace 5s
  foretell doctor: --trace is for --record DIR
  [2]
  $ foretell doctor --record here --power nvml
  foretell doctor: --record and --power exclude each other
  [2]
