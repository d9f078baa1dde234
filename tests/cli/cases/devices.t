  $ foretell devices a30 l4 nosuch 2>&1 | cut -c 1-60
  foretell devices: no device "nosuch", and none with a name l
  $ foretell devices a30 l4 nosuch 2>/dev/null
  [4]
  $ foretell devices h100 "RTX 4090" --json -q | pick 0.name 1.name
  0.name: "h100-sxm"
  1.name: "rtx-4090"
  $ foretell devices h100 2>&1 >/dev/null
  warning: h100 is h100-sxm (there are h100-nvl, h100-pcie, h100-sxm)
  $ foretell devices a30 h100-sxm
  name      device                  cores  TFLOP/s fp32   fp16  GB/s    memory    TDP
  -----------------------------------------------------------------------------------
  a30       NVIDIA A30                 56          10.3    165   933  24.0 GiB  165 W
  h100-sxm  NVIDIA H100 SXM5 80 GB    132            67  989.4  3350  79.6 GiB  700 W
  
  cores: of a GPU, its streaming multiprocessors or compute units; - is not known.
  local is this machine: its rates are measured by foretell collect.

  $ foretell devices a30 --csv
  name,title,vendor,type,cores,base_clock_hz,boost_clock_hz,memory_clock_hz,peak_fp64,peak_fp32,peak_tf32,peak_fp16,peak_bf16,peak_fp8,peak_fp4,peak_int8,bandwidth_bytes_per_s,memory_bytes,inline_ecc,l2_bytes,l3_bytes,shared_memory_per_core_bytes,tdp_w,process_nm,compute_capability,year,link_bytes_per_s,link_devices,drawing_tdp_w,launch_factor
  a30,NVIDIA A30,NVIDIA,gpu,56,930000000,1440000000,1215000000,5200000000000,10300000000000,82000000000000,165000000000000,165000000000000,,,330000000000000,933000000000,25769803776,,25165824,,167936,165,7,8,2021,,,,
  $ foretell devices a30 local --json | pick \# 0.name 0.peak_fp32 1.name 1.type
  #: 2
  0.name: "local"
  0.peak_fp32: null
  1.name: "a30"
  1.type: "gpu"
  $ foretell devices --json | pick 0.name > local; cat local
  0.name: "local"
  $ foretell devices --data-dir nowhere
  foretell devices: there are no device files in nowhere/devices; is this foretell's data folder?
  [4]

A data sheet's rate of numbers of 4 bits counts where it is known, so that a product of a B300 is faster than a B200's:
  $ echo 'linear x=8192x8192 out=8192 dtype=fp4' > fp4.ops
  $ for d in b300 b200; do foretell predict fp4.ops --device $d --method roofline --run-mode graph --json | pick time.value; done
  time.value: 8.3772314497219e-05
  time.value: 0.000122167958641778

A host in one module with its device issues at its own pace, which the answer says; a launch time that is given replaces it, and a CUDA graph is one launch:
  $ foretell devices gh200 | grep launches
  gh200: its host's launches take 2.6 times those of an x86 server's
  $ for d in h100-sxm gh200; do for how in eager graph "eager --launch-time 5us"; do foretell predict data/models/resnet18.onnx --device $d --method physics --json -q --run-mode $how > "$d $how"; done; done
  $ cat > compare.py <<'END'
  > import json
  > def of(device, how):
  >     return json.load(open(f"{device} {how}"))
  > for how in ("eager", "eager --launch-time 5us", "graph"):
  >     module, server = of("gh200", how), of("h100-sxm", how)
  >     print(how, "%.2f" % (module["host_s"] / server["host_s"]))
  >     for a in (module, server):
  >         said = [x for x in a["assumptions"] if x.startswith("host")]
  >         reach = [a["time"][end] / a["time"]["value"] for end in ("low", "high")]
  >         print("  %.2f to %.2f" % tuple(reach), "%.0f W" % a["power"]["value"], *said)
  > END
  $ python3 compare.py
  eager 2.60
    0.35 to 2.36 150 W host of gh200: launches take 2.6 times those of an x86 server's; --launch-time replaces it
    0.35 to 2.36 177 W
  eager --launch-time 5us 1.00
    0.80 to 1.64 291 W
    0.80 to 1.64 289 W
  graph 1.00
    0.72 to 1.41 330 W
    0.72 to 1.41 328 W

Modules for robots issue at the pace of their small CPUs: PyTorch in fp16 takes 7.41, 17.6 and 14 ms (torch2trt's benchmarks).
  $ for of in "agx-xavier squeezenet1_1.onnx" "agx-xavier resnet50.pt2" "nano squeezenet1_1.onnx"; do set -- $of; foretell predict data/models/$2 --device jetson-$1 --dtype fp16 --run-mode eager --method physics --json -q | pick time.value; done | cut -c 1-18
  time.value: 0.0068
  time.value: 0.0189
  time.value: 0.0141

A Raspberry Pi 4 moves half of what its memory's data sheet says: MobileNetV2 takes 44 ms by XNNPACK.
  $ foretell predict data/models/mobilenet_v2.onnx --device raspberry-pi-4 --json -q | pick time.value | cut -c 1-17
  time.value: 0.035

A device of one's own is a file in a copy of the data folder.
  $ mkdir -p my-data/devices; sed 's/^title.*/title: My board/; /^aliases/,$d' data/devices/raspberry-pi-5.yaml > my-data/devices/my-board.yaml
  $ for t in 1 4; do foretell predict data/models/resnet18.onnx --data-dir my-data --device "My Board" --threads $t --json | pick device time.value | cut -c 1-18; done
  device: "my-board"
  time.value: 0.1030
  device: "my-board"
  time.value: 0.0277
  $ sed -i '/^bandwidth/d' my-data/devices/my-board.yaml; foretell predict data/models/resnet18.onnx --data-dir my-data --device my-board
  foretell predict: my-board: its file does not say "bandwidth", which an estimate needs
  [4]

Memory that a name leaves out, and short names.

  $ for d in 'H100 80GB' h100-94gb '4090 24GB' 'RTX 3060 8GB' 7900xtx 'Orin NX'; do foretell devices "$d" -q 2>&1 | grep -oE '^[a-z0-9]+-[a-z0-9-]+|no device "[^"]*"' | uniq; done
  h100-sxm
  h100-nvl
  rtx-4090
  no device "RTX 3060 8GB"
  rx-7900-xtx
  jetson-orin-nx-16gb
