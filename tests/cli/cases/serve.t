Language models that are served: continuous batching, by the steps that predict answers.

  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --prompt 512 --generate 32 --concurrency 4 --price h100=2.49/h -q > one; grep -E '^(examples|assumed|of |time to|tokens|energy|cost|  of|verify)' one | sed -E 's/[0-9.]+ [um]?[sJ]\b/N/g; s/ {2,}[0-9.]+/  N/g; s/ {2,}/  /g; s/ (learned|scaled|measured)$/ B/'
  examples/llm/llama-3-8b.json on 1 x h100-sxm: NVIDIA H100 SXM5 80 GB
  assumed: 40 requests of 512 tokens that generate 32 (within 5 %), 4 under way, each followed by the next
  assumed: steps of at most 8192 tokens, prompts in chunks, replayed as CUDA graphs, and N of the host between two (--step-overhead)
  assumed: requests that begin together may stay together: low .. high has both
  assumed: steps err alike: low .. high is the run with every step at its low or high end
  of a request  mean  low  high  p50  p90  p95  p99
  time to first token  N  N  N  N  N  N  N
  of all  estimate  low  high  basis
  tokens/s  N  N  N  B
    of a user  N  N  N  B
    of a device  N  N  N  B
  energy of a token  N  N  N  B
  cost of 1e6 tokens  N  N  N  B
  verify on those devices: vllm serve MODEL --tensor-parallel-size 1 --max-num-batched-tokens 8192 & vllm bench serve --model MODEL --dataset-name random --random-input-len 512 --random-output-len 32 --random-range-ratio 0.05 --num-prompts 40 --max-concurrency 4 --ignore-eos --percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,90,95,99 --save-result

What is assumed of the model is that of the question:

  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm,l4 --prompt 512 --generate 32 --num-requests 8 --tp 2 -q --json | grep -oE 'one (of|step).*'
  one of 2 ranks of tensor parallelism"
  one of 2 ranks of tensor parallelism"

Another engine is started otherwise, and asked alike; one that is no server is not:

  $ for e in sglang trtllm 'trtllm --gpu-memory-utilization 0.8' llama.cpp transformers; do foretell predict examples/llm/llama-3-8b.json --device h100-sxm --prompt 512 --generate 32 --concurrency 4 --num-requests 20 --engine $e -q | grep verify | cut -d'&' -f1; done
  verify on those devices: python3 -m sglang.launch_server --model-path MODEL --tp-size 1 --chunked-prefill-size 8192 --port 8000 
  verify on those devices: trtllm-serve MODEL --tp_size 1 --max_num_tokens 8192 
  verify on those devices: trtllm-serve MODEL --tp_size 1 --max_num_tokens 8192 --kv_cache_free_gpu_memory_fraction 0.8 
  verify on those devices: llama-server --model MODEL.gguf --port 8000 --parallel 4 

The line has the checkpoint's type and what else was asked for; what a server of another engine is not told here has none:

  $ L=examples/llm/llama-3-8b.json; for o in '--precision fp8 --max-num-seqs 8 --gpu-memory-utilization 0.8 --dim kv_bits=8 --no-chunked-prefill' '--precision fp4 --engine trtllm' '--engine sglang --max-num-seqs 8'; do foretell predict $L --device h100-sxm --concurrency 4 --num-requests 20 $o -q | grep verify | sed 's/ --dataset.*//'; done
  verify on those devices: vllm serve MODEL-in-fp8 --tensor-parallel-size 1 --max-num-batched-tokens 8192 --max-num-seqs 8 --gpu-memory-utilization 0.8 --kv-cache-dtype fp8 --no-enable-chunked-prefill & vllm bench serve --model MODEL-in-fp8
  verify on those devices: trtllm-serve MODEL-in-fp4 --tp_size 1 --max_num_tokens 8192 & vllm bench serve --model MODEL-in-fp4
  $ L=examples/llm/llama-3-8b.json; for n in 64 512 "64 --vary 0.5"; do foretell predict $L --device h100-sxm --concurrency 4 --prompt 512 --num-requests 20 --shared-prefix $n -q | grep verif | grep -oE '^no command.*|--dataset.*-input-len [0-9]*'; done
  --dataset-name random --random-prefix-len 64 --random-input-len 448
  no command verifies it: vllm bench serve makes no such load
  no command verifies it: vllm bench serve makes no such load
  $ L=examples/llm/llama-3-8b.json; for o in '--run-mode eager --dtype fp16' '--precision fp4 --engine llama.cpp' '--run-mode compiled' '--engine sglang --run-mode eager' '--engine trtllm --dtype fp16' '--power-cap 400' '--clock 1200'; do foretell predict $L --device h100-sxm --concurrency 4 --num-requests 20 $o -q | grep verif | sed 's/ --dataset.*//'; done
  verify on those devices: vllm serve MODEL --tensor-parallel-size 1 --max-num-batched-tokens 8192 --enforce-eager --dtype float16 & vllm bench serve --model MODEL
  verify on those devices: llama-server --model MODEL-in-fp4.gguf --port 8000 --parallel 4 & vllm bench serve --model MODEL-in-fp4
  no command verifies it: how that engine is started so is not known here
  no command verifies it: how that engine is started so is not known here
  no command verifies it: how that engine is started so is not known here
  no command verifies it: no option of a server sets clocks, caps and what else --setting names: the device has to be set first
  no command verifies it: no option of a server sets clocks, caps and what else --setting names: the device has to be set first

Prompts in groups of devices of their own, at a rate:

  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --prompt 512 --generate 32 --rate 2 --disaggregated 1:2 --json -q > groups; pick devices requests assumptions verify < groups
  devices: 3
  requests: 200
  assumptions: ["200 requests of 512 tokens that generate 32, 2 a second (Poisson)", "steps of at most 8192 tokens, prompts in chunks, replayed as CUDA graphs, and 500 us of the host between two (--step-overhead)", "1 group of devices for prompts, 2 for decoding, the cache sent over the link between them", "steps err alike: low .. high is the run with every step at its low or high end"]
  verify: null

