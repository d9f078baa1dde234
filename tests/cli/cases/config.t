Language models from the config.json of Hugging Face: one step, with keys and values in a cache.

  $ foretell ops examples/llm/llama-3-8b.json --batch 16 --dim context=2048 --top 6 | grep -v '^warning'
  assumed: one step: tokens=1 new of each sequence, context=2048 in the cache, batch 16 (--dim tokens=N, --dim context=N, --batch N)
  llama-3-8b.json: one forward pass; a multiply-accumulate is 2 FLOPs; parameters that are shared count once in the sum
  
  operation                                                           count     GFLOP  MiB read  MiB written  parameters
  ----------------------------------------------------------------------------------------------------------------------
  linear x=16x4096 out=6144 dtype=bf16                                   32   25.7698   1540.00         6.00   805306368
  attention x=16x32x1x128 y=16x8x2048x128 z=16x8x2048x128 dtype=bf16     32   17.3812   4100.00         4.00           0
  linear x=16x4096 out=4096 dtype=bf16                                   32   17.1799   1028.00         4.00   536870912
  linear x=16x4096 out=28672 dtype=bf16                                  32  120.2591   7172.00        28.00  3758096384
  linear x=16x14336 out=4096 dtype=bf16                                  32   60.1295   3598.00         4.00  1879048192
  linear x=16x4096 out=128256 dtype=bf16                                  1   16.8108   1002.12         3.91   525336576
  14 others, lighter (--top 20 lists all)                               516    0.0902     73.76        51.25   525602816
  ----------------------------------------------------------------------------------------------------------------------
  20 unique                                                             677  257.6204  18513.88       101.16  8030261248
  
  memory at its peak: 19.0 GiB = weights 15.0 GiB + inputs 4.00 GiB + activations 4.04 MiB; 4.00 GiB of the inputs are the KV cache
  activations and inputs at planned offsets: 4.00 GiB
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --run-mode graph --batch 16 --dim context=2048 | head -22
  llama-3-8b.json on h100-sxm: NVIDIA H100 SXM5 80 GB
  assumed: one step: tokens=1 new of each sequence, context=2048 in the cache, batch 16 (--dim tokens=N, --dim context=N, --batch N)
  assumed: inference, one forward pass at a time, bf16
  assumed: replayed as a CUDA graph: --run-mode eager has the host's time in it
  assumed: memory as PyTorch allocates it, operation by operation
  
  of one pass    estimate       low      high  basis
  ---------------------------------------------------
  time            8.46 ms   7.15 ms   10.0 ms  scaled
  energy           3.81 J    2.69 J    5.41 J  scaled
  power             451 W     318 W     639 W  scaled
  peak memory    19.5 GiB  18.6 GiB  24.3 GiB  scaled
    weights      15.0 GiB
    KV cache     4.00 GiB
    inputs          128 B
    activations  7.95 MiB
    workspace    32.0 MiB
    process       512 MiB
  fits in the device's 79.6 GiB: yes, 60.2 GiB to spare
  the host issues everything in 18.0 us, the device executes it in 8.44 ms: the device sets the time
  learned from several devices, h100-sxm among them: SOURCE/data/predictors/llm.ftp
  low .. high is a 90 % interval; 20 unique operations: 0 measured, 6 learned, 8 scaled, 0 roofline, the others take no time
  $ foretell predict examples/llm/llama-3-8b.json --device a100-sxm-80gb --run-mode graph --dim tokens=2048 -q | grep -E 'assumed: one|^time'
  assumed: one step: tokens=2048 new of each sequence, context=2048 in the cache, batch 1 (--dim tokens=N, --dim context=N, --batch N)
  time             139 ms    118 ms    164 ms  learned
  $ foretell predict examples/llm/llama-3-8b.json --device a100-sxm-80gb --run-mode cudagraphs -q | grep 'CUDA graph'
  assumed: it writes inputs (a cache of keys and values), so that PyTorch replays no CUDA graph of it: each operation is issued
  $ foretell predict examples/llm/llama-3-8b.json --device l4 --run-mode graph --dim context=8192 --max-batch -q | grep largest
  largest batch that fits: 7
  $ foretell predict examples/llm/llama-3-8b.json --device l4 --run-mode graph --dim context=8192 --batch 2 --max-batch -q | tail -2
  a server's 20.2 GiB (90 % of the device): weights 15.0 GiB, activations 454 MiB, libraries 614 MiB, cache 4.24 GiB
  it holds 34761 tokens: 4.24 requests of 8192 tokens, or 2 of 17376
  $ foretell predict examples/llm/llama-3-8b.json --device l4 --run-mode graph --dim tp=2 --dim pp=2 --dim kv_bits=8 --max-batch -q --json | pick server.weights server.context server.concurrency server.most
  server.weights: 4015267840.0
  server.context: 4096
  server.concurrency: 1
  server.most: "cache"
  $ mkdir 8B-NVFP4; cp examples/llm/llama-3-8b.json 8B-NVFP4/config.json; for d in batch=1 "dim weight_bits=4"; do foretell ops 8B-NVFP4 --$d --top 1 2>&1 | grep path; done
  assumed: weights in bf16: the configuration says no other type, though its path has "nvfp4": --precision fp4
  [1]
  $ for d in rawqwen gptq-user/8B/it Qwen-AWQ; do mkdir -p $d; cp examples/llm/llama-3-8b.json $d/config.json; foretell ops $d --top 1 2>&1 | grep path; done
  assumed: weights in bf16: the configuration says no other type, though its path has "awq": quantization_config of the checkpoint is missing
  $ for d in "" "--dim lora=16"; do foretell ops 8B-NVFP4 --mode training --dim train=1 --dim tokens=16 $d --top 1 2>&1 | grep path; done
  assumed: weights in bf16: the configuration says no other type, though its path has "nvfp4": --precision fp4
  $ foretell rank 8B-NVFP4 --devices h100-sxm --tp 1 --concurrency 1 --prompt 512 --generate 32 -q | grep -c path; foretell predict 8B-NVFP4 --device h100-sxm,l4 --prompt 512 --generate 32 -q | grep -c path
  1
  1
  $ foretell ops examples/llm/llama-3-8b.json --dim tp=4 --dim ep=4
  foretell ops: llama-3-8b.json: ep=4: the model has no experts
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device l4 --run-mode graph --dim tp=2 -q | grep -E 'assumed: one|^peak|weights'
  assumed: one step: tokens=1 new of each sequence, context=1024 in the cache, batch 1 (--dim tokens=N, --dim context=N, --batch N)
  assumed: one of 2 ranks of tensor parallelism
  peak memory    8.05 GiB  7.54 GiB  10.6 GiB  scaled
    weights      7.48 GiB