A rate that is served, and one that is not, of answers that take minutes; a run of so many ends later than the last arrives:

  $ for o in 1.5 5 "1.5 --num-requests 40"; do foretell predict examples/llm/llama-3-8b.json --device h200 --prompt 64 --generate 4096 --rate $o -q | grep -E '^requests|more requests' | cut -c1-62; done
  requests/s                 1.5    1.436      1.5  scaled
  requests/s               2.089    1.728    2.535  scaled
  warning: 5 requests a second come and 2.09 are served: they pi
  requests/s              0.7154   0.6369   0.7958  scaled

Recorded requests, in CSV or JSON:

  $ printf 'arrival,prompt,output\n10,300,8\n10.5,200,4\n' > r.csv
  $ printf '{"arrival_time": 10, "input_toks": 300, "output_toks": 8}\n{"arrival_time": 10.5, "input_toks": 200, "output_toks": 4}\n' > r.jsonl
  $ for f in csv jsonl; do foretell predict examples/llm/llama-3-8b.json --device h100-sxm --requests r.$f --json -q > $f; done; cmp csv jsonl && pick requests < csv
  requests: 2
  $ printf '{"timestamp": 0, "input_length": 300, "output_length": 8, "hash_ids": [0]}\n{"timestamp": 2500, "input_length": 200, "output_length": 4, "hash_ids": [1]}\n' > mooncake
  $ printf 'TIMESTAMP,ContextTokens,GeneratedTokens\n2024-02-29 23:59:59.0000000,300,8\n2024-03-01 00:00:01.5000000,200,4\n' > azure
  $ printf 'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,300,8,308,API log\n7.5,GPT-4,200,4,204,API log\n' > burst
  $ for f in mooncake azure burst; do foretell predict examples/llm/llama-3-8b.json --device h100-sxm --requests $f --json -q > $f.json; done; cmp mooncake.json azure.json && cmp azure.json burst.json && pick requests assumptions.0 < burst.json
  requests: 2
  assumptions.0: "2 recorded requests"
  $ printf 'arrival,prompt\n1,2\n' > r.csv; foretell predict examples/llm/llama-3-8b.json --device h100-sxm --requests r.csv
  foretell predict: r.csv: no column "output": requests want arrival, prompt and output
  [3]
  $ printf 'arrival,prompt,output\n1,0,5\n' > r.csv; foretell predict examples/llm/llama-3-8b.json --device h100-sxm --requests r.csv
  foretell predict: r.csv, line 2: a request wants an arrival in s and at least one token of prompt and of output
  [3]

What is asked for has to go together, and fit:

  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --prompt 512 --tp 1,2
  foretell predict: one --tp, --concurrency and --precision: several are for foretell rank
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --rate 2 --requests x.csv
  foretell predict: --rate or --requests, not both
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --prompt 512 --mode training
  foretell predict: serving trains nothing: --mode training goes with --gpus N or --dim train=1, and without --prompt and the like
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --prompt 512 --dim context=5
  foretell predict: batch, tokens and context are of one step, and serving, which --prompt, --concurrency and others ask, has many: leave either out
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --prompt 512 --kv-tokens 100 2>&1 | sed 's/[0-9.]* GiB/N GiB/'
  foretell predict: it does not fit: --kv-tokens 100, and a request has up to 768

Of several devices those that fit are answered, and the others named; none is a failure:

  $ foretell predict examples/llm/llama-3-8b.json --device t4,h100-sxm --prompt 512 --generate 32 --concurrency 4 -q | cut -d' ' -f1-5 | tail -2
  h100-sxm  1  25.6
  t4: it does not fit:
  $ foretell predict examples/llm/llama-3-8b.json --device t4,h100-sxm --prompt 512 --generate 32 --concurrency 4 -q --json | grep fits
      "fits": false,
      "fits": true,
  $ foretell predict examples/llm/llama-3-8b.json --device epyc-7763,h100-sxm --prompt 512 --generate 32 --concurrency 4 -q | cut -d' ' -f1-8 | tail -2
  h100-sxm  1  25.6 ms  7.84
  epyc-7763: the memory of epyc-7763 is not known
  $ foretell predict examples/llm/llama-3-8b.json --device epyc-7763,h100-sxm --prompt 512 --generate 32 --concurrency 4 -q --json | grep fits
      "fits": null,
      "fits": true,
  $ foretell predict examples/llm/llama-3-8b.json --device epyc-7763 --prompt 512
  foretell predict: the memory of epyc-7763 is not known (--kv-tokens N says how many its cache holds)
  [4]
  $ foretell predict examples/llm/llama-3-8b.json --device epyc-7763,t4 --prompt 512 -q 2>/dev/null
  [1]
  $ foretell predict examples/llm/llama-3-8b.json --device t4,gtx-1080 --prompt 512 -q 2>&1 | sed 's/[0-9.]* GiB/N GiB/g'
  foretell predict: it does not fit: N GiB of weights on each of 1 x t4, of whose N GiB a server has 13.5: divide them among more (--tp 2), or hold them in fewer bits (--precision fp8); it does not fit: N GiB of weights on each of 1 x gtx-1080, of whose N GiB a server has 7.2: divide them among more (--tp 4), or hold them in fewer bits (--precision fp4)

Ranked, by the same simulator:

  $ foretell rank --help | grep -E '^ +--(tp|concurrency) ' | sed 's/.*; //'
  1, rank 1..128
  1, rank 1,2,4,8
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm,l4 --tp 1 --concurrency 1,8 --prompt 512 --generate 32 --top 1 -q --json > ranked; pick by assumptions.0 settings placed.# nearest_better < ranked
  by: "tokens-per-device"
  assumptions.0: "requests of 512 tokens that generate 32 (within 5 % where one follows another)"
  settings: 4
  placed.#: 4
  nearest_better: null
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm,l4 --tp 1 --concurrency 8 --prompt 512 --generate 32 -q | grep '^the first' | sed -E 's/[0-9][0-9.]*( m?s)?/N/g'
  the first: TTFT N .. N, TPOT N .. N, a device N .. N tokens/s; learned

Weights of half the bytes do not make experts slower:

  $ echo '{"model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8, "vocab_size": 151936, "torch_dtype": "bfloat16"}' > mixture.json
  $ for d in h100-sxm h200-sxm; do foretell rank mixture.json --devices $d --tp 1 --concurrency 32 --precision bf16,fp8 --by tpot -q --json | pick placed.0.precision; done
  placed.0.precision: "fp8"
  placed.0.precision: "fp8"

What fits on no device is an answer, too:
  $ foretell predict examples/llm/llama-3-8b.json --device t4 --concurrency 2
  foretell predict: it does not fit: 15.0 GiB of weights on each of 1 x t4, of whose 15.0 GiB a server has 13.5: divide them among more (--tp 2), or hold them in fewer bits (--precision fp8)
  [1]
  $ foretell predict examples/llm/llama-3-8b.json --device t4 --concurrency 2 --json > none; echo $?; pick device fits why < none
  1
  device: "t4"
  fits: false
  why: "it does not fit: 15.0 GiB of weights on each of 1 x t4, of whose 15.0 GiB a server has 13.5: divide them among more (--tp 2), or hold them in fewer bits (--precision fp8)"

What it says would fit does, and weights of 4 bits are not offered fewer:
  $ for o in '--tp 2' '--precision fp8'; do foretell predict examples/llm/llama-3-8b.json --device t4 --concurrency 2 -q $o --json | pick fits; done
  fits: true
  fits: true
  $ sed 's/}$/, "quantization_config": {"quant_method": "mxfp4"}}/; s/: 48,/: 96,/' mixture.json > packed.json; foretell predict packed.json --device rtx-4060 --concurrency 2 2>&1 | sed 's/.*has 7.2//'
  : divide them among more (--tp 8)
  $ for h in '32 8 --prompt 200000' '14 2 --prompt 100000' '7 1 --prompt 512'; do set -- $h; echo '{"model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 32, "num_attention_heads": '$1', "num_key_value_heads": '$2', "head_dim": 128, "intermediate_size": 14336, "vocab_size": 32000, "torch_dtype": "bfloat16"}' > heads.json; shift 2; tp=$(foretell predict heads.json --device t4 $* 2>&1 | grep -o -e '--tp [0-9]*'); echo $tp $(foretell predict heads.json --device t4 $* $tp --json -q | pick fits); done
  --tp 8 fits: true
  --tp 14 fits: true
  --tp 7 fits: true

Compressed attention has entries from some tokens on; steps are served from the first token:
  $ printf '%s' '{"model_type": "deepseek_v4", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 16, "q_lora_rank": 24, "o_lora_rank": 8, "o_groups": 2, "index_topk": 2, "index_n_heads": 2, "index_head_dim": 8, "sliding_window": 16, "compress_ratios": [0, 4], "hc_mult": 2, "vocab_size": 100}' > compressed.json; sed 's/\[0, 4\]/[0, 128]/' compressed.json > more.json; for p in 1 100; do foretell predict compressed.json --device h200-sxm --prompt $p --generate 2 --json -q | pick fits device; done; foretell predict more.json --device h200-sxm --prompt 200 --generate 2 --json -q | pick fits device
  fits: true
  device: "h200-sxm"
  fits: true
  device: "h200-sxm"
  fits: true
  device: "h200-sxm"

What no setting reaches:

  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --tp 1 --concurrency 8 --prompt 512 --generate 32 --limit tpot=1us -q | tail -2 | sed 's/be [0-9.]* .s/be N/'
  1 setting: 0 placed, 0 too large, 1 over a limit, 0 not known
  nearest better setting: h100-sxm, --tp 1 --concurrency 8, meets all limits but one where tpot=1us may be N
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm,h200x --concurrency 8 --tp 1 -q 2>&1 | cut -c1-40
  foretell rank: no device "h200x"; there 
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm,t4 --concurrency 8,64 --tp 1 --limit ttft=50ms --csv -q | cut -d , -f 1-2,5,7,9-10
  place,device,tp,concurrency,state,why
  1,h100-sxm,1,8,placed,
  0,h100-sxm,1,64,over limit,ttft=50ms
  0,t4,1,8,does not fit,"it does not fit: 15.0 GiB of weights on each of 1 x t4
  0,t4,1,64,does not fit,"it does not fit: 15.0 GiB of weights on each of 1 x t4
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm,t4 --concurrency 8,16 --tp 1 --csv --top 1 -q | cut -d , -f 1-2,5,7,9
  place,device,tp,concurrency,state
  1,h100-sxm,1,16,placed
  0,t4,1,8,does not fit
  0,t4,1,16,does not fit
  $ foretell rank examples/llm/llama-3-8b.json --devices t4 --concurrency 8 --tp 1 -q
  examples/llm/llama-3-8b.json, served, by tokens-per-device
  assumed: requests of 1024 tokens that generate 256 (within 5 %)
  
  1 setting: 0 placed, 1 too large, 0 over a limit, 0 not known
  too large, the first: it does not fit: 15.0 GiB of weights on each of 1 x t4, of whose 15.0 GiB a server has 13.5: divide them among more (--tp 2), or hold them in fewer bits (--precision fp8)
  [1]
  $ foretell rank examples/llm/llama-3-8b.json --devices t4 --concurrency 8 --tp 1,2 -q | grep warning
  warning: no hardware for bf16: t4; computed in fp16, as servers do there
  $ for t in '' '--dtype fp16'; do foretell predict examples/llm/llama-3-8b.json --device t4 --tp 2 --prompt 512 --generate 32 -q $t | grep -oE '^time to.*|^time per.*|--dtype float16'; done | sort -u | cut -c1-15
  --dtype float16
  time per output
  time to first t
  $ foretell predict examples/llm/llama-3-8b.json --device t4 --precision fp8 --prompt 512 --generate 32 -q | grep -oE '^warning.*|--dtype float16'
  warning: NVIDIA T4 has no hardware for fp8e4m3: products are computed in fp16, weights read in fp8e4m3
  --dtype float16
  $ foretell predict examples/llm/llama-3-8b.json --device t4 --gpus 8 -q | grep warning
  warning: NVIDIA T4 has no hardware for bf16: computed in fp16, as servers do there
  $ foretell rank examples/llm/llama-3-8b.json --devices a100-sxm-80gb --concurrency 8 --tp 1 --precision fp8 -q | grep warning
  warning: no hardware for fp8e4m3: a100-sxm-80gb; products are computed in bf16, weights read in fp8e4m3