A folder has it in its config.json; what is not known is named.

  $ mkdir model; cp examples/llm/llama-3-8b.json model/config.json
  $ foretell ops model -q --json | pick model parameters
  model: "model"
  parameters: 8030261248.0
  $ (printf '\357\273\277'; cat examples/llm/llama-3-8b.json) > marked.json; foretell ops marked.json -q --json | pick parameters
  parameters: 8030261248.0
  $ foretell predict marked.json --device h100-sxm --concurrency 4 --json -q | pick fits
  fits: true
  $ sed 's/"model_type": "llama"/"model_type": "new", "ssm_state_size": 128/' model/config.json > new.json
  $ foretell predict new.json --device l4
  foretell predict: new.json: "ssm_state_size" is of layers, but which of them is not said in a way that is known
  [3]
  $ foretell predict examples/llm/llama-3-8b.json --device l4 --dim tp=3
  foretell predict: llama-3-8b.json: tp=3 does not divide the 32 heads; tp=1, 2, 4, 8, 16, 32 would
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device l4 --tp 3 --concurrency 4
  foretell predict: llama-3-8b.json: tp=3 does not divide the 32 heads; tp=1, 2, 4, 8, 16, 32 would
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device l4 --dim sequence=3
  foretell predict: llama-3-8b.json: --dim sequence=3: no input has an open dimension of that name; there is tokens, context, tp, ep, pp, dp, node, mtp, train, lora, lora_attention, scores, unfused, once, kv_bits, weight_bits
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device l4 --dim train=1 --dim train=1
  foretell predict: llama-3-8b.json: --dim train=1: it is said twice
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device l4 --mode training
  foretell predict: llama-3-8b.json: a step with a cache of keys and values is not trained; export the module itself for --mode training; a config.json is trained by --gpus N, or as one step by --dim train=1
  [4]
  $ for e in 's/"num_hidden_layers": 32/"num_hidden_layers": 0/' 's/"hidden_size": 4096/"hidden_size": "4096"/' 's/"num_key_value_heads": 8/"num_key_value_heads": 7/'; do sed "$e" examples/llm/llama-3-8b.json > c.json; foretell ops c.json; done
  foretell ops: c.json: no configuration of a language model: it lacks a number above 0 for "num_hidden_layers"
  foretell ops: c.json: no configuration of a language model: it lacks a number above 0 for "hidden_size"
  foretell ops: c.json: 32 attention heads cannot share 7 of keys and values
  [3]
  $ foretell predict examples/llm/llama-3-8b.json --device l4 --mode training --dim train=1 --dim tokens=512 --dim once=1
  foretell predict: llama-3-8b.json: --dim once=1: 0, 1 or 2, and steps that train go without it
  [2]
  $ cat examples/llm/llama-3-8b.json | foretell predict /dev/stdin --device l4 -q | grep -c '^time'
  1
  $ cat examples/llm/llama-3-8b.json | foretell predict /dev/stdin --device l4 --prompt 128 -q
  foretell predict: /dev/stdin: nothing comes out of it; where a model is read more than once it is a file, no pipe
  [3]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --prompt 128 --generate 32 --concurrency 4 -q --dim once=1 | grep -c '^time'
  2
  $ printf '{"model_type":"gpt2","hidden_size":64,"n_layer":12,"n_head":4,"vocab_size":100}' > gpt.json; foretell predict gpt.json --device h100-sxm --run-mode eager --dim once=1 --dim context=64 -q | tail -1
  verify on that device: foretell measure gpt.json --engine torch,device=cuda --dim context=64
  $ foretell measure gpt.json --engine fake --dim once=1 --dim context=64
  foretell measure: gpt.json: with --dim once its layers are counted and not all there: it is for predictions
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device b200 --mode training --dim train=1 --dim tokens=512 -q | grep -m1 sequence
  assumed: whole sequences of tokens=512, without a cache, batch 1 (--dim tokens=N, --batch N)