Requests that come by themselves: their rate stands above, there are no users, and where more come than are served it says so.
  $ foretell rank examples/llm/llama-3-8b.json --devices l4,l40s --tp 1 --rate 3 -q
  examples/llm/llama-3-8b.json, served, by tokens-per-device
  assumed: requests of 1024 tokens that generate 256, 3 a second (Poisson)
  
  place  device  n  tp  weights    TTFT     TPOT  tokens/s a user  a device  J/token  Pareto
  ------------------------------------------------------------------------------------------
      1  l40s    1   1  as is    107 ms  34.0 ms            29.41       765   301 mJ  yes
      2  l4      1   1  as is    62.4 s   114 ms            8.797     245.1   250 mJ  yes
  
  the first: TTFT 71.2 ms .. 173 ms, TPOT 21.7 ms .. 56.8 ms, a device 765 .. 768 tokens/s; scaled
  2 settings: 2 placed, 0 too large, 0 over a limit, 0 not known
  warning: 1 of these serve fewer requests than the 3 a second that come: they pile up there, and the more requests there are, the longer each waits
  $ foretell rank examples/llm/llama-3-8b.json --devices l4 --tp 1 --rate 3 --concurrency 4 -q | grep -c 'pile up'
  1
  $ foretell rank examples/llm/llama-3-8b.json --devices l4 --tp 1 --rate 3 --json -q | pick placed.0.concurrency
  placed.0.concurrency: null
  $ foretell rank examples/llm/llama-3-8b.json --devices l4 --tp 1 --rate 3 --limit ttft=1us -q | grep nearest
  nearest better setting: l4, --tp 1, meets all limits but one where ttft=1us may be 62.4 s
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --concurrency 8 --by cost
  foretell rank: --by cost wants --price, such as 2.5/h or l4=0.7/h
  [2]
  $ for o in '--price 2,49/h' '--price l4=1/h,t4=2/h' '--precision fp8,fp8'; do foretell rank examples/llm/llama-3-8b.json --devices l4,t4 --concurrency 4 $o; done
  foretell rank: --price 2,49/h: its units are /h, /hour, /min, /s, /day
  foretell rank: --price l4=1/h,t4=2/h: one device each: repeat --price
  foretell rank: --precision names fp8 twice
  [2]
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --concurrency 8 --limit tpot=30 2>&1 | grep -o 'its units.*'
  its units are s, ms, us, ns, m, min, h
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --concurrency 8 --limit tpot-p42=3ms
  foretell rank: --limit tpot-p42=3ms: of serving it wants ttft, tpot, itl or e2e, each also with -p50, -p90, -p95 or -p99, energy, power or cost, and the most of it, such as tpot=30ms
  [2]

Ranks, stages and what else --dim names, clocks and caps may be several, too:

  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --dim tp=1,2 --dim pp=1,2 --power-caps 400,700 --concurrency 8 --prompt 512 --generate 32 -q --json > ways; pick settings < ways; grep -oE '"(tp|power_cap|dims)": [^,]*' ways | sort | uniq -c
  settings: 8
        4 "dims": "pp=1"
        4 "dims": "pp=2"
        4 "power_cap": 400.0
        4 "power_cap": 700.0
        4 "tp": 1
        4 "tp": 2
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --dim tp=1,2 --dim pp=2,1 --concurrency 8 --prompt 512 --generate 32 --limit tpot=1us -q | tail -1 | grep -oE -- '--tp [12] .* --dim pp=[12],'
  --tp 2 --concurrency 8 --dim pp=2,
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --tp 1 --dim tp=1,2
  foretell rank: --dim tp=1,2 says what another option says
  [2]
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --concurrency 8 --dim pp=1,x
  foretell rank: --dim wants NAME=N or NAME=N,N,..., not "pp=1,x"
  [2]
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --concurrency 8 --power-cap 300 --power-caps 300,400
  foretell rank: --power-cap or --power-caps, not both
  [2]

What a benchmark measured, beside it:

  $ printf '{"request_rate": "inf", "max_concurrency": 4, "completed": 40, "total_input_tokens": 20480, "total_output_tokens": 1280, "mean_tpot_ms": 100}' > bench.json
  $ foretell verify bench.json examples/llm/llama-3-8b.json --device h100-sxm -q | sed -E 's/ {2,}.*//; s/-{5,}/-/; s/measured [0-9.]+ %/measured N/'
  vllm or sglang on h100-sxm: 40 requests of 512 tokens that generate 32, 4 under way
  
  quantity
  -
  TPOT, mean
  
  what differs most is decoding, and the prompts that come between (TPOT, mean, measured N of the prediction)
  $ sed 's/"inf"/Infinity, "backend": "sglang", "accept_length": null/' bench.json > sglang.jsonl; for e in "" "--engine sglang" "--engine vllm"; do foretell verify sglang.jsonl examples/llm/llama-3-8b.json --device h100-sxm --json $e | cksum; done | uniq -c | awk '{print $1}'
  2
  1
  $ printf 'MLPerf Results Summary\nSamples per second: 3.5\n' > summary.txt; foretell verify summary.txt examples/llm/llama-3-8b.json --device h100-sxm
  foretell verify: the file does not say its load: --prompt, --generate and --concurrency or --rate do
  [2]
  $ foretell verify one examples/llm/llama-3-8b.json --device h100-sxm
  foretell verify: one: no results of vllm bench serve, SGLang's bench_serving, llama-bench -o json or MLPerf Inference
  [3]
  $ foretell verify bench.json examples/llm/llama-3-8b.json
  foretell verify: --device is missing: where was it measured?
  [2]

The host's time is another option there.

  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --prompt 128 --launch-time 9us
  foretell predict: serving has the host's time between steps: --step-overhead in place of --launch-time
  [2]

What is measured corrects what is predicted afterwards, of that device:

  $ foretell verify bench.json examples/llm/llama-3-8b.json --device h100-sxm --learn runs.csv -q | tail -1 | sed -E 's/[0-9]+[.][0-9]+/N/g'
  predicted with steps corrected by this run: prompts take N times as long, decoding N (in runs.csv, for --correct)
  $ foretell predict examples/llm/llama-3-8b.json --device h100 --prompt 512 --generate 32 --concurrency 4 --num-requests 40 --correct runs.csv --json -q > corrected; pick tpot.mean.value < corrected | awk '{ print ($2 > 0.098 && $2 < 0.102) }'
  0
  $ pick assumptions < corrected | grep -o 'steps are corrected by 1 measured run (runs.csv)'
  steps are corrected by 1 measured run (runs.csv)
  $ foretell predict examples/llm/llama-3-8b.json --device l4 --prompt 512 --generate 32 --correct runs.csv -q | grep -E 'corrected|stay'
  assumed: runs.csv has no such run of l4: its steps stay as predicted
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm,l4 --tp 1 --concurrency 4 --prompt 512 --generate 32 --correct runs.csv -q | grep corrected
  steps of the devices in runs.csv are corrected by the runs measured there
  $ printf 'device,ranks,engine,prompt_factor,decode_factor,requests\nh100-sxm,1,,2,2,5\nh100-sxm,2,,0.5,0.5,5\n' > two.csv; for how in '--tp 1' '--tp 2' '--dim pp=2' '--dim dp=2'; do foretell predict examples/llm/llama-3-8b.json --device h100 --prompt 512 --generate 32 --correct two.csv $how -q | grep -o 'prompts take.*'; done
  prompts take 2.00 times as long, decoding 2.00
  prompts take 0.50 times as long, decoding 0.50
  prompts take 0.50 times as long, decoding 0.50
  prompts take 0.50 times as long, decoding 0.50
  $ printf 'device,ranks,engine,prompt_factor,decode_factor,requests\nh100-sxm,1,,0,1,5\n' > bad.csv; foretell predict examples/llm/llama-3-8b.json --device h100 --prompt 512 --correct bad.csv
  foretell predict: bad.csv, line 2: it wants a device, ranks, an engine and factors of prompts and decoding
  [3]
  $ foretell verify bench.json examples/llm/llama-3-8b.json --device h100-sxm --learn bench.json
  foretell verify: bench.json: holds something other than what verify --learn writes
  [3]
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --concurrency 4 --correct bench.json
  foretell rank: --correct bench.json: what is served is ranked by what verify --learn wrote
  [2]

Requests that are longer than a model's sequences are warned of:

  $ sed 's/^{/{"max_position_embeddings": 8192,/' examples/llm/llama-3-8b.json > short.json; for n in 192 193; do foretell predict short.json --device h100-sxm --prompt 8000 --generate $n --num-requests 2 -q | grep warning; done; foretell rank short.json --devices h100-sxm --tp 1 --concurrency 1 --prompt 9000 -q | grep warning; foretell predict short.json --device h100-sxm --dim context=8193 -q | grep 'maximum context'
  warning: requests of 8193 tokens, above the maximum context length of 8192: servers refuse them, or answer badly
  warning: requests of 9256 tokens, above the maximum context length of 8192: servers refuse them, or answer badly
  assumed: a sequence of 8193 tokens, above the maximum context length of 8192

Requests that a server recorded one by one, of which the first are looked at:

  $ printf '{"arrival_time": 10, "input_toks": 300, "output_toks": 8, "first_token": 10.1, "last_token": 10.2}\n{"arrival_time": 10.5, "input_toks": 200, "output_toks": 4, "first_token": 12, "last_token": 13}\n' > r.jsonl
  $ foretell verify r.jsonl examples/llm/llama-3-8b.json --requests r.jsonl --first 1 --device h100-sxm -q | grep -oE 'recorded.*|^(TTFT|TPOT|end to end), mean  *[0-9.]* m?s'
  recorded requests on h100-sxm: 2, and what the first 1 showed
  TTFT, mean          100 ms
  TPOT, mean         14.3 ms
  end to end, mean    200 ms
  $ foretell verify r.jsonl examples/llm/llama-3-8b.json --device h100-sxm --first 1
  foretell verify: --first is of recorded requests: --requests r.jsonl
  [2]
  $ printf '{"arrival": 10, "prompt": 300, "output": 8}\n' > r.jsonl; foretell verify r.jsonl examples/llm/llama-3-8b.json --requests r.jsonl --device h100-sxm
  foretell verify: r.jsonl: request 1 does not say when its first and last token came
  [3]