A step of the model at another precision, and one of several ranks: as dimensions have it.

  $ for p in bf16 fp8 fp4; do foretell predict examples/llm/llama-3-8b.json --device h100-sxm --run-mode graph --precision $p --batch 16 --dim context=4096 --json -q | pick memory.weights; done
  memory.weights: 16060522496.0
  memory.weights: 9081200640.0
  memory.weights: 6027747328.0
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --run-mode graph --precision fp8 --tp 2 --batch 16 --json -q > options; foretell predict examples/llm/llama-3-8b.json --device h100-sxm --run-mode graph --dim weight_bits=8 --dim tp=2 --batch 16 --json -q > dims; cmp options dims
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --tp 2 --dim tp=2 --batch 16
  foretell predict: --dim tp says what another option says
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --precision bf16,fp8 --batch 16
  foretell predict: a step has one --tp and one --precision
  [2]
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm,l4 --precision fp8 --dim context=4096 --run-mode graph -q | grep -c 'l4\|h100-sxm'
  3

Weights of another type are said beside the type of what is computed.

  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --precision fp8 --batch 4 -q | grep 'at a time'
  assumed: inference, one forward pass at a time, fp8e4m3 and bf16
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --precision fp8 --dim context=100000 -q | grep 'at a time'
  assumed: inference, one forward pass at a time, bf16 and fp8e4m3
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --precision bf16 --batch 4 -q | grep 'at a time'
  assumed: inference, one forward pass at a time, bf16

What is not said of feed-forward layers is assumed, and so said, of a step as of a load; a step of 20 days has days.

  $ echo '{"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 16, "vocab_size": 32000}' > narrow.json
  $ foretell predict narrow.json --device a100-sxm-80gb -q | grep feed-forward
  assumed: feed-forward layers of 4 times hidden_size: nothing says their width ("intermediate_size")
  $ foretell predict narrow.json --device a100-sxm-80gb --concurrency 2 --num-requests 4 -q | grep feed-forward
  assumed: feed-forward layers of 4 times hidden_size: nothing says their width ("intermediate_size")
  $ foretell predict examples/llm/llama-3-8b.json --device a100-sxm-80gb --concurrency 2 --num-requests 4 -q | grep -c feed-forward
  0
  [1]
  $ echo 'matmul x=16384x16384 y=16384x16384 dtype=fp64 *26000' | foretell predict - --device t4 --method physics -q | grep ^time
  time           19.6 days  10.7 days  35.6 days  scaled

Served on several devices: the requests first.

  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm,l4 --prompt 512 --generate 16 --concurrency 4 | head -1
  assumed: 40 requests of 512 tokens that generate 16 (within 5 %), 4 under way, each followed by the next