Engines have a host of their own, and options that nothing uses are refused:

  $ foretell predict examples/llm/llama-3-8b.json --device a100-sxm-80gb --prompt 64 --generate 32 --engine transformers --json -q | pick itl.p50.value
  itl.p50.value: 0.02912
  $ foretell predict examples/llm/llama-3-8b.json --device a100-sxm-80gb --prompt 64 --generate 32 --engine transformers -q | grep -o 'in chunks, .*, and'
  in chunks, issued by the host operation by operation, and
  $ foretell verify bench.json examples/llm/llama-3-8b.json --device h100-sxm --launch-time 9us
  foretell verify: serving has the host's time between steps: --step-overhead in place of --launch-time
  [2]
  $ foretell verify bench.json examples/llm/llama-3-8b.json --device h100-sxm --tp 1,2
  foretell verify: one --tp, --concurrency and --precision: several are for foretell rank
  [2]
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --concurrency 4 --tp 1 --clocks 1000,1410 --by tpot -q | awk '(NR < 3 || NR > 5) && !/^the first/ {print $2, $3, $4, $5, $6, $7}'
  served, by tpot   
  requests of 1024 tokens that generate
  h100-sxm 1.41 GHz 1 1 4
  h100-sxm 1.00 GHz 1 1 4
       
  settings: 2 placed, 0 too large,
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --concurrency 4 --clocks 1000,1410 --clock 900
  foretell rank: --clock or --clocks, not both
  [2]
  $ foretell rank examples/llm/llama-3-8b.json --devices t4 -q
  llama-3-8b.json by time of one forward pass
  assumed: one step: tokens=1 new of each sequence, context=1024 in the cache, batch 1 (--dim tokens=N, --dim context=N, --batch N)
  assumed: inference, bf16
  warning: no hardware for bf16: t4; computed in fp16, as servers do there
  
  does not fit: t4, 15.6 GiB of 15.0 GiB; not even batch 1 does
  foretell rank: nothing can be placed on one device; with --tp or --concurrency it is served, over several
  [1]
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --concurrency 4 --launch-time 9us
  foretell rank: serving goes without --launch-time
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --concurrency 4 --clocks 900,1200
  foretell predict: serving goes without --clocks: foretell rank has it
  [2]
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --limit ttft=0s
  foretell rank: --limit ttft=0s: it is 0, and has to be more
  [2]
  $ echo '{"completed": 0, "total_input_tokens": 0, "total_output_tokens": 0, "duration": 12.5}' > none.json; foretell verify none.json examples/llm/llama-3-8b.json --device h100-sxm
  foretell verify: none.json: no request was completed: there is nothing to compare
  [3]
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --limit tpo=3ms
  foretell rank: --limit tpo=3ms: it wants time, energy, power, edp, memory, cost or co2 and the most of it, such as time=10ms, or, of a language model that is served, ttft, tpot, itl or e2e
  [2]

Trained over many devices:

  $ L=examples/llm/llama-3-8b.json; for o in "--must-fit" "--html x.html" "--trace x.json" "--precision fp32" "--mode training --optimizer sgd" "--zero 4"; do foretell predict $L --device h100-sxm --gpus 8 $o; done; foretell predict $L --device h100-sxm --mode training --dim train=1
  foretell predict: training over --gpus goes without --must-fit
  foretell predict: training over --gpus goes without --html
  foretell predict: training over --gpus goes without --trace
  foretell predict: training over --gpus goes without --precision fp32: --dtype fp32, or --precision amp-bf16
  foretell predict: training over devices has --optimizer adamw or adamw8bit, not sgd
  foretell predict: --zero is 1 (states of the optimizer), 2 (gradients, too) or 3 (weights, too), not 4
  foretell predict: llama-3-8b.json: --dim train=1: sequences are as long as --dim tokens=N says, without a context before them
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --gpus 8 --precision amp-bf16 -q | grep -E '^assumed|^a device' | cut -d, -f1-3
  assumed: weights, gradients and states of AdamW in fp32; one pass forward, one back (1F1B); sums of gradients run beside the backward pass
  assumed: cast from bf16 to fp32: weights, activations and arithmetic
  assumed: mixed precision as by torch.autocast: products and convolutions in bf16, norms, softmax and losses in fp32
  assumed: no dropout: models exported for evaluation have none
  assumed: loss: cross entropy over the 128256 classes of logits
  a device needs 162 GiB: weights 29.9 GiB, gradients 29.9 GiB, states 59.8 GiB
  $ foretell predict examples/llm/llama-3-8b.json --device h100 --gpus 64 --tp 2 --zero 1 --sequence 4096 --run-tokens 1T --price 2/h -q | sed -E 's/[0-9.]+(e[+][0-9]+)? ?([num]?[sJW]|[KMG]iB|%|kJ)?( |$|,|;)/N\3/g; s/ {2,}/ /g; s/-{5,}/-/; s/ (learned|scaled)$//'
  examples/llm/llama-3-8b.json on N x h100-sxm: tp N, pp N, N replicas, N micro-batch in a step of N sequences
  assumed: weights and gradients in N bits, AdamW with an fpN copy of the weights; one pass forward, one back (1F1B); sums of gradients run beside the backward pass
  assumed: one of N ranks of tensor parallelism
  assumed: no dropout: models exported for evaluation have none
  assumed: loss: cross entropy over the N classes of logits
  
  training estimate low high basis
  -
  time of a step N N N
  tokens/s N N N
   of a device N N N
  energy of a step N N N
  power of all devices N kW N kW N kW
  days of the run N N N
  device hours N N N
  MWh of the run N N N
  cost of the run N N N
  
  of a step: passes N, stages that wait N, exchange adds N, optimizer N; N of the peak (MFU)
  a device needs N GiB: weights N, gradients N, states N, activations N; it fits
  to verify it: no engine of foretell trains over several devices; hold the time of a step against the trainer's log
  $ for b in '--global-batch 1024' ''; do foretell predict examples/llm/llama-3-8b.json --device h100-sxm --gpus 64 --sequence 512 --zero 1 -q $b | grep -c 'large part'; done
  0
  1
  $ foretell predict data/models/resnet50.onnx --device a30 --gpus 4 --micro-batch 64 --run-tokens 1281167 --price 2/h -q | grep -oE '^[^ ].* in a step.*|^assumed: (each|53)( [a-z]+){3}|^(items|time of the run|energy of the run|cost).*/s|^(time|energy|cost) of the run|of the peak'
  data/models/resnet50.onnx on 4 x a30: tp 1, pp 1, 4 replicas, 1 micro-batch in a step of 256 items
  assumed: each device trains the
  assumed: 53 convolutions of resnet
  items/s
  time of the run
  energy of the run
  cost of the run
  of the peak
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --gpus 1 -q | sed -nE '1p; s/^a device.*; it/it/p'
  examples/llm/llama-3-8b.json on 1 x h100-sxm: tp 1, pp 1, 1 replica, 1 micro-batch in a step of 1 sequence
  it does not fit: --zero 3, --recompute, --tp, --pp or more --gpus take less
  $ foretell predict examples/llm/llama-3-8b.json --device l4 --gpus 8 --zero 3 -q | sed -n 's/^a device.*; it/it/p'
  it does not fit: --recompute, --tp, --pp or more --gpus take less
  $ for z in 1 2; do foretell predict data/models/vgg16.onnx --device t4 --gpus 8 --micro-batch 1024 --zero $z -q | sed -n 's/^a device.*; it/it/p'; done
  it does not fit: --zero 2, a smaller --micro-batch take less
  it does not fit: a smaller --micro-batch take less
  $ L=examples/llm/llama-3-8b.json; for o in "--lora 16" "--lora 16 --dim weight_bits=4" "--optimizer adamw8bit"; do foretell predict $L --device h100-sxm --gpus 1 --recompute $o -q | grep -E '^assumed|^a device' | cut -d, -f1-3; done
  assumed: adapters alone are trained: weights and gradients in 16 bits, AdamW with an fp32 copy of the weights; one pass forward, one back (1F1B); sums of gradients run beside the backward pass
  assumed: LoRA: every product of the layers but routers and experts has an adapter of rank 16; all else is frozen
  assumed: no dropout: models exported for evaluation have none
  assumed: loss: cross entropy over the 128256 classes of logits
  a device needs 20.0 GiB: weights 15.0 GiB, gradients 80.0 MiB, states 480 MiB
  assumed: adapters alone are trained: weights and gradients in 16 bits, AdamW with an fp32 copy of the weights; one pass forward, one back (1F1B); sums of gradients run beside the backward pass
  assumed: LoRA: every product of the layers but routers and experts has an adapter of rank 16; all else is frozen
  assumed: no dropout: models exported for evaluation have none
  assumed: loss: cross entropy over the 128256 classes of logits
  a device needs 10.5 GiB: weights 5.49 GiB, gradients 80.0 MiB, states 480 MiB
  assumed: weights and gradients in their type, AdamW in 8 bits; one pass forward, one back (1F1B); sums of gradients run beside the backward pass
  assumed: no dropout: models exported for evaluation have none
  assumed: loss: cross entropy over the 128256 classes of logits
  a device needs 49.3 GiB: weights 15.0 GiB, gradients 15.0 GiB, states 15.0 GiB
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --gpus 64 --pp 4 --micro-batch 2 --global-batch 128 --json -q | pick micro_batches global_batch
  micro_batches: 4
  global_batch: 128
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --gpus 64 --pp 4 --interleave 2 --recompute --json -q | pick devices replicas micro_batches global_batch fits
  devices: 64
  replicas: 16
  micro_batches: 4
  global_batch: 64
  fits: true
  $ foretell predict examples/llm/llama-3-8b.json --device v100-sxm2-32gb --gpus 8 --lora 16 --dtype bf16 --json -q | pick assumptions warnings
  assumptions: ["adapters alone are trained: weights and gradients in 16 bits, AdamW with an fp32 copy of the weights; one pass forward, one back (1F1B); sums of gradients run beside the backward pass", "LoRA: every product of the layers but routers and experts has an adapter of rank 16; all else is frozen", "no dropout: models exported for evaluation have none", "loss: cross entropy over the 128256 classes of logits"]
  warnings: ["NVIDIA Tesla V100 SXM2 32 GB has no hardware for bf16: libraries convert it, or refuse to run; the times are guesses"]
  $ foretell predict examples/llm/llama-3-8b.json --device v100-sxm2-32gb --gpus 8 --lora 16 --dtype bf16 -q | grep -E '^(assumed: LoRA|warning)'
  assumed: LoRA: every product of the layers but routers and experts has an adapter of rank 16; all else is frozen
  warning: NVIDIA Tesla V100 SXM2 32 GB has no hardware for bf16: libraries convert it, or refuse to run; the times are guesses
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --pp 4
  foretell predict: --gpus is missing: on how many is it trained?
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --mode training --dim train=1 --lora 16
  foretell predict: --gpus is missing: on how many is it trained? (of one device's step: --dim lora=16; a server's adapters are not known)
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --gpus 8 --concurrency 4
  foretell predict: training goes without options of serving but --tp and --ep
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --gpus 6 --tp 4
  foretell predict: 6 devices: not a multiple of tp x pp = 4
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --gpus 8 --run-tokens many
  foretell predict: --run-tokens wants a number such as 300B or 1T, not "many"
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --gpus 8
  foretell predict: --device is missing: on what is it trained?
  [2]

Engines that nobody knows, and what is no version, are refused; so is training on several kinds of device.

  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --prompt 64 --generate 8 --engine foo
  foretell predict: --engine foo: no software that serves is called so; there are vllm, sglang, trtllm, transformers, llama.cpp
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --prompt 512 --generate 64 --concurrency 8 --engine vllm --block-size 32 --vary 20% --json -q | pick verify
  verify: "vllm serve MODEL --tensor-parallel-size 1 --max-num-batched-tokens 8192 --block-size 32 & vllm bench serve --model MODEL --dataset-name random --random-input-len 512 --random-output-len 64 --random-range-ratio 0.2 --num-prompts 80 --max-concurrency 8 --ignore-eos --percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,90,95,99 --save-result"
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --prompt 64 --generate 8 --engine vllm --engine-version x
  foretell predict: --engine-version x: want a number such as 0.11
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm,l4 --gpus 8
  foretell predict: training over --gpus is asked of one --device
  [2]

What is stored in fp32 is served in 16 bits, as by vLLM and SGLang, unless asked otherwise:
  $ sed 's/bfloat16/float32/' examples/llm/llama-3-8b.json >fp32.json; for dtype in "" "--precision bf16" "--dtype fp32"; do foretell predict fp32.json --device h100-sxm --prompt 128 $dtype | grep -o '^a device holds [0-9.]* GiB of weights'; done
  a device holds 15.0 GiB of weights
  a device holds 15.0 GiB of weights
  a device holds 29.9 GiB of weights

An encoder answers in one pass, and what it is trained for is not known:
  $ echo '{"model_type": "bert", "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "vocab_size": 30522, "max_position_embeddings": 512}' >bert.json; for o in "--tp 4" "--mode training"; do foretell predict bert.json --device h100-sxm $o; done; foretell predict bert.json --device h100-sxm --tp 4 --batch 2 --dim tokens=64 -q | grep -c '^time'
  foretell predict: bert.json: an encoder is not served step by step: it answers in one pass, --batch N --dim tokens=N
  foretell predict: bert.json: an encoder's configuration does not say what it is trained for; export the module itself for --mode training
  1

A step of an engine that only serves is not known:
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --engine sglang
  foretell predict: --engine sglang: no predictor has measurements of it; there are trtllm, vllm, torch; how others serve a language model is asked with --concurrency N
  [2]

Options of vLLM and SGLang are called otherwise here:
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --kv-cache-dtype fp8
  foretell predict: unknown option --kv-cache-dtype; here it is --dim kv_bits=8
  see foretell predict --help
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --input-len 512 2>&1 | head -1
  foretell predict: unknown option --input-len; here it is --prompt N
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --concurrency 1 --precision int4
  foretell predict: --precision int4: it is one of bf16, fp8, fp4; other types are read from a checkpoint's config.json or GGUF file
  [2]
  $ foretell rank examples/llm/llama-3-8b.json --dp=2
  foretell rank: unknown option --dp; here it is --dim dp=N
  see foretell rank --help
  [2]

Options of language models are refused for others, by the name that was given; so is a server that waits for ever:
  $ foretell predict data/models/resnet18.onnx --device h100-sxm --prompt 512
  foretell predict: --prompt is for language models (a config.json or GGUF file), and "data/models/resnet18.onnx" is none
  [2]
  $ foretell predict data/models/resnet18.onnx --device h100-sxm --gpus 8 --mode inference
  foretell predict: --gpus trains: --mode training, or left out
  [2]
  $ foretell predict - --device h100-sxm --gpus 8
  foretell predict: --gpus needs a file: standard input is read once
  [2]
  $ for c in predict rank; do foretell $c examples/llm/llama-3-8b.json --device$([ $c = rank ] && echo s) h100-sxm --prompt 128 --channels-last; done
  foretell predict: serving goes without --channels-last
  foretell rank: serving goes without --channels-last
  [2]
  $ foretell predict data/models/resnet18.onnx --device h100-sxm --gpus 8 --tp 2
  foretell predict: training over devices of a network that is no config.json or GGUF file has replicas alone: no tp, pp, ep, interleave, sequence, recompute and lora, and zero up to 2
  [2]
  $ foretell rank data/models/resnet18.onnx --devices h100-sxm --prompt 512
  foretell rank: --prompt is for language models (a config.json or GGUF file), and "data/models/resnet18.onnx" is none
  [2]
  $ foretell serve --idle 0
  foretell serve: --idle wants more than 0 and at most 1h, such as 15s, not "0": who is silent for ever would hold one of few connections
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --gpus 8 --tp 2 -q | tail -1
  to verify it: no engine of foretell trains over several devices; hold the time of a step against the trainer's log

Mixed precision is of PyTorch's networks, not of servers.

  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --precision amp-bf16 --prompt 128
  foretell predict: servers hold weights in the type they compute in: --precision bf16, fp8 or fp4, not "amp-bf16"
  [2]
  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --dtype amp-fp16 --concurrency 2
  foretell predict: servers hold weights in the type they compute in: --precision bf16, fp8 or fp4, not "amp-fp16"
  [2]
  $ foretell rank examples/llm/llama-3-8b.json --devices h100-sxm --precision amp-bf16 --prompt 128
  foretell rank: servers hold weights in the type they compute in: --precision bf16, fp8 or fp4, not "amp-bf16"
  [2]

No device draws more than it is built for, however operations of a long prompt add up.

  $ foretell predict examples/llm/llama-3-8b.json --device h100-sxm --prompt 100000 --generate 16 --num-requests 1 --json | pick power.high
  power.high: 700.0

Weights that a configuration stores in fewer bits than a device computes in are told, too.

  $ sed 's/^{/{"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"},/' examples/llm/llama-3-8b.json >fp4.json; foretell predict fp4.json --device h200-sxm,b200 --prompt 512 --generate 32 | grep warning
  warning: h200-sxm: NVIDIA H200 SXM 141 GB has no hardware for fp4: products are computed in bf16, weights read in fp4
