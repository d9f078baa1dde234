Tables that others published, as they are, through their converters. `taken` shows device, setting, engine,
version, spec, phase, policy, metric, unit, value, std, time and what else was told.
  $ printf 'foretell data export --db $1.db | sed 1d | cut -d , -f 1-10,14,17,20-\n' > taken
  $ datasets/neusight tables/neusight_ops.csv > n.csv; foretell data import n.csv --db n.db; sh taken n
  20 measurements taken from n.csv
  a100-pcie-40gb,split=train,torch,,gelu x=304x3682 dtype=fp32,forward,ieee,time,s,3.0649599800000002e-05,,0,"{""grid"": ""2187x1x1"", ""block"": ""128x1x1""}"
  a100-pcie-40gb,split=train,torch,,matmul x=488x630x22 y=488x22x56 dtype=fp32,forward,ieee,time,s,0.00016183466699999999,,0,"{""tile_m"": 128, ""tile_n"": 128, ""grid"": ""1x5x488"", ""block"": ""256x1x1"", ""kernel"": ""ampere_sgemm_128x128_nn""}"
  a100-pcie-40gb,split=train,torch,,mul x=1724x353 y=1 dtype=fp32,forward,ieee,time,s,3.1865599799999999e-05,,0,"{""grid"": ""1189x1x1"", ""block"": ""128x1x1""}"
  mi100,split=train,torch,,add x=2856x1962 y=2856x1962 dtype=fp32,forward,ieee,time,s,8.0479998900000001e-05,,0,"{""grid"": ""5473x1x1"", ""block"": ""256x1x1""}"
  mi100,split=train,torch,,div x=9072x585 y=9072x585 dtype=fp32,forward,ieee,time,s,7.7440002599999999e-05,,0,"{""grid"": ""5183x1x1"", ""block"": ""256x1x1""}"
  mi100,split=train,torch,,mul x=10649x759 y=10649x759 dtype=fp32,forward,ieee,time,s,0.000109535998,,0,"{""grid"": ""7894x1x1"", ""block"": ""256x1x1""}"
  p100-pcie-16gb,split=test,torch,,add x=32768x4096 y=1 dtype=fp32,forward,ieee,time,s,0.0020140863900000002,,0,"{""grid"": ""262144x1x1"", ""block"": ""128x1x1""}"
  p100-pcie-16gb,split=train,torch,,pow x=1159x309 y=1159x309 dtype=fp32,forward,ieee,time,s,4.8819200700000003e-05,,0,"{""grid"": ""700x1x1"", ""block"": ""128x1x1""}"
  p100-pcie-16gb,split=train,torch,,pow x=185x920 y=1 dtype=fp32,forward,ieee,time,s,5.1135999699999998e-05,,0,"{""grid"": ""333x1x1"", ""block"": ""128x1x1""}"
  p4,split=train,torch,,add x=665x1691 y=1 dtype=fp32,forward,ieee,time,s,7.8220799600000002e-05,,0,"{""grid"": ""2197x1x1"", ""block"": ""128x1x1""}"
  p4,split=train,torch,,layernorm x=9688x612 norm=1 dtype=fp32,forward,ieee,time,s,0.00050626132900000002,,0,"{""grid"": ""9688x1x1"", ""block"": ""32x4x1""}"
  p4,split=train,torch,,matmul x=268x36x273 y=268x273x163 dtype=fp32,forward,ieee,time,s,0.00066443731399999997,,0,"{""tile_m"": 128, ""tile_n"": 64, ""grid"": ""2x1x268"", ""block"": ""128x1x1"", ""kernel"": ""maxwell_sgemm_128x64_nn""}"
  p4,split=train,torch,,tanh x=669x228 dtype=fp32,forward,ieee,time,s,2.60288004e-05,,0,"{""grid"": ""298x1x1"", ""block"": ""128x1x1""}"
  t4,split=train,torch,,add x=1972x2209 y=1972x2209 dtype=fp32,forward,ieee,time,s,0.000229638401,,0,"{""grid"": ""8509x1x1"", ""block"": ""128x1x1""}"
  t4,split=train,torch,,conv2d x=45x59x41x41 out=252 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32,forward,ieee,time,s,0.0043693974800000004,,0,"{""grid"": ""591x4x1"", ""block"": ""128x1x1"", ""kernel"": ""cudnn_infer_volta_scudnn_128x64_relu_xregs_large_nn_v1""}"
  t4,split=train,torch,,relu x=1986x415 dtype=fp32,forward,ieee,time,s,4.4307199900000003e-05,,0,"{""grid"": ""1610x1x1"", ""block"": ""128x1x1""}"
  v100-pcie-32gb,split=train,torch,,conv2d x=13x20x8x8 out=727 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32,forward,ieee,time,s,0.000200501328,,0,"{""grid"": ""26x23x1"", ""block"": ""8x8x1"", ""kernel"": ""void implicit_convolve_sgemm<float; float; 1024; 5; 5; 3; 3; 3; 1; false; false; true>(int""}"
  v100-pcie-32gb,split=train,torch,,div x=12387x1930 y=1 dtype=fp32,forward,ieee,time,s,0.000253055996,,0,"{""grid"": ""46694x1x1"", ""block"": ""128x1x1""}"
  v100-pcie-32gb,split=train,torch,,linear x=6652x7539 out=608 bias=1 dtype=fp32,forward,ieee,time,s,0.0054813334099999998,,0,"{""tile_m"": 32, ""tile_n"": 128, ""grid"": ""19x52x2"", ""block"": ""256x1x1"", ""kernel"": ""volta_sgemm_32x128_tn""}"
  v100-pcie-32gb,split=train,torch,,softmax x=665x1691 axis=1 dtype=fp32,forward,ieee,time,s,4.1670400600000003e-05,,0,"{""grid"": ""665x1x1"", ""block"": ""256x1x1""}"
  $ datasets/neusight tables/neusight_nets.csv > w.csv; foretell data import w.csv --db w.db; sh taken w
  20 measurements taken from w.csv
  a100-pcie-40gb,,torch,,network name=bert_large x=8x512 dtype=fp32,forward,ieee,time,s,0.20550553599999999,,0,"{""layers"": 24, ""fwd_s"": 0.205505536, ""bwd_s"": 0, ""neusight_ood"": 0, ""pred_neusight_s"": 0.216652422, ""pred_roofline_s"": 0.155167695, ""pred_habitat_s"": 0.183113308, ""pred_lietal_s"": 0.226960272}"
  a100-pcie-40gb,,torch,,network name=gpt2_large x=8x1024 dtype=fp32,forward,ieee,time,s,1.0847305899999999,,0,"{""layers"": 36, ""fwd_s"": 1.08473059, ""bwd_s"": 0, ""neusight_ood"": 0, ""pred_neusight_s"": 1.17942439, ""pred_roofline_s"": 0.903966234, ""pred_habitat_s"": 0.996851333, ""pred_lietal_s"": 1.20774822}"
  a100-pcie-40gb,,torch,,network name=gpt3_27 x=8x2048 dtype=fp32,forward,ieee,time,s,7.2670361300000001,,0,"{""layers"": 32, ""fwd_s"": 7.26703613, ""bwd_s"": 0, ""neusight_ood"": 1, ""pred_neusight_s"": 7.16813397, ""pred_roofline_s"": 5.82986354, ""pred_habitat_s"": 7.30880306, ""pred_lietal_s"": 7.64717764}"
  a100-pcie-40gb,,torch,,network name=gpt3_xl x=2x2048 dtype=fp32,forward,ieee,time,s,1.7494616199999999,,0,"{""layers"": 24, ""fwd_s"": 1.74946162, ""bwd_s"": 0, ""neusight_ood"": 1, ""pred_neusight_s"": 1.82157295, ""pred_roofline_s"": 1.47515788, ""pred_habitat_s"": 1.82504488, ""pred_lietal_s"": 1.9554015}"
  a100-pcie-40gb,,torch,,network name=switchxl4 x=2x2048 dtype=fp32,forward,ieee,time,s,2.5295974600000002,,0,"{""fwd_s"": 2.52959746, ""bwd_s"": 0, ""neusight_ood"": 0}"
  mi100,,torch,,network name=bert_large x=8x512 dtype=fp32,forward,ieee,time,s,0.13411199600000001,,0,"{""layers"": 24, ""fwd_s"": 0.134111996, ""bwd_s"": 0, ""neusight_ood"": 0, ""pred_neusight_s"": 0.156861366}"
  mi100,mode=training,torch,,network name=bert_large x=2x512 dtype=fp32,backward,ieee,time,s,0.087639088399999995,,0,"{""layers"": 24, ""neusight_ood"": 0, ""pred_neusight_s"": 0.165780003}"
  mi100,mode=training,torch,,network name=bert_large x=2x512 dtype=fp32,forward,ieee,time,s,0.047366576399999999,,0,"{""layers"": 24, ""neusight_ood"": 0, ""pred_neusight_s"": 0.165780003}"
  mi100,mode=training,torch,,network name=bert_large x=2x512 dtype=fp32,forward_backward,ieee,time,s,0.135005665,,0,"{""layers"": 24, ""neusight_ood"": 0, ""pred_neusight_s"": 0.165780003}"
  mi100,mode=training,torch,,network name=bert_large x=8x512 dtype=fp32,backward,ieee,time,s,0.27498937400000001,,0,"{""layers"": 24, ""neusight_ood"": 0, ""pred_neusight_s"": 0.493018899}"
  mi100,mode=training,torch,,network name=bert_large x=8x512 dtype=fp32,forward,ieee,time,s,0.15544508400000001,,0,"{""layers"": 24, ""neusight_ood"": 0, ""pred_neusight_s"": 0.493018899}"
  mi100,mode=training,torch,,network name=bert_large x=8x512 dtype=fp32,forward_backward,ieee,time,s,0.43043445699999999,,0,"{""layers"": 24, ""neusight_ood"": 0, ""pred_neusight_s"": 0.493018899}"
  mi100,mode=training,torch,,network name=gpt2_large x=1x1024 dtype=fp32,backward,ieee,time,s,0.22496655600000001,,0,"{""layers"": 36, ""neusight_ood"": 0, ""pred_neusight_s"": 0.384722822}"
  mi100,mode=training,torch,,network name=gpt2_large x=1x1024 dtype=fp32,forward,ieee,time,s,0.12627080700000001,,0,"{""layers"": 36, ""neusight_ood"": 0, ""pred_neusight_s"": 0.384722822}"
  mi100,mode=training,torch,,network name=gpt2_large x=1x1024 dtype=fp32,forward_backward,ieee,time,s,0.35123736300000002,,0,"{""layers"": 36, ""neusight_ood"": 0, ""pred_neusight_s"": 0.384722822}"
  v100-pcie-32gb,,torch,,network name=gpt2_large x=8x1024 dtype=fp32,forward,ieee,time,s,1.4676486099999999,,0,"{""layers"": 36, ""fwd_s"": 1.46764861, ""bwd_s"": 0, ""neusight_ood"": 0, ""pred_neusight_s"": 1.52599863, ""pred_roofline_s"": 1.31540848, ""pred_habitat_s"": 1.36390736, ""pred_lietal_s"": 1.64662562}"
  v100-pcie-32gb,,torch,,network name=opt_13 x=2x2048 dtype=fp32,forward,ieee,time,s,1.27374521,,0,"{""layers"": 24, ""fwd_s"": 1.27374521, ""bwd_s"": 0, ""neusight_ood"": 1, ""pred_neusight_s"": 1.18899828, ""pred_roofline_s"": 1.02333281, ""pred_habitat_s"": 1.42313144, ""pred_lietal_s"": 1.28338583}"
  v100-pcie-32gb,mode=training,torch,,network name=gpt2_large x=1x1024 dtype=fp32,backward,ieee,time,s,0.37712058700000001,,0,"{""layers"": 36, ""neusight_ood"": 0, ""pred_neusight_s"": 0.634801216, ""pred_roofline_s"": 0.505575999, ""pred_habitat_s"": 0.631931538, ""pred_lietal_s"": 0.398637444}"
  v100-pcie-32gb,mode=training,torch,,network name=gpt2_large x=1x1024 dtype=fp32,forward,ieee,time,s,0.19980060699999999,,0,"{""layers"": 36, ""neusight_ood"": 0, ""pred_neusight_s"": 0.634801216, ""pred_roofline_s"": 0.505575999, ""pred_habitat_s"": 0.631931538, ""pred_lietal_s"": 0.398637444}"
  v100-pcie-32gb,mode=training,torch,,network name=gpt2_large x=1x1024 dtype=fp32,forward_backward,ieee,time,s,0.57692119399999997,,0,"{""layers"": 36, ""neusight_ood"": 0, ""pred_neusight_s"": 0.634801216, ""pred_roofline_s"": 0.505575999, ""pred_habitat_s"": 0.631931538, ""pred_lietal_s"": 0.398637444}"
  $ datasets/neusight tables/neusight_net_ops.csv > m.csv; foretell data import m.csv --db m.db; sh taken m
  59 measurements taken from m.csv
  mi100,mode=training split=net,torch,,add x=2x16x512x512 y=2x1x1x512 dtype=fp32,forward,ieee,time,s,8.3040200200000001e-05,,0,"{""network"": ""bert_large"", ""node"": ""add_7"", ""repeat"": 24, ""fwd_ops"": ""[[VECadd,(16384,512)]]""}"
  mi100,mode=training split=net,torch,,add x=2x16x512x512 y=2x1x1x512 dtype=fp32 phase=backward,backward,ieee,time,s,6.9759999401867005e-06,,0,"{""network"": ""bert_large"", ""node"": ""add_7"", ""repeat"": 24, ""fwd_ops"": ""[[VECadd,(16384,512)]]""}"
  mi100,mode=training split=net,torch,,add x=2x512x1024 y=1x512x1024 dtype=fp32,forward,ieee,time,s,6.6239999600000003e-06,,0,"{""network"": ""bert_large"", ""node"": ""add_3"", ""repeat"": 1, ""fwd_ops"": ""[[VECadd,(1024,1024)]]""}"
  mi100,mode=training split=net,torch,,add x=2x512x1024 y=2x512x1024 dtype=fp32,forward,ieee,time,s,2.6272199999999999e-05,,0,"{""network"": ""bert_large"", ""node"": ""add_2"", ""repeat"": 1, ""fwd_ops"": ""[[VECadd,(1024,1024)]]""}"
  mi100,mode=training split=net,torch,,add x=2x512x1024 y=2x512x1024 dtype=fp32 phase=backward,backward,ieee,time,s,7.3920000344514004e-06,,0,"{""network"": ""bert_large"", ""node"": ""add_2"", ""repeat"": 1, ""fwd_ops"": ""[[VECadd,(1024,1024)]]""}"
  mi100,mode=training split=net,torch,,copy x=2x512x16x64 dtype=fp32,forward,ieee,time,s,2.4960199700000001e-05,,0,"{""network"": ""bert_large"", ""node"": ""contiguous"", ""repeat"": 24, ""fwd_ops"": ""[[MEM,((2,512,16,64),(2,512,16,64))]]""}"
  mi100,mode=training split=net,torch,,div x=2x16x512x512 y=1 dtype=fp32,forward,ieee,time,s,8.2560198000000004e-05,,0,"{""network"": ""bert_large"", ""node"": ""truediv"", ""repeat"": 24, ""fwd_ops"": ""[[VECdivu,(16384,512)]]""}"
  mi100,mode=training split=net,torch,,div x=2x16x512x512 y=1 dtype=fp32 phase=backward,backward,ieee,time,s,8.0768400430679307e-05,,0,"{""network"": ""bert_large"", ""node"": ""truediv"", ""repeat"": 24, ""fwd_ops"": ""[[VECdivu,(16384,512)]]""}"
  mi100,mode=training split=net,torch,,dropout x=2x16x512x512 dtype=fp32,forward,ieee,time,s,0.000106400199,,0,"{""network"": ""bert_large"", ""node"": ""bert_encoder_layer_0_attention_self_dropout"", ""repeat"": 24, ""fwd_ops"": ""[[MEM,((2,16,512,512),(2,16,512,512))]]""}"
  mi100,mode=training split=net,torch,,dropout x=2x16x512x512 dtype=fp32 phase=backward,backward,ieee,time,s,0.00024675279855728148,,0,"{""network"": ""bert_large"", ""node"": ""bert_encoder_layer_0_attention_self_dropout"", ""repeat"": 24, ""fwd_ops"": ""[[MEM,((2,16,512,512),(2,16,512,512))]]""}"
  mi100,mode=training split=net,torch,,dropout x=2x512x1024 dtype=fp32,forward,ieee,time,s,3.49439994e-05,,0,"{""network"": ""bert_large"", ""node"": ""bert_embeddings_dropout"", ""repeat"": 1, ""fwd_ops"": ""[[MEM,((2,512,1024),(2,512,1024))]]""}"
  mi100,mode=training split=net,torch,,dropout x=2x512x1024 dtype=fp32 phase=backward,backward,ieee,time,s,4.5855999737977903e-05,,0,"{""network"": ""bert_large"", ""node"": ""bert_embeddings_dropout"", ""repeat"": 1, ""fwd_ops"": ""[[MEM,((2,512,1024),(2,512,1024))]]""}"
  mi100,mode=training split=net,torch,,embedding x=2x512 rows=1024 dim=1024 dtype=fp32,forward,ieee,time,s,3.4368200599999997e-05,,0,"{""network"": ""bert_large"", ""node"": ""bert_embeddings_word_embeddings"", ""repeat"": 1, ""fwd_ops"": ""[[MEM,((2,512),(2,512,1024))]]""}"
  mi100,mode=training split=net,torch,,embedding x=2x512 rows=1024 dim=1024 dtype=fp32 phase=backward,backward,ieee,accumulate,s,0.00038764900565147397,,0,"{""network"": ""bert_large"", ""node"": ""bert_embeddings_word_embeddings"", ""repeat"": 1, ""fwd_ops"": ""[[MEM,((2,512),(2,512,1024))]]""}"
  mi100,mode=training split=net,torch,,embedding x=2x512 rows=1024 dim=1024 dtype=fp32 phase=backward,backward,ieee,time,s,0.00030595300197601308,,0,"{""network"": ""bert_large"", ""node"": ""bert_embeddings_word_embeddings"", ""repeat"": 1, ""fwd_ops"": ""[[MEM,((2,512),(2,512,1024))]]""}"
  mi100,mode=training split=net,torch,,layernorm x=2x512x1024 norm=1 dtype=fp32,forward,ieee,time,s,3.7280200400000002e-05,,0,"{""network"": ""bert_large"", ""node"": ""bert_embeddings_layer_norm"", ""repeat"": 1, ""fwd_ops"": ""[[VECln,(1024,1024)]]""}"
  mi100,mode=training split=net,torch,,layernorm x=2x512x1024 norm=1 dtype=fp32 phase=backward,backward,ieee,accumulate,s,3.2992000505328098e-05,,0,"{""network"": ""bert_large"", ""node"": ""bert_embeddings_layer_norm"", ""repeat"": 1, ""fwd_ops"": ""[[VECln,(1024,1024)]]""}"
  mi100,mode=training split=net,torch,,layernorm x=2x512x1024 norm=1 dtype=fp32 phase=backward,backward,ieee,time,s,9.3536199629306704e-05,,0,"{""network"": ""bert_large"", ""node"": ""bert_embeddings_layer_norm"", ""repeat"": 1, ""fwd_ops"": ""[[VECln,(1024,1024)]]""}"
  mi100,mode=training split=net,torch,,linear x=2x512x1024 out=1024 bias=1 dtype=fp32,forward,ieee,time,s,0.000151840198,,0,"{""network"": ""bert_large"", ""node"": ""bert_encoder_layer_0_attention_self_query"", ""repeat"": 24, ""fwd_ops"": ""[[Linear,(1024,1024,1024)]]""}"
  mi100,mode=training split=net,torch,,linear x=2x512x1024 out=1024 bias=1 dtype=fp32,forward,ieee,time,s,0.00015164820000000001,,0,"{""network"": ""bert_large"", ""node"": ""bert_encoder_layer_0_attention_self_key"", ""repeat"": 24, ""fwd_ops"": ""[[Linear,(1024,1024,1024)]]""}"
  mi100,mode=training split=net,torch,,linear x=2x512x1024 out=1024 bias=1 dtype=fp32,forward,ieee,time,s,0.00015001640300000001,,0,"{""network"": ""bert_large"", ""node"": ""bert_encoder_layer_0_attention_self_value"", ""repeat"": 24, ""fwd_ops"": ""[[Linear,(1024,1024,1024)]]""}"
  mi100,mode=training split=net,torch,,linear x=2x512x1024 out=1024 bias=1 dtype=fp32 phase=backward,backward,ieee,accumulate,s,2.5855999812483698e-05,,0,"{""network"": ""bert_large"", ""node"": ""bert_encoder_layer_0_attention_self_query"", ""repeat"": 24, ""fwd_ops"": ""[[Linear,(1024,1024,1024)]]""}"
  mi100,mode=training split=net,torch,,linear x=2x512x1024 out=1024 bias=1 dtype=fp32 phase=backward,backward,ieee,accumulate,s,2.5983999669551801e-05,,0,"{""network"": ""bert_large"", ""node"": ""bert_encoder_layer_0_attention_self_key"", ""repeat"": 24, ""fwd_ops"": ""[[Linear,(1024,1024,1024)]]""}"
  mi100,mode=training split=net,torch,,linear x=2x512x1024 out=1024 bias=1 dtype=fp32 phase=backward,backward,ieee,accumulate,s,2.5983999669551801e-05,,0,"{""network"": ""bert_large"", ""node"": ""bert_encoder_layer_0_attention_self_value"", ""repeat"": 24, ""fwd_ops"": ""[[Linear,(1024,1024,1024)]]""}"
  mi100,mode=training split=net,torch,,linear x=2x512x1024 out=1024 bias=1 dtype=fp32 phase=backward,backward,ieee,time,s,0.0002408969994634389,,0,"{""network"": ""bert_large"", ""node"": ""bert_encoder_layer_0_attention_self_query"", ""repeat"": 24, ""fwd_ops"": ""[[Linear,(1024,1024,1024)]]""}"
  mi100,mode=training split=net,torch,,linear x=2x512x1024 out=1024 bias=1 dtype=fp32 phase=backward,backward,ieee,time,s,0.00024102499810978769,,0,"{""network"": ""bert_large"", ""node"": ""bert_encoder_layer_0_attention_self_key"", ""repeat"": 24, ""fwd_ops"": ""[[Linear,(1024,1024,1024)]]""}"
  mi100,mode=training split=net,torch,,linear x=2x512x1024 out=1024 bias=1 dtype=fp32 phase=backward,backward,ieee,time,s,0.00024051260165870188,,0,"{""network"": ""bert_large"", ""node"": ""bert_encoder_layer_0_attention_self_value"", ""repeat"": 24, ""fwd_ops"": ""[[Linear,(1024,1024,1024)]]""}"
  mi100,mode=training split=net,torch,,matmul x=2x16x512x512 y=2x16x512x64 dtype=fp32,forward,ieee,time,s,0.00012576040200000001,,0,"{""network"": ""bert_large"", ""node"": ""matmul_1"", ""repeat"": 24, ""fwd_ops"": ""[[BMM,(32,512,512,64)]]""}"
  mi100,mode=training split=net,torch,,matmul x=2x16x512x512 y=2x16x512x64 dtype=fp32 phase=backward,backward,ieee,time,s,0.00018595200432464478,,0,"{""network"": ""bert_large"", ""node"": ""matmul_1"", ""repeat"": 24, ""fwd_ops"": ""[[BMM,(32,512,512,64)]]""}"
  mi100,mode=training split=net,torch,,matmul x=2x16x512x64 y=2x16x64x512 dtype=fp32,forward,ieee,time,s,0.000151264399,,0,"{""network"": ""bert_large"", ""node"": ""matmul"", ""repeat"": 24, ""fwd_ops"": ""[[BMM,(32,512,64,512)]]""}"
  mi100,mode=training split=net,torch,,matmul x=2x16x512x64 y=2x16x64x512 dtype=fp32 phase=backward,backward,ieee,time,s,0.0002077445993199944,,0,"{""network"": ""bert_large"", ""node"": ""matmul"", ""repeat"": 24, ""fwd_ops"": ""[[BMM,(32,512,64,512)]]""}"
  mi100,mode=training split=net,torch,,mul x=2x1x1x512 y=1 dtype=fp32,forward,ieee,time,s,1.8304e-05,,0,"{""network"": ""bert_large"", ""node"": ""mul"", ""repeat"": 1, ""fwd_ops"": ""[[VECmulu,(2,512)]]""}"
  mi100,mode=training split=net,torch,,softmax x=2x16x512x512 axis=3 dtype=fp32,forward,ieee,time,s,8.2304400200000001e-05,,0,"{""network"": ""bert_large"", ""node"": ""softmax"", ""repeat"": 24, ""fwd_ops"": ""[[VECsoftmax,(16384,512)]]""}"
  mi100,mode=training split=net,torch,,softmax x=2x16x512x512 axis=3 dtype=fp32 phase=backward,backward,ieee,time,s,0.00022163279950618739,,0,"{""network"": ""bert_large"", ""node"": ""softmax"", ""repeat"": 24, ""fwd_ops"": ""[[VECsoftmax,(16384,512)]]""}"
  mi100,mode=training split=net,torch,,view x=1 out=1 dtype=fp32,forward,ieee,time,s,6.3679999700000004e-06,,0,"{""network"": ""bert_large"", ""node"": ""getitem"", ""repeat"": 1, ""fwd_ops"": ""[[MEM,((1,),(1,))]]""}"
  mi100,mode=training split=net,torch,,view x=1 out=1 dtype=fp32,forward,ieee,time,s,6.336e-06,,0,"{""network"": ""bert_large"", ""node"": ""getitem_1"", ""repeat"": 1, ""fwd_ops"": ""[[MEM,((1,),(1,))]]""}"
  mi100,mode=training split=net,torch,,view x=1 out=1 dtype=fp32,forward,ieee,time,s,9.7280000300000002e-06,,0,"{""network"": ""bert_large"", ""node"": ""getitem_4"", ""repeat"": 1, ""fwd_ops"": ""[[MEM,((1,),(1,))]]""}"
  mi100,mode=training split=net,torch,,view x=1 out=1 dtype=fp32,forward,ieee,time,s,6.3679999700000004e-06,,0,"{""network"": ""bert_large"", ""node"": ""getitem_6"", ""repeat"": 24, ""fwd_ops"": ""[[MEM,((1,),(1,))]]""}"
  mi100,mode=training split=net,torch,,view x=1 out=1 dtype=fp32,forward,ieee,time,s,6.3039999500000002e-06,,0,"{""network"": ""bert_large"", ""node"": ""getitem_7"", ""repeat"": 24, ""fwd_ops"": ""[[MEM,((1,),(1,))]]""}"
  mi100,mode=training split=net,torch,,view x=1 out=1 dtype=fp32,forward,ieee,time,s,6.1119999699999998e-06,,0,"{""network"": ""bert_large"", ""node"": ""getitem_8"", ""repeat"": 24, ""fwd_ops"": ""[[MEM,((1,),(1,))]]""}"
  mi100,mode=training split=net,torch,,view x=1 out=1 dtype=fp32,forward,ieee,time,s,6.4639998600000002e-06,,0,"{""network"": ""bert_large"", ""node"": ""getitem_9"", ""repeat"": 24, ""fwd_ops"": ""[[MEM,((1,),(1,))]]""}"
  mi100,mode=training split=net,torch,,view x=1x512 out=1x512 dtype=fp32,forward,ieee,time,s,9.9199998199999997e-06,,0,"{""network"": ""bert_large"", ""node"": ""getitem_2"", ""repeat"": 1, ""fwd_ops"": ""[[MEM,((1,512),(1,),(1,512))]]""}"
  mi100,mode=training split=net,torch,,view x=1x512 out=1x512 dtype=fp32,forward,ieee,time,s,1.2191999999999999e-05,,0,"{""network"": ""bert_large"", ""node"": ""getitem_5"", ""repeat"": 1, ""fwd_ops"": ""[[MEM,((1,512),(1,),(1,512))]]""}"
  mi100,mode=training split=net,torch,,view x=2x512 out=2x1x1x512 dtype=fp32,forward,ieee,time,s,6.2720000699999999e-06,,0,"{""network"": ""bert_large"", ""node"": ""getitem_3"", ""repeat"": 1, ""fwd_ops"": ""[[MEM,((2,512),(2,1,1,512))]]""}"
  v100-pcie-32gb,split=net,torch,,add x=4x1024x1280 y=1x1024x1280 dtype=fp32,forward,ieee,time,s,9.2972801600000004e-05,,0,"{""network"": ""gpt2_large"", ""node"": ""add_1"", ""repeat"": 1, ""fwd_ops"": ""[[VECadd,(4096,1280)]]""}"
  v100-pcie-32gb,split=net,torch,,add x=4x1024x5120 y=1 dtype=fp32,forward,ieee,time,s,0.00022015999300000001,,0,"{""network"": ""gpt2_large"", ""node"": ""add_13"", ""repeat"": 36, ""fwd_ops"": ""[[VECaddu,(4096,5120)]]""}"
  v100-pcie-32gb,split=net,torch,,copy x=4x1024x20x64 dtype=fp32,forward,ieee,time,s,7.4342402800000007e-05,,0,"{""network"": ""gpt2_large"", ""node"": ""contiguous"", ""repeat"": 36, ""fwd_ops"": ""[[MEM,((4,1024,20,64),(4,1024,20,64))]]""}"
  v100-pcie-32gb,split=net,torch,,div x=4x20x1024x1024 y=1 dtype=fp32,forward,ieee,time,s,0.00084766718100000001,,0,"{""network"": ""gpt2_large"", ""node"": ""truediv"", ""repeat"": 36, ""fwd_ops"": ""[[VECdiv,(81920,1024)]]""}"
  v100-pcie-32gb,split=net,torch,,embedding x=4x1024 rows=4096 dim=1280 dtype=fp32,forward,ieee,time,s,9.4617602199999995e-05,,0,"{""network"": ""gpt2_large"", ""node"": ""transformer_wte"", ""repeat"": 1, ""fwd_ops"": ""[[MEM,((4,1024),(4,1024,1280))]]""}"
  v100-pcie-32gb,split=net,torch,,layernorm x=4x1024x1280 norm=1 dtype=fp32,forward,ieee,time,s,9.8304003499999999e-05,,0,"{""network"": ""gpt2_large"", ""node"": ""transformer_h_0_ln_1"", ""repeat"": 36, ""fwd_ops"": ""[[VECln,(4096,1280)]]""}"
  v100-pcie-32gb,split=net,torch,,linear x=4096x1280 out=3840 bias=1 dtype=fp32,forward,ieee,time,s,0.0029286463699999998,,0,"{""network"": ""gpt2_large"", ""node"": ""addmm"", ""repeat"": 36, ""fwd_ops"": ""[[Linear,(4096,1280,3840)]]""}"
  v100-pcie-32gb,split=net,torch,,matmul x=4x20x1024x64 y=4x20x64x1024 dtype=fp32,forward,ieee,time,s,0.0011937727899999999,,0,"{""network"": ""gpt2_large"", ""node"": ""matmul"", ""repeat"": 36, ""fwd_ops"": ""[[BMM,(80,1024,64,1024)]]""}"
  v100-pcie-32gb,split=net,torch,,mul x=4x1024x5120 y=1 dtype=fp32,forward,ieee,time,s,0.00021827840199999999,,0,"{""network"": ""gpt2_large"", ""node"": ""mul"", ""repeat"": 36, ""fwd_ops"": ""[[VECmulu,(4096,5120)]]""}"
  v100-pcie-32gb,split=net,torch,,mul x=4x1024x5120 y=4x1024x5120 dtype=fp32,forward,ieee,time,s,0.00031598080399999998,,0,"{""network"": ""gpt2_large"", ""node"": ""mul_3"", ""repeat"": 36, ""fwd_ops"": ""[[VECmul,(4096,5120)]]""}"
  v100-pcie-32gb,split=net,torch,,pow x=4x1024x5120 y=1 dtype=fp32,forward,ieee,time,s,0.000216896001,,0,"{""network"": ""gpt2_large"", ""node"": ""pow_2"", ""repeat"": 36, ""fwd_ops"": ""[[VECpowu,(4096,5120)]]""}"
  v100-pcie-32gb,split=net,torch,,softmax x=4x20x1024x1024 axis=3 dtype=fp32,forward,ieee,time,s,0.00084480000700000002,,0,"{""network"": ""gpt2_large"", ""node"": ""softmax"", ""repeat"": 36, ""fwd_ops"": ""[[VECsoftmax,(81920,1024)]]""}"
  v100-pcie-32gb,split=net,torch,,tanh x=4x1024x5120 dtype=fp32,forward,ieee,time,s,0.000217100799,,0,"{""network"": ""gpt2_large"", ""node"": ""tanh"", ""repeat"": 36, ""fwd_ops"": ""[[VECtanh,(4096,5120)]]""}"
  v100-pcie-32gb,split=net,torch,,view x=1 out=1 dtype=fp32,forward,ieee,time,s,1.0854399900000001e-05,,0,"{""network"": ""gpt2_large"", ""node"": ""getitem"", ""repeat"": 1, ""fwd_ops"": ""[[MEM,((1,),(1,))]]""}"
  v100-pcie-32gb,split=net,torch,,where x=1x1x1024x1024 y=4x20x1024x1024 z=1 dtype=fp32,forward,ieee,time,s,0.00085995521500000004,,0,"{""network"": ""gpt2_large"", ""node"": ""where"", ""repeat"": 36, ""fwd_ops"": ""[[MEM,((1,1,1024,1024),(4,20,1024,1024),(1,),(4,20,1024,1024))]]""}"
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,view x=1 out=1 dtype=fp32,forward_backward,,member,1,99,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,view x=1x512 out=1x512 dtype=fp32,forward_backward,,member,1,2,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,view x=2x512 out=2x1x1x512 dtype=fp32,forward_backward,,member,1,1,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,embedding x=2x512 rows=1024 dim=1024 dtype=fp32,forward_backward,,member,1,1,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,embedding x=2x512 rows=1024 dim=1024 dtype=fp32 phase=backward,forward_backward,,member,1,1,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,add x=2x512x1024 y=2x512x1024 dtype=fp32,forward_backward,,member,1,1,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,add x=2x512x1024 y=2x512x1024 dtype=fp32 phase=backward,forward_backward,,member,1,1,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,layernorm x=2x512x1024 norm=1 dtype=fp32,forward_backward,,member,1,1,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,layernorm x=2x512x1024 norm=1 dtype=fp32 phase=backward,forward_backward,,member,1,1,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,dropout x=2x512x1024 dtype=fp32,forward_backward,,member,1,1,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,dropout x=2x512x1024 dtype=fp32 phase=backward,forward_backward,,member,1,1,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,add x=2x512x1024 y=1x512x1024 dtype=fp32,forward_backward,,member,1,1,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,mul x=2x1x1x512 y=1 dtype=fp32,forward_backward,,member,1,1,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,linear x=2x512x1024 out=1024 bias=1 dtype=fp32,forward_backward,,member,1,72,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,linear x=2x512x1024 out=1024 bias=1 dtype=fp32 phase=backward,forward_backward,,member,1,72,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,matmul x=2x16x512x64 y=2x16x64x512 dtype=fp32,forward_backward,,member,1,24,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,matmul x=2x16x512x64 y=2x16x64x512 dtype=fp32 phase=backward,forward_backward,,member,1,24,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,div x=2x16x512x512 y=1 dtype=fp32,forward_backward,,member,1,24,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,div x=2x16x512x512 y=1 dtype=fp32 phase=backward,forward_backward,,member,1,24,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,add x=2x16x512x512 y=2x1x1x512 dtype=fp32,forward_backward,,member,1,24,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,add x=2x16x512x512 y=2x1x1x512 dtype=fp32 phase=backward,forward_backward,,member,1,24,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,softmax x=2x16x512x512 axis=3 dtype=fp32,forward_backward,,member,1,24,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,softmax x=2x16x512x512 axis=3 dtype=fp32 phase=backward,forward_backward,,member,1,24,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,dropout x=2x16x512x512 dtype=fp32,forward_backward,,member,1,24,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,dropout x=2x16x512x512 dtype=fp32 phase=backward,forward_backward,,member,1,24,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,matmul x=2x16x512x512 y=2x16x512x64 dtype=fp32,forward_backward,,member,1,24,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,matmul x=2x16x512x512 y=2x16x512x64 dtype=fp32 phase=backward,forward_backward,,member,1,24,,0,
  ,network name=bert_large x=2x512 dtype=fp32,neusight,,copy x=2x512x16x64 dtype=fp32,forward_backward,,member,1,24,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,view x=1 out=1 dtype=fp32,forward,,member,1,1,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,embedding x=4x1024 rows=4096 dim=1280 dtype=fp32,forward,,member,1,1,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,add x=4x1024x1280 y=1x1024x1280 dtype=fp32,forward,,member,1,1,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,layernorm x=4x1024x1280 norm=1 dtype=fp32,forward,,member,1,36,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,linear x=4096x1280 out=3840 bias=1 dtype=fp32,forward,,member,1,36,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,matmul x=4x20x1024x64 y=4x20x64x1024 dtype=fp32,forward,,member,1,36,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,div x=4x20x1024x1024 y=1 dtype=fp32,forward,,member,1,36,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,where x=1x1x1024x1024 y=4x20x1024x1024 z=1 dtype=fp32,forward,,member,1,36,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,softmax x=4x20x1024x1024 axis=3 dtype=fp32,forward,,member,1,36,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,copy x=4x1024x20x64 dtype=fp32,forward,,member,1,36,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,mul x=4x1024x5120 y=1 dtype=fp32,forward,,member,1,36,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,pow x=4x1024x5120 y=1 dtype=fp32,forward,,member,1,36,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,tanh x=4x1024x5120 dtype=fp32,forward,,member,1,36,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,add x=4x1024x5120 y=1 dtype=fp32,forward,,member,1,36,,0,
  ,network name=gpt2_large x=4x1024 dtype=fp32,neusight,,mul x=4x1024x5120 y=4x1024x5120 dtype=fp32,forward,,member,1,36,,0,
  $ datasets/justus tables/justus_ops.csv > j.csv; foretell data import j.csv --db j.db; sh taken j
  20 measurements taken from j.csv
  gtx-1080-ti,activation=none,tensorflow,1,linear x=19x2224 out=1922 bias=1 dtype=fp32,forward,default,time,s,0.00020135899999999999,2.2327099999999998e-05,0,"{""time_min_s"": 0.000172501}"
  gtx-1080-ti,activation=none optimizer=RMSProp,tensorflow,1,conv2d x=28x10x85x85 out=73 kernel=3x3 stride=1x1 pad=0x0 bias=1 dtype=fp32 phase=step,step,default,time,s,0.0068669400000000002,5.8820100000000003e-05,0,"{""time_min_s"": 0.0067726}"
  gtx-1080-ti,activation=relu,tensorflow,1,conv2d x=35x12x449x449 out=21 kernel=4x4 stride=3x3 pad=0x0 bias=1 dtype=fp32,forward,default,time,s,0.0053217799999999999,1.47417e-05,0,"{""time_min_s"": 0.00530162}"
  gtx-1080-ti,activation=relu,tensorflow,1,conv2d x=6x20x455x455 out=17 kernel=5x5 stride=4x4 pad=0x0 dtype=fp32,forward,default,time,s,0.00136754,1.5591600000000002e-05,0,"{""time_min_s"": 0.00135096}"
  gtx-1080-ti,activation=tanh optimizer=Adadelta,tensorflow,1,linear x=18x2881 out=567 bias=1 dtype=fp32 phase=step,step,default,time,s,0.000665998,5.6070099999999997e-05,0,"{""time_min_s"": 0.00054348}"
  gtx-1080-ti,activation=tanh optimizer=Adagrad,tensorflow,1,conv2d x=15x17x383x383 out=10 kernel=2x2 stride=2x2 pad=0x0x1x1 bias=1 dtype=fp32 phase=step,step,default,time,s,0.016206399999999999,2.1459099999999999e-05,0,"{""time_min_s"": 0.0161535}"
  gtx-1080-ti,activation=tanh optimizer=SGD,tensorflow,1,conv2d x=7x13x368x368 out=17 kernel=3x3 stride=2x2 pad=0x0 bias=1 dtype=fp32 phase=step,step,default,time,s,0.0065732000000000004,9.7988199999999998e-06,0,"{""time_min_s"": 0.00654966}"
  k40,activation=none,tensorflow,1,conv2d x=32x13x326x326 out=1 kernel=4x4 stride=3x3 pad=0x0 bias=1 dtype=fp32,forward,default,time,s,0.0084674399999999997,1.6504400000000001e-05,0,"{""time_min_s"": 0.00844386}"
  k40,activation=relu,tensorflow,1,conv2d x=35x19x340x340 out=11 kernel=3x3 stride=2x2 pad=0x0x1x1 dtype=fp32,forward,default,time,s,0.0260769,0.00010646599999999999,0,"{""time_min_s"": 0.0258178}"
  k40,activation=relu optimizer=Adadelta,tensorflow,1,conv2d x=32x39x113x113 out=45 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32 phase=step,step,default,time,s,0.024598100000000001,0.00011296,0,"{""time_min_s"": 0.0243186}"
  k40,activation=relu optimizer=Momentum,tensorflow,1,linear x=15x2003 out=1721 bias=1 dtype=fp32 phase=step,step,default,time,s,0.0020864,1.5585200000000001e-05,0,"{""time_min_s"": 0.0020554}"
  k40,activation=sigmoid optimizer=SGD,tensorflow,1,conv2d x=32x312x19x19 out=75 kernel=5x5 stride=3x3 pad=2x2 bias=1 dtype=fp32 phase=step,step,default,time,s,0.0100213,1.9670900000000002e-05,0,"{""time_min_s"": 0.00998782}"
  k40,activation=tanh,tensorflow,1,conv2d x=30x8x444x444 out=12 kernel=3x3 stride=3x3 pad=0x0 bias=1 dtype=fp32,forward,default,time,s,0.0095717400000000005,0.00017009499999999999,0,"{""time_min_s"": 0.00915018}"
  k80,activation=none optimizer=SGD,tensorflow,1,conv2d x=11x26x219x219 out=1 kernel=4x4 stride=1x1 pad=0x0 dtype=fp32 phase=step,step,default,time,s,0.016482299999999998,5.2101000000000001e-05,0,"{""time_min_s"": 0.0164071}"
  k80,activation=relu optimizer=Momentum,tensorflow,1,conv2d x=6x9x390x390 out=17 kernel=5x5 stride=1x1 pad=2x2 dtype=fp32 phase=step,step,default,time,s,0.056423000000000001,0.000746136,0,"{""time_min_s"": 0.0552919}"
  k80,activation=tanh,tensorflow,1,conv2d x=28x8x342x342 out=16 kernel=6x6 stride=4x4 pad=2x2 dtype=fp32,forward,default,time,s,0.0066541200000000003,0.00014189699999999999,0,"{""time_min_s"": 0.00661966}"
  k80,activation=tanh,tensorflow,1,linear x=42x2795 out=1377 bias=1 dtype=fp32,forward,default,time,s,0.00059515999999999996,6.2477700000000002e-06,0,"{""time_min_s"": 0.000592399}"
  m60,activation=relu,tensorflow,1,conv2d x=1x52x167x167 out=46 kernel=1x1 stride=2x2 pad=0x0 dtype=fp32,forward,default,time,s,0.00038340100000000001,2.1353899999999999e-05,0,"{""time_min_s"": 0.000375538}"
  p100-pcie-16gb,activation=sigmoid,tensorflow,1,conv2d x=46x13x274x274 out=21 kernel=6x6 stride=2x2 pad=2x2 bias=1 dtype=fp32,forward,default,time,s,0.0069068000000000003,6.0718299999999998e-05,0,"{""time_min_s"": 0.00679458}"
  p100-pcie-16gb,activation=sigmoid optimizer=Adadelta,tensorflow,1,conv2d x=36x8x223x223 out=7 kernel=1x1 stride=3x3 pad=0x0 dtype=fp32 phase=step,step,default,time,s,0.0037510199999999999,3.5988999999999997e-05,0,"{""time_min_s"": 0.00370966}"
  $ datasets/aic tables/aic_*.csv > a.csv; foretell data import a.csv --db a.db; sh taken a
  73 measurements taken from a.csv
  a100-sxm-80gb,loop=short,trtllm,1.0.0,attention x=32x32x4096x128 y=32x2x4096x128 z=32x2x4096x128 causal=1 dtype=bf16,forward,default,time,s,0.032639000000000001,,0,
  a100-sxm-80gb,loop=short,trtllm,1.0.0,attention x=32x40x1x128 y=32x40x4096x128 z=32x40x4096x128 dtype=bf16,forward,default,time,s,0.0015246000000000001,,0,
  a100-sxm-80gb,loop=short,trtllm,1.0.0,attention x=4x32x1x128 y=4x1x4096x128 z=4x1x4096x128 dtype=bf16,forward,default,time,s,2.6282999999999999e-05,,0,
  a100-sxm-80gb,loop=short,trtllm,1.0.0,attention x=8x12x8192x128 y=8x2x8192x128 z=8x2x8192x128 causal=1 dtype=bf16,forward,default,time,s,0.011403,,0,
  a100-sxm-80gb,loop=short,vllm,0.14.0,linear x=192x3584 out=1536 dtype=bf16,forward,default,time,s,1.9794999999999999e-05,,0,
  a100-sxm-80gb,loop=short,vllm,0.14.0,linear x=64x16384 out=1024 dtype=bf16,forward,default,time,s,3.1507000000000002e-05,,0,
  a100-sxm-80gb,loop=short cache=written,vllm,0.14.0,attention x=1x12x6144x128 y=1x4x6144x128 z=1x4x6144x128 causal=1 dtype=bf16,forward,default,time,s,0.00080961,,0,
  a100-sxm-80gb,loop=short cache=written,vllm,0.14.0,attention x=1x32x1x128 y=1x2x8192x128 z=1x2x8192x128 dtype=bf16,forward,default,time,s,3.6260999999999997e-05,,0,
  a100-sxm-80gb,loop=short cache=written,vllm,0.14.0,attention x=32x12x1024x128 y=32x2x1024x128 z=32x2x1024x128 causal=1 dtype=bf16,forward,default,time,s,0.00087560000000000003,,0,
  a100-sxm-80gb,loop=short cache=written,vllm,0.14.0,attention x=32x8x1x128 y=32x1x256x128 z=32x1x256x128 dtype=bf16,forward,default,time,s,1.8805e-05,,0,
  gb200,,trtllm,1.3.0rc17,attention x=16x40x1x256 y=16x40x32x256 z=16x40x32x256 dtype=bf16,forward,default,time,s,1.8425999999999999e-05,,0,"{""power_cap_w"": 1200}"
  gb200,,trtllm,1.3.0rc17,attention x=16x64x32x256 y=16x1x32x256 z=16x1x32x256 causal=1 dtype=bf16,forward,default,time,s,4.5068000000000003e-05,,0,"{""power_cap_w"": 1200}"
  gb200,,vllm,0.22.0,attention x=1x10x1x128 y=1x2x32x128 z=1x2x32x128 dtype=bf16,forward,default,time,s,6.1511000000000003e-06,,0,"{""power_cap_w"": 1200}"
  gb200,,vllm,0.22.0,attention x=8x64x1x128 y=8x64x1x128 z=8x64x1x128 dtype=bf16,forward,default,time,s,1.2291e-05,,0,"{""power_cap_w"": 1200}"
  gb200,,vllm,0.22.0,linear x=128x1024 out=7168 to=bf16 block=16 dtype=fp4,forward,default,time,s,8.1953999999999995e-06,,0,"{""power_cap_w"": 1200}"
  gb200,,vllm,0.22.0,linear x=1x64 out=3072 to=bf16 dtype=fp8e4m3,forward,default,time,s,7.1682999999999996e-06,,0,"{""power_cap_w"": 1200}"
  gb200,,vllm,0.22.0,linear x=2048x16384 out=65536 dtype=bf16,forward,default,time,s,0.0023227,,0,"{""power_cap_w"": 1200}"
  gb200,,vllm,0.22.0,linear x=513x16384 out=3584 to=bf16 dtype=fp8e4m3,forward,default,time,s,6.7971000000000004e-05,,0,"{""power_cap_w"": 1200}"
  gb200,,vllm,0.22.0,linear x=513x3584 out=16384 dtype=bf16,forward,default,time,s,5.2698999999999998e-05,,0,"{""power_cap_w"": 1200}"
  gb200,,vllm,0.22.0,moe x=16384x6144 hidden=2560 experts=160 topk=8 tp=32 dealt=1 dtype=bf16,forward,default,time,s,0.0020814000000000002,,0,"{""power_cap_w"": 1200}"
  gb200,,vllm,0.22.0,moe x=1x6144 hidden=2560 experts=160 topk=8 ep=16 to=bf16 dealt=1 dtype=fp8e4m3,forward,default,time,s,3.6860000000000003e-05,,0,"{""power_cap_w"": 1200}"
  gb200,,vllm,0.22.0,moe x=320x6144 hidden=2560 experts=160 topk=8 ep=8 to=bf16 block=128 dealt=1 dtype=fp8e4m3,forward,default,time,s,0.00038627000000000003,,0,"{""power_cap_w"": 1200}"
  gb200,loop=18000,vllm,0.22.0,linear x=1x64 out=3072 to=bf16 dtype=fp8e4m3,forward,default,power,W,270.39999999999998,,0,"{""power_cap_w"": 1200}"
  gb200,loop=18000,vllm,0.22.0,linear x=2048x16384 out=65536 dtype=bf16,forward,default,power,W,820.5,,0,"{""power_cap_w"": 1200}"
  gb200,loop=18000,vllm,0.22.0,linear x=513x16384 out=3584 to=bf16 dtype=fp8e4m3,forward,default,power,W,771,,0,"{""power_cap_w"": 1200}"
  gb200,loop=18000,vllm,0.22.0,linear x=513x3584 out=16384 dtype=bf16,forward,default,power,W,1126,,0,"{""power_cap_w"": 1200}"
  gb200,loop=3000,trtllm,1.3.0rc17,attention x=16x40x1x256 y=16x40x32x256 z=16x40x32x256 dtype=bf16,forward,default,power,W,582.70000000000005,,0,"{""power_cap_w"": 1200}"
  gb200,loop=3000,trtllm,1.3.0rc17,attention x=16x64x32x256 y=16x1x32x256 z=16x1x32x256 causal=1 dtype=bf16,forward,default,power,W,849.79999999999995,,0,"{""power_cap_w"": 1200}"
  gb200,loop=3000,vllm,0.22.0,attention x=1x10x1x128 y=1x2x32x128 z=1x2x32x128 dtype=bf16,forward,default,power,W,363.10000000000002,,0,"{""power_cap_w"": 1200}"
  gb200,loop=3000,vllm,0.22.0,attention x=8x64x1x128 y=8x64x1x128 z=8x64x1x128 dtype=bf16,forward,default,power,W,593.29999999999995,,0,"{""power_cap_w"": 1200}"
  gb200,loop=3000,vllm,0.22.0,linear x=128x1024 out=7168 to=bf16 block=16 dtype=fp4,forward,default,power,W,232.80000000000001,,0,"{""power_cap_w"": 1200}"
  gb200,loop=3000,vllm,0.22.0,moe x=16384x6144 hidden=2560 experts=160 topk=8 tp=32 dealt=1 dtype=bf16,forward,default,power,W,935.10000000000002,,0,"{""power_cap_w"": 1200}"
  gb200,loop=3000,vllm,0.22.0,moe x=1x6144 hidden=2560 experts=160 topk=8 ep=16 to=bf16 dealt=1 dtype=fp8e4m3,forward,default,power,W,1120.9000000000001,,0,"{""power_cap_w"": 1200}"
  gb200,loop=3000,vllm,0.22.0,moe x=320x6144 hidden=2560 experts=160 topk=8 ep=8 to=bf16 block=128 dealt=1 dtype=fp8e4m3,forward,default,power,W,769.5,,0,"{""power_cap_w"": 1200}"
  gb200,op=compute_scale to=fp8,trtllm,1.3.0rc17,reduce_max x=3585x128 axes=0x1 dtype=bf16,forward,default,time,s,1.0281e-05,,0,"{""power_cap_w"": 1200}"
  gb200,op=compute_scale to=fp8,vllm,0.22.0,reduce_max x=80x8192 axes=0x1 dtype=bf16,forward,default,time,s,1.2297000000000001e-06,,0,"{""power_cap_w"": 1200}"
  gb200,op=compute_scale to=fp8 loop=3000,trtllm,1.3.0rc17,reduce_max x=3585x128 axes=0x1 dtype=bf16,forward,default,power,W,469,,0,"{""power_cap_w"": 1200}"
  gb200,op=compute_scale to=fp8 loop=3000,vllm,0.22.0,reduce_max x=80x8192 axes=0x1 dtype=bf16,forward,default,power,W,268.89999999999998,,0,"{""power_cap_w"": 1200}"
  gb200,run_mode=eager,vllm,0.22.0,linear x=2816x3584 out=3584 to=bf16 block=128 dtype=fp8e4m3,forward,default,time,s,0.00026207999999999998,,0,"{""power_cap_w"": 1200}"
  gb200,run_mode=eager,vllm,0.22.0,linear x=4x7168 out=16384 to=bf16 block=128 dtype=fp8e4m3,forward,default,time,s,0.00025754,,0,"{""power_cap_w"": 1200}"
  gb200,run_mode=eager loop=3000,vllm,0.22.0,linear x=2816x3584 out=3584 to=bf16 block=128 dtype=fp8e4m3,forward,default,power,W,264.69999999999999,,0,"{""power_cap_w"": 1200}"
  gb200,run_mode=eager loop=3000,vllm,0.22.0,linear x=4x7168 out=16384 to=bf16 block=128 dtype=fp8e4m3,forward,default,power,W,588.70000000000005,,0,"{""power_cap_w"": 1200}"
  h100-sxm,loop=short,trtllm,1.3.0rc20,attention x=32x16x1x128 y=32x2x1024x128 z=32x2x1024x128 dtype=bf16,forward,default,time,s,2.8507e-05,,0,
  h100-sxm,loop=short,trtllm,1.3.0rc20,attention x=8x16x4096x192 y=8x1x4096x192 z=8x1x4096x192 causal=1 dtype=bf16,forward,default,time,s,0.0018397000000000001,,0,
  h100-sxm,loop=short,trtllm,1.3.0rc20,moe x=2x3072 hidden=1024 experts=256 topk=8 tp=16 ep=2 dealt=1 dtype=bf16,forward,default,time,s,3.3232000000000003e-05,,0,
  h100-sxm,loop=short,trtllm,1.3.0rc20,moe x=48x3072 hidden=1536 experts=256 topk=8 tp=4 ep=8 to=bf16 block=128 dealt=1 dtype=fp8e4m3,forward,default,time,s,6.6709000000000001e-05,,0,
  h100-sxm,loop=short,trtllm,1.3.0rc20,moe x=6144x4096 hidden=14336 experts=8 topk=2 tp=4 ep=2 to=bf16 dealt=1 dtype=fp8e4m3,forward,default,time,s,0.00050560999999999998,,0,
  h100-sxm,loop=short,vllm,0.24.0,linear x=2561x3584 out=1024 dtype=bf16,forward,default,time,s,2.5534999999999999e-05,,0,
  h100-sxm,loop=short,vllm,0.24.0,linear x=65x2048 out=3584 to=bf16 dtype=fp8e4m3,forward,default,time,s,1.0404000000000001e-05,,0,
  h100-sxm,loop=short,vllm,0.24.0,moe x=12288x4096 hidden=2048 experts=256 topk=8 ep=4 dealt=1 dtype=bf16,forward,default,time,s,0.0036814999999999999,,0,
  h100-sxm,loop=short,vllm,0.24.0,moe x=32x3072 hidden=1536 experts=256 topk=8 ep=8 to=bf16 block=128 dealt=1 dtype=fp8e4m3,forward,default,time,s,0.00018296999999999999,,0,
  h100-sxm,loop=short cache=written,vllm,0.24.0,attention x=256x64x1x64 y=256x8x8x64 z=256x8x8x64 dtype=bf16,forward,default,time,s,5.5316999999999999e-05,,0,
  h100-sxm,loop=short cache=written,vllm,0.24.0,attention x=8x16x12288x128 y=8x8x12288x128 z=8x8x12288x128 causal=1 dtype=bf16,forward,default,time,s,0.0084314000000000004,,0,
  h100-sxm,loop=short op=compute_scale to=fp8,trtllm,1.3.0rc20,reduce_max x=1281x7168 axes=0x1 dtype=bf16,forward,default,time,s,1.3788000000000001e-05,,0,
  h100-sxm,loop=short op=compute_scale to=fp8,vllm,0.24.0,reduce_max x=64x2560 axes=0x1 dtype=bf16,forward,default,time,s,7.4453000000000001e-07,,0,
  h100-sxm,loop=short run_mode=eager,vllm,0.24.0,linear x=48x128 out=10240 to=bf16 block=128 dtype=fp8e4m3,forward,default,time,s,8.7627000000000007e-05,,0,
  h100-sxm,loop=short run_mode=graph picks=all,vllm-triton,0.24.0,moe x=96x1024 hidden=2688 experts=512 topk=22 ep=128 to=bf16 dealt=1 dtype=fp8e4m3,forward,default,time,s,7.8708999999999995e-05,,0,
  h200-sxm,,vllm,0.22.0,attention x=256x8x1x64 y=256x2x32x64 z=256x2x32x64 dtype=bf16,forward,default,time,s,2.073e-05,,0,"{""power_cap_w"": 700}"
  h200-sxm,,vllm,0.22.0,attention x=2x16x1536x64 y=2x2x1536x64 z=2x2x1536x64 causal=1 dtype=bf16,forward,default,time,s,3.3469000000000001e-05,,0,"{""power_cap_w"": 700}"
  h200-sxm,,vllm,0.22.0,linear x=224x3072 out=10240 dtype=bf16,forward,default,time,s,2.7497000000000001e-05,,0,"{""power_cap_w"": 700}"
  h200-sxm,loop=18000,vllm,0.22.0,linear x=224x3072 out=10240 dtype=bf16,forward,default,power,W,636.70000000000005,,0,"{""power_cap_w"": 700}"
  h200-sxm,loop=3000,vllm,0.22.0,attention x=256x8x1x64 y=256x2x32x64 z=256x2x32x64 dtype=bf16,forward,default,power,W,422.89999999999998,,0,"{""power_cap_w"": 700}"
  h200-sxm,loop=3000,vllm,0.22.0,attention x=2x16x1536x64 y=2x2x1536x64 z=2x2x1536x64 causal=1 dtype=bf16,forward,default,power,W,326.39999999999998,,0,"{""power_cap_w"": 700}"
  h200-sxm,loop=short,trtllm,1.3.0rc20,attention x=1x16x1x64 y=1x8x32x64 z=1x8x32x64 dtype=bf16,forward,default,time,s,7.9466999999999997e-06,,0,
  h200-sxm,loop=short,trtllm,1.3.0rc20,attention x=8x12x8192x256 y=8x12x8192x256 z=8x12x8192x256 causal=1 dtype=bf16,forward,default,time,s,0.0066001000000000002,,0,
  h200-sxm,loop=short,trtllm,1.3.0rc20,moe x=3072x4096 hidden=1536 experts=128 topk=8 tp=8 ep=32 dealt=1 dtype=bf16,forward,default,time,s,6.5636999999999995e-05,,0,
  h200-sxm,loop=short,trtllm,1.3.0rc20,moe x=384x7168 hidden=2048 experts=256 topk=8 ep=64 to=bf16 block=128 dealt=1 dtype=fp8e4m3,forward,default,time,s,7.7535999999999998e-05,,0,
  h200-sxm,loop=short,trtllm,1.3.0rc20,moe x=80x2048 hidden=5120 experts=512 topk=22 tp=16 ep=2 to=bf16 gated=0 dealt=1 dtype=fp8e4m3,forward,default,time,s,0.00015333999999999999,,0,
  h200-sxm,loop=short op=compute_scale to=fp8,trtllm,1.3.0rc20,reduce_max x=3841x64 axes=0x1 dtype=bf16,forward,default,time,s,7.4549000000000004e-06,,0,
  h200-sxm,op=compute_scale to=fp8,vllm,0.22.0,reduce_max x=4353x2560 axes=0x1 dtype=bf16,forward,default,time,s,6.0036999999999998e-06,,0,"{""power_cap_w"": 700}"
  h200-sxm,op=compute_scale to=fp8 loop=3000,vllm,0.22.0,reduce_max x=4353x2560 axes=0x1 dtype=bf16,forward,default,power,W,648.79999999999995,,0,"{""power_cap_w"": 700}"
  h200-sxm,run_mode=eager,vllm,0.22.0,linear x=6x65536 out=2048 to=bf16 block=128 dtype=fp8e4m3,forward,default,time,s,8.2601000000000004e-05,,0,"{""power_cap_w"": 700}"
  h200-sxm,run_mode=eager loop=3000,vllm,0.22.0,linear x=6x65536 out=2048 to=bf16 block=128 dtype=fp8e4m3,forward,default,power,W,533.70000000000005,,0,"{""power_cap_w"": 700}"
  $ datasets/deepbench tables/deepbench_ops.csv > d.csv; foretell data import d.csv --db d.db; sh taken d
  29 measurements taken from d.csv
  gtx-1080-ti,calls=library,deepbench,1,gru x=750x4x2816 hidden=2816 dtype=int8,forward,default,time,s,0.218468,,0,
  gtx-1080-ti,calls=single,deepbench,1,rnn x=50x64x1760 hidden=1760 dtype=fp32,forward,default,time,s,0.0057629999999999999,,0,"{""source_net"": ""DeepSpeech""}"
  m40,calls=single cuda=7.5,deepbench,1,collective x=6553600 ranks=8 dtype=fp32,forward,default,time,s,0.0074917899999999999,,0,
  m40,calls=single cuda=7.5,deepbench,1,conv2d x=16x512x28x28 out=1024 kernel=1x1 stride=2x2 pad=0x0 dtype=fp32 phase=backward wrt=x,backward,default,time,s,0.001583,,0,"{""algo"": ""IMPLICIT_PRECOMP_GEMM""}"
  m40,calls=single cuda=7.5,deepbench,1,lstm x=25x32x512 hidden=512 dtype=fp32 phase=backward wrt=w,backward,default,time,s,0.00065600000000000001,,0,"{""source_net"": ""Machine Translation""}"
  m40,calls=single cuda=7.5,deepbench,1,rnn x=50x128x2048 hidden=2048 dtype=fp32 phase=backward wrt=x,backward,default,time,s,0.018117999999999999,,0,"{""source_net"": ""DeepSpeech""}"
  mi25,calls=single miopen=1.3,deepbench,1,conv2d x=16x2048x7x7 out=512 kernel=1x1 stride=1x1 pad=0x0 dtype=fp32 phase=backward wrt=w,backward,default,time,s,0.00031,,0,"{""algo"": ""ConvolutionFwdAlgoGEMM""}"
  mi25,calls=single miopen=1.3,deepbench,1,matmul x=1024x2560 y=2560x24000 dtype=fp32,forward,default,time,s,0.014184,,0,
  p100-pcie-16gb,calls=single,deepbench,1,conv2d x=16x32x12x120 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp16 phase=backward wrt=w,backward,default,time,s,0.00035399999999999999,,0,"{""algo"": ""IMPLICIT_PRECOMP_GEMM""}"
  p100-pcie-16gb,calls=single,deepbench,1,conv2d x=8x128x28x28 out=512 kernel=1x1 stride=2x2 pad=0x0 dtype=fp16,forward,default,time,s,4.6e-05,,0,"{""algo"": ""IMPLICIT_PRECOMP_GEMM""}"
  p100-pcie-16gb,calls=single,deepbench,1,conv2d x=8x512x7x7 out=512 kernel=3x3 stride=1x1 pad=1x1 dtype=fp16 phase=backward wrt=x,backward,default,time,s,0.00032499999999999999,,0,"{""algo"": ""WINOGRAD""}"
  p100-pcie-16gb,calls=single,deepbench,1,gru x=1x32x512 hidden=512 dtype=fp32,forward,default,time,s,0.000103,,0,"{""source_net"": ""DeepSpeech""}"
  p100-pcie-16gb,calls=single,deepbench,1,gru x=750x32x2048 hidden=2048 dtype=fp16,forward,default,time,s,0.55676300000000001,,0,
  p100-pcie-16gb,calls=single,deepbench,1,gru x=750x32x2816 hidden=2816 dtype=fp16 phase=backward wrt=x,backward,default,time,s,0.97618499999999997,,0,
  p100-pcie-16gb,calls=single,deepbench,1,gru x=750x32x2816 hidden=2816 dtype=fp32 phase=backward wrt=w,backward,default,time,s,0.12850400000000001,,0,"{""source_net"": ""DeepSpeech""}"
  p100-pcie-16gb,calls=single,deepbench,1,lstm x=25x128x4096 hidden=4096 dtype=fp16 phase=backward wrt=x,backward,default,time,s,0.088358999999999993,,0,
  p100-pcie-16gb,calls=single,deepbench,1,lstm x=25x32x2048 hidden=2048 dtype=fp16,forward,default,time,s,0.020931000000000002,,0,
  p100-pcie-16gb,calls=single,deepbench,1,matmul x=1024x500000 y=500000x16 dtype=fp16,forward,default,time,s,0.010788000000000001,,0,
  p100-pcie-16gb,calls=single,deepbench,1,matmul x=6144x2048 y=2048x16 dtype=fp32,forward,default,time,s,0.00030800000000000001,,0,
  p100-pcie-16gb,calls=single,deepbench,1,rnn x=50x128x2560 hidden=2560 dtype=fp32 phase=backward wrt=w,backward,default,time,s,0.010041,,0,"{""source_net"": ""DeepSpeech""}"
  p100-pcie-16gb,calls=single,deepbench,1,rnn x=50x64x1760 hidden=1760 dtype=fp16 phase=backward wrt=x,backward,default,time,s,0.013004,,0,
  p100-pcie-16gb,calls=single,deepbench,1,rnn x=50x64x2560 hidden=2560 dtype=fp16,forward,default,time,s,0.019109999999999999,,0,
  titan-x-maxwell,calls=single cuda=7.5,deepbench,1,lstm x=150x64x256 hidden=256 dtype=fp32,forward,default,time,s,0.012768,,0,"{""source_net"": ""Language Modelling""}"
  titan-x-pascal,calls=library,deepbench,1,conv2d x=1x512x28x28 out=256 kernel=1x1 stride=2x2 pad=0x0 to=int32 dtype=int8,forward,default,time,s,1.9000000000000001e-05,,0,
  titan-x-pascal,calls=library,deepbench,1,lstm x=25x1x1024 hidden=1024 dtype=int8,forward,default,time,s,0.0019419999999999999,,0,
  titan-xp,calls=library,deepbench,1,matmul x=5124x2048 y=2048x700 to=int32 dtype=int8,forward,default,time,s,0.00054500000000000002,,0,
  titan-xp,calls=single,deepbench,1,lstm x=25x64x512 hidden=512 dtype=fp32 phase=backward wrt=x,backward,default,time,s,0.0021719999999999999,,0,"{""source_net"": ""Machine Translation""}"
  vega-frontier-edition,calls=single miopen=1.3,deepbench,1,conv2d x=4x1x161x700 out=32 kernel=5x20 stride=2x2 pad=0x0 dtype=fp32,forward,default,time,s,0.000185,,0,"{""algo"": ""ConvolutionFwdAlgoDirect""}"
  vega-frontier-edition,calls=single miopen=1.3,deepbench,1,gru x=1500x64x1024 hidden=1024 dtype=fp32 phase=backward wrt=x,backward,default,time,s,0.40215699999999999,,0,
  $ datasets/timm tables/timm_nets.csv > t.csv; foretell data import t.csv --db t.db; sh taken t
  12 measurements taken from t.csv
  rtx-3090,compiled=0 cuda=11.3 layout=nchw,torch,1.12,network name=regnetv_040 x=256x3x224x224 dtype=amp,step,default,time,s,0.40958099999999997,,0,"{""throughput_sps"": 622.71, ""params_m"": 20.64}"
  rtx-3090,compiled=0 cuda=11.3 layout=nhwc,torch,1.12,network name=vit_base_patch32_plus_256 x=512x3x256x256 dtype=amp,step,default,time,s,0.537138,,0,"{""throughput_sps"": 951.5, ""params_m"": 119.48}"
  rtx-3090,compiled=0 cuda=11.7 layout=nchw,torch,1.13,network name=ese_vovnet39b_evos x=1024x3x224x224 dtype=amp,forward,default,time,s,0.63939999999999997,,0,"{""throughput_sps"": 1601.47, ""params_m"": 24.58, ""gmacs"": 7.07, ""macts_m"": 6.74}"
  rtx-3090,compiled=0 cuda=11.7 layout=nchw,torch,1.13,network name=vit_relpos_base_patch16_rpn_224 x=1024x3x224x224 dtype=amp,forward,default,time,s,1.0376399999999999,,0,"{""throughput_sps"": 986.84, ""params_m"": 86.41, ""gmacs"": 17.51, ""macts_m"": 24.97}"
  rtx-3090,compiled=0 cuda=11.7 layout=nhwc,torch,1.13,network name=regnetx_004 x=1024x3x224x224 dtype=amp,forward,default,time,s,0.075225,,0,"{""throughput_sps"": 13610.2, ""params_m"": 5.16, ""gmacs"": 0.4, ""macts_m"": 3.14}"
  rtx-3090,compiled=0 cuda=11.7 layout=nhwc,torch,1.13,network name=spnasnet_100 x=1024x3x224x224 dtype=amp,forward,default,time,s,0.102296,,0,"{""throughput_sps"": 10009.2, ""params_m"": 4.42, ""gmacs"": 0.35, ""macts_m"": 6.03}"
  rtx-3090,compiled=0 cuda=12.1 layout=nchw,torch,2.1.0,network name=ecaresnet269d x=1024x3x320x320 dtype=amp,forward,default,time,s,3.0373899999999998,,0,"{""throughput_sps"": 337.13, ""params_m"": 102.09, ""gmacs"": 41.53, ""macts_m"": 83.69}"
  rtx-3090,compiled=0 cuda=12.1 layout=nchw,torch,2.1.0,network name=regnetz_040_h x=512x3x320x320 dtype=amp,forward,default,time,s,0.53418200000000005,,0,"{""throughput_sps"": 958.46, ""params_m"": 28.94, ""gmacs"": 6.43, ""macts_m"": 37.94}"
  rtx-3090,compiled=0 cuda=12.1 layout=nhwc,torch,2.1.0,network name=focalnet_tiny_srf x=1024x3x224x224 dtype=amp,forward,default,time,s,0.43511300000000003,,0,"{""throughput_sps"": 2353.35, ""params_m"": 28.43, ""gmacs"": 4.42, ""macts_m"": 16.32}"
  rtx-3090,compiled=0 cuda=12.4 layout=nchw,torch,2.4.0,network name=edgenext_small x=1024x3x256x256 dtype=amp,forward,default,time,s,0.25606899999999999,,0,"{""throughput_sps"": 3998.75, ""params_m"": 5.59, ""gmacs"": 1.26, ""macts_m"": 9.07}"
  rtx-3090,compiled=0 cuda=12.4 layout=nchw,torch,2.4.0,network name=mobilenetv4_conv_aa_large x=1024x3x384x384 dtype=amp,forward,default,time,s,0.75335600000000003,,0,"{""throughput_sps"": 1359.23, ""params_m"": 32.59, ""gmacs"": 7.07, ""macts_m"": 32.29}"
  rtx-3090,compiled=0 cuda=12.4 layout=nhwc,torch,2.4.0,network name=xcit_small_24_p8_224 x=1024x3x224x224 dtype=amp,forward,default,time,s,2.9563700000000002,,0,"{""throughput_sps"": 346.37, ""params_m"": 47.63, ""gmacs"": 35.81, ""macts_m"": 90.78}"
  $ datasets/thesis tables/thesis_*.csv > s.csv; foretell data import s.csv --db s.db; sh taken s
  note: tables/thesis_net_ops.csv: 1 rows are of operations without a kind here: generic
  note: tables/thesis_ops.csv: 1 rows are of operations without a kind here: generic
  69 measurements taken from s.csv
  a30,session=2031-05-04_made_up,torch,2.3.1,network name=small x=4x3x20x20 dtype=fp32,forward,default,energy,J,0.19800000000000001,,1935656430,"{""row_id"": 1}"
  a30,session=2031-05-04_made_up,torch,2.3.1,network name=small x=4x3x20x20 dtype=fp32,forward,default,power,W,99,,1935656430,"{""row_id"": 1}"
  a30,session=2031-05-04_made_up,torch,2.3.1,network name=small x=4x3x20x20 dtype=fp32,forward,default,time,s,0.002,1.0000000000000001e-05,1935656430,"{""row_id"": 1}"
  a30,session=2031-05-04_made_up state=eval,torch,2.3.1,batchnorm x=4x8x10x10 dtype=fp32,forward,default,energy,J,0.012999999999999999,,1935656430,"{""row_id"": 3, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 2, ""op"": ""BatchNorm2d"", ""repr"": ""BatchNorm2d(8)"", ""bias"": 1, ""num_features"": 8, ""eps"": 1e-05, ""momentum"": 0.1, ""affine"": 1, ""macs"": 200, ""params"": 2}"
  a30,session=2031-05-04_made_up state=eval,torch,2.3.1,batchnorm x=4x8x10x10 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 3, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 2, ""op"": ""BatchNorm2d"", ""repr"": ""BatchNorm2d(8)"", ""bias"": 1, ""num_features"": 8, ""eps"": 1e-05, ""momentum"": 0.1, ""affine"": 1, ""macs"": 200, ""params"": 2}"
  a30,session=2031-05-04_made_up state=eval,torch,2.3.1,batchnorm x=4x8x10x10 dtype=fp32,forward,default,time,s,0.00012999999999999999,1.0000000000000001e-05,1935656430,"{""row_id"": 3, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 2, ""op"": ""BatchNorm2d"", ""repr"": ""BatchNorm2d(8)"", ""bias"": 1, ""num_features"": 8, ""eps"": 1e-05, ""momentum"": 0.1, ""affine"": 1, ""macs"": 200, ""params"": 2}"
  a30,session=2031-05-04_made_up state=eval,torch,2.3.1,relu x=4x8x10x10 dtype=fp32 inplace=1,forward,default,energy,J,0.014,,1935656430,"{""row_id"": 5, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 3, ""op"": ""ReLU"", ""repr"": ""ReLU(inplace=True)"", ""macs"": 300, ""params"": 3}"
  a30,session=2031-05-04_made_up state=eval,torch,2.3.1,relu x=4x8x10x10 dtype=fp32 inplace=1,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 5, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 3, ""op"": ""ReLU"", ""repr"": ""ReLU(inplace=True)"", ""macs"": 300, ""params"": 3}"
  a30,session=2031-05-04_made_up state=eval,torch,2.3.1,relu x=4x8x10x10 dtype=fp32 inplace=1,forward,default,time,s,0.00013999999999999999,1.0000000000000001e-05,1935656430,"{""row_id"": 5, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 3, ""op"": ""ReLU"", ""repr"": ""ReLU(inplace=True)"", ""macs"": 300, ""params"": 3}"
  a30,session=2031-05-04_made_up state=eval,torch,2.3.1,stochastic_depth x=4x8x5x5 dtype=fp32,forward,default,energy,J,0.024,,1935656430,"{""row_id"": 16, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 13, ""op"": ""StochasticDepth"", ""repr"": ""StochasticDepth(p=0.5, mode=row)"", ""p"": 0.5, ""macs"": 1300, ""params"": 13}"
  a30,session=2031-05-04_made_up state=eval,torch,2.3.1,stochastic_depth x=4x8x5x5 dtype=fp32,forward,default,energy,J,0.025000000000000001,,1935656430,"{""row_id"": 18, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 14, ""op"": ""StochasticDepth"", ""repr"": ""StochasticDepth(p=0.0, mode=row)"", ""p"": 0.0, ""macs"": 1400, ""params"": 14}"
  a30,session=2031-05-04_made_up state=eval,torch,2.3.1,stochastic_depth x=4x8x5x5 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 16, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 13, ""op"": ""StochasticDepth"", ""repr"": ""StochasticDepth(p=0.5, mode=row)"", ""p"": 0.5, ""macs"": 1300, ""params"": 13}"
  a30,session=2031-05-04_made_up state=eval,torch,2.3.1,stochastic_depth x=4x8x5x5 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 18, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 14, ""op"": ""StochasticDepth"", ""repr"": ""StochasticDepth(p=0.0, mode=row)"", ""p"": 0.0, ""macs"": 1400, ""params"": 14}"
  a30,session=2031-05-04_made_up state=eval,torch,2.3.1,stochastic_depth x=4x8x5x5 dtype=fp32,forward,default,time,s,0.00024000000000000001,1.0000000000000001e-05,1935656430,"{""row_id"": 16, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 13, ""op"": ""StochasticDepth"", ""repr"": ""StochasticDepth(p=0.5, mode=row)"", ""p"": 0.5, ""macs"": 1300, ""params"": 13}"
  a30,session=2031-05-04_made_up state=eval,torch,2.3.1,stochastic_depth x=4x8x5x5 dtype=fp32,forward,default,time,s,0.00025000000000000001,1.0000000000000001e-05,1935656430,"{""row_id"": 18, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 14, ""op"": ""StochasticDepth"", ""repr"": ""StochasticDepth(p=0.0, mode=row)"", ""p"": 0.0, ""macs"": 1400, ""params"": 14}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,avgpool2d x=4x8x10x10 kernel=2x2 stride=2x2 pad=0x0 dtype=fp32,forward,default,energy,J,0.016,,1935656430,"{""row_id"": 8, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 5, ""op"": ""AvgPool2d"", ""repr"": ""AvgPool2d(2)"", ""macs"": 500, ""params"": 5}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,avgpool2d x=4x8x10x10 kernel=2x2 stride=2x2 pad=0x0 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 8, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 5, ""op"": ""AvgPool2d"", ""repr"": ""AvgPool2d(2)"", ""macs"": 500, ""params"": 5}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,avgpool2d x=4x8x10x10 kernel=2x2 stride=2x2 pad=0x0 dtype=fp32,forward,default,time,s,0.00016000000000000001,1.0000000000000001e-05,1935656430,"{""row_id"": 8, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 5, ""op"": ""AvgPool2d"", ""repr"": ""AvgPool2d(2)"", ""macs"": 500, ""params"": 5}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,avgpool2d x=4x8x13x13 kernel=3x3 stride=2x2 pad=0x0 dtype=fp32,forward,default,energy,J,0.017999999999999999,,1935656430,"{""row_id"": 10, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 7, ""op"": ""AdaptiveAvgPool2d"", ""repr"": ""AdaptiveAvgPool2d((6, 6))"", ""macs"": 700, ""params"": 7}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,avgpool2d x=4x8x13x13 kernel=3x3 stride=2x2 pad=0x0 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 10, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 7, ""op"": ""AdaptiveAvgPool2d"", ""repr"": ""AdaptiveAvgPool2d((6, 6))"", ""macs"": 700, ""params"": 7}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,avgpool2d x=4x8x13x13 kernel=3x3 stride=2x2 pad=0x0 dtype=fp32,forward,default,time,s,0.00018000000000000001,1.0000000000000001e-05,1935656430,"{""row_id"": 10, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 7, ""op"": ""AdaptiveAvgPool2d"", ""repr"": ""AdaptiveAvgPool2d((6, 6))"", ""macs"": 700, ""params"": 7}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,batchnorm x=4x8x10x10 train=1 dtype=fp32 phase=forward_backward,forward_backward,ieee,energy,J,0.012999999999999999,,1935656430,"{""row_id"": 4, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 2, ""op"": ""BatchNorm2d"", ""repr"": ""BatchNorm2d(8)"", ""bias"": 1, ""num_features"": 8, ""eps"": 1e-05, ""momentum"": 0.1, ""affine"": 1, ""macs"": 200, ""params"": 2}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,batchnorm x=4x8x10x10 train=1 dtype=fp32 phase=forward_backward,forward_backward,ieee,power,W,100.5,2,1935656430,"{""row_id"": 4, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 2, ""op"": ""BatchNorm2d"", ""repr"": ""BatchNorm2d(8)"", ""bias"": 1, ""num_features"": 8, ""eps"": 1e-05, ""momentum"": 0.1, ""affine"": 1, ""macs"": 200, ""params"": 2}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,batchnorm x=4x8x10x10 train=1 dtype=fp32 phase=forward_backward,forward_backward,ieee,time,s,0.00012999999999999999,1.0000000000000001e-05,1935656430,"{""row_id"": 4, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 2, ""op"": ""BatchNorm2d"", ""repr"": ""BatchNorm2d(8)"", ""bias"": 1, ""num_features"": 8, ""eps"": 1e-05, ""momentum"": 0.1, ""affine"": 1, ""macs"": 200, ""params"": 2}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,conv2d x=4x3x20x20 out=8 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32,forward,default,energy,J,0.010999999999999999,,1935656430,"{""row_id"": 1, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 0, ""op"": ""Conv2d"", ""repr"": ""Conv2d(3, 8, kernel_size=(3, 3))"", ""macs"": 0, ""params"": 0}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,conv2d x=4x3x20x20 out=8 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 1, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 0, ""op"": ""Conv2d"", ""repr"": ""Conv2d(3, 8, kernel_size=(3, 3))"", ""macs"": 0, ""params"": 0}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,conv2d x=4x3x20x20 out=8 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32,forward,default,time,s,0.00011,1.0000000000000001e-05,1935656430,"{""row_id"": 1, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 0, ""op"": ""Conv2d"", ""repr"": ""Conv2d(3, 8, kernel_size=(3, 3))"", ""macs"": 0, ""params"": 0}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,conv2d x=4x8x10x10 out=8 kernel=3x3 stride=1x1 pad=1x1 groups=8 bias=1 dtype=fp32,forward,default,energy,J,0.012,,1935656430,"{""row_id"": 2, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 1, ""op"": ""Conv2d"", ""repr"": ""Conv2d(8, 8, kernel_size=(3, 3))"", ""macs"": 100, ""params"": 1}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,conv2d x=4x8x10x10 out=8 kernel=3x3 stride=1x1 pad=1x1 groups=8 bias=1 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 2, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 1, ""op"": ""Conv2d"", ""repr"": ""Conv2d(8, 8, kernel_size=(3, 3))"", ""macs"": 100, ""params"": 1}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,conv2d x=4x8x10x10 out=8 kernel=3x3 stride=1x1 pad=1x1 groups=8 bias=1 dtype=fp32,forward,default,time,s,0.00012,1.0000000000000001e-05,1935656430,"{""row_id"": 2, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 1, ""op"": ""Conv2d"", ""repr"": ""Conv2d(8, 8, kernel_size=(3, 3))"", ""macs"": 100, ""params"": 1}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,gelu x=4x8 dtype=fp32,forward,default,energy,J,0.021999999999999999,,1935656430,"{""row_id"": 14, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 11, ""op"": ""GELU"", ""repr"": ""GELU(approximate='none')"", ""macs"": 1100, ""params"": 11}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,gelu x=4x8 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 14, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 11, ""op"": ""GELU"", ""repr"": ""GELU(approximate='none')"", ""macs"": 1100, ""params"": 11}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,gelu x=4x8 dtype=fp32,forward,default,time,s,0.00022000000000000001,1.0000000000000001e-05,1935656430,"{""row_id"": 14, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 11, ""op"": ""GELU"", ""repr"": ""GELU(approximate='none')"", ""macs"": 1100, ""params"": 11}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,generic read=800 out=4x2x10x10 dtype=fp32,forward,default,energy,J,0.027,,1935656430,"{""row_id"": 21, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 16, ""op"": ""PixelShuffle"", ""repr"": ""PixelShuffle(2)"", ""macs"": 1600, ""params"": 16}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,generic read=800 out=4x2x10x10 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 21, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 16, ""op"": ""PixelShuffle"", ""repr"": ""PixelShuffle(2)"", ""macs"": 1600, ""params"": 16}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,generic read=800 out=4x2x10x10 dtype=fp32,forward,default,time,s,0.00027,1.0000000000000001e-05,1935656430,"{""row_id"": 21, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 16, ""op"": ""PixelShuffle"", ""repr"": ""PixelShuffle(2)"", ""macs"": 1600, ""params"": 16}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,global_avgpool x=4x8x5x5 dtype=fp32,forward,default,energy,J,0.017000000000000001,,1935656430,"{""row_id"": 9, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 6, ""op"": ""AdaptiveAvgPool2d"", ""repr"": ""AdaptiveAvgPool2d((1, 1))"", ""macs"": 600, ""params"": 6}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,global_avgpool x=4x8x5x5 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 9, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 6, ""op"": ""AdaptiveAvgPool2d"", ""repr"": ""AdaptiveAvgPool2d((1, 1))"", ""macs"": 600, ""params"": 6}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,global_avgpool x=4x8x5x5 dtype=fp32,forward,default,time,s,0.00017000000000000001,1.0000000000000001e-05,1935656430,"{""row_id"": 9, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 6, ""op"": ""AdaptiveAvgPool2d"", ""repr"": ""AdaptiveAvgPool2d((1, 1))"", ""macs"": 600, ""params"": 6}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,hardswish x=4x8x5x5 dtype=fp32,forward,default,energy,J,0.025999999999999999,,1935656430,"{""row_id"": 20, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 15, ""op"": ""Hardswish"", ""repr"": ""Hardswish()"", ""macs"": 1500, ""params"": 15}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,hardswish x=4x8x5x5 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 20, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 15, ""op"": ""Hardswish"", ""repr"": ""Hardswish()"", ""macs"": 1500, ""params"": 15}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,hardswish x=4x8x5x5 dtype=fp32,forward,default,time,s,0.00025999999999999998,1.0000000000000001e-05,1935656430,"{""row_id"": 20, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 15, ""op"": ""Hardswish"", ""repr"": ""Hardswish()"", ""macs"": 1500, ""params"": 15}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,layernorm x=4x5x5x8 norm=1 dtype=fp32,forward,default,energy,J,0.02,,1935656430,"{""row_id"": 12, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 9, ""op"": ""LayerNorm"", ""repr"": ""LayerNorm((8,))"", ""macs"": 900, ""params"": 9}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,layernorm x=4x5x5x8 norm=1 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 12, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 9, ""op"": ""LayerNorm"", ""repr"": ""LayerNorm((8,))"", ""macs"": 900, ""params"": 9}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,layernorm x=4x5x5x8 norm=1 dtype=fp32,forward,default,time,s,0.00020000000000000001,1.0000000000000001e-05,1935656430,"{""row_id"": 12, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 9, ""op"": ""LayerNorm"", ""repr"": ""LayerNorm((8,))"", ""macs"": 900, ""params"": 9}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,linear x=4x8 out=10 bias=1 dtype=fp32,forward,default,energy,J,0.021000000000000001,,1935656430,"{""row_id"": 13, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 10, ""op"": ""Linear"", ""repr"": ""Linear(8, 10)"", ""in_features"": 8, ""macs"": 1000, ""params"": 10}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,linear x=4x8 out=10 bias=1 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 13, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 10, ""op"": ""Linear"", ""repr"": ""Linear(8, 10)"", ""in_features"": 8, ""macs"": 1000, ""params"": 10}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,linear x=4x8 out=10 bias=1 dtype=fp32,forward,default,time,s,0.00021000000000000001,1.0000000000000001e-05,1935656430,"{""row_id"": 13, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 10, ""op"": ""Linear"", ""repr"": ""Linear(8, 10)"", ""in_features"": 8, ""macs"": 1000, ""params"": 10}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,maxpool2d x=4x8x10x10 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32,forward,default,energy,J,0.014999999999999999,,1935656430,"{""row_id"": 7, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 4, ""op"": ""MaxPool2d"", ""repr"": ""MaxPool2d(3)"", ""macs"": 400, ""params"": 4}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,maxpool2d x=4x8x10x10 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 7, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 4, ""op"": ""MaxPool2d"", ""repr"": ""MaxPool2d(3)"", ""macs"": 400, ""params"": 4}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,maxpool2d x=4x8x10x10 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32,forward,default,time,s,0.00014999999999999999,1.0000000000000001e-05,1935656430,"{""row_id"": 7, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 4, ""op"": ""MaxPool2d"", ""repr"": ""MaxPool2d(3)"", ""macs"": 400, ""params"": 4}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,relu x=4x8x10x10 dtype=fp32 phase=forward_backward inplace=1,forward_backward,ieee,energy,J,0.014,,1935656430,"{""row_id"": 6, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 3, ""op"": ""ReLU"", ""repr"": ""ReLU(inplace=True)"", ""macs"": 300, ""params"": 3}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,relu x=4x8x10x10 dtype=fp32 phase=forward_backward inplace=1,forward_backward,ieee,power,W,100.5,2,1935656430,"{""row_id"": 6, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 3, ""op"": ""ReLU"", ""repr"": ""ReLU(inplace=True)"", ""macs"": 300, ""params"": 3}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,relu x=4x8x10x10 dtype=fp32 phase=forward_backward inplace=1,forward_backward,ieee,time,s,0.00013999999999999999,1.0000000000000001e-05,1935656430,"{""row_id"": 6, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 3, ""op"": ""ReLU"", ""repr"": ""ReLU(inplace=True)"", ""macs"": 300, ""params"": 3}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,resize x=4x8x1x1 out=4x8x7x7 dtype=fp32,forward,default,energy,J,0.019,,1935656430,"{""row_id"": 11, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 8, ""op"": ""AdaptiveAvgPool2d"", ""repr"": ""AdaptiveAvgPool2d((7, 7))"", ""macs"": 800, ""params"": 8}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,resize x=4x8x1x1 out=4x8x7x7 dtype=fp32,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 11, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 8, ""op"": ""AdaptiveAvgPool2d"", ""repr"": ""AdaptiveAvgPool2d((7, 7))"", ""macs"": 800, ""params"": 8}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,resize x=4x8x1x1 out=4x8x7x7 dtype=fp32,forward,default,time,s,0.00019000000000000001,1.0000000000000001e-05,1935656430,"{""row_id"": 11, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 8, ""op"": ""AdaptiveAvgPool2d"", ""repr"": ""AdaptiveAvgPool2d((7, 7))"", ""macs"": 800, ""params"": 8}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,silu x=4x8 dtype=fp32 inplace=1,forward,default,energy,J,0.023,,1935656430,"{""row_id"": 15, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 12, ""op"": ""SiLU"", ""repr"": ""SiLU(inplace=True)"", ""macs"": 1200, ""params"": 12}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,silu x=4x8 dtype=fp32 inplace=1,forward,default,power,W,100.5,2,1935656430,"{""row_id"": 15, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 12, ""op"": ""SiLU"", ""repr"": ""SiLU(inplace=True)"", ""macs"": 1200, ""params"": 12}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,silu x=4x8 dtype=fp32 inplace=1,forward,default,time,s,0.00023000000000000001,1.0000000000000001e-05,1935656430,"{""row_id"": 15, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 12, ""op"": ""SiLU"", ""repr"": ""SiLU(inplace=True)"", ""macs"": 1200, ""params"": 12}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,stochastic_depth x=4x8x5x5 dtype=fp32 phase=forward_backward,forward_backward,ieee,energy,J,0.025000000000000001,,1935656430,"{""row_id"": 19, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 14, ""op"": ""StochasticDepth"", ""repr"": ""StochasticDepth(p=0.0, mode=row)"", ""p"": 0.0, ""macs"": 1400, ""params"": 14}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,stochastic_depth x=4x8x5x5 dtype=fp32 phase=forward_backward,forward_backward,ieee,power,W,100.5,2,1935656430,"{""row_id"": 19, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 14, ""op"": ""StochasticDepth"", ""repr"": ""StochasticDepth(p=0.0, mode=row)"", ""p"": 0.0, ""macs"": 1400, ""params"": 14}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,stochastic_depth x=4x8x5x5 dtype=fp32 phase=forward_backward,forward_backward,ieee,time,s,0.00025000000000000001,1.0000000000000001e-05,1935656430,"{""row_id"": 19, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 14, ""op"": ""StochasticDepth"", ""repr"": ""StochasticDepth(p=0.0, mode=row)"", ""p"": 0.0, ""macs"": 1400, ""params"": 14}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,stochastic_depth x=4x8x5x5 train=1 dtype=fp32 phase=forward_backward,forward_backward,ieee,energy,J,0.024,,1935656430,"{""row_id"": 17, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 13, ""op"": ""StochasticDepth"", ""repr"": ""StochasticDepth(p=0.5, mode=row)"", ""p"": 0.5, ""macs"": 1300, ""params"": 13}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,stochastic_depth x=4x8x5x5 train=1 dtype=fp32 phase=forward_backward,forward_backward,ieee,power,W,100.5,2,1935656430,"{""row_id"": 17, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 13, ""op"": ""StochasticDepth"", ""repr"": ""StochasticDepth(p=0.5, mode=row)"", ""p"": 0.5, ""macs"": 1300, ""params"": 13}"
  a30,session=2031-05-04_made_up state=train,torch,2.3.1,stochastic_depth x=4x8x5x5 train=1 dtype=fp32 phase=forward_backward,forward_backward,ieee,time,s,0.00024000000000000001,1.0000000000000001e-05,1935656430,"{""row_id"": 17, ""model"": ""small"", ""model_input"": ""4x3x20x20"", ""block"": 13, ""op"": ""StochasticDepth"", ""repr"": ""StochasticDepth(p=0.5, mode=row)"", ""p"": 0.5, ""macs"": 1300, ""params"": 13}"
  rtx-2080-ti,clock=1350MHz power=150W session=2031-05-05_made_up_150W,torch,2.3.1,network name=small x=4x3x20x20 dtype=fp32,step,default,energy,J,1.1919999999999999,,1935656430,"{""row_id"": 2}"
  rtx-2080-ti,clock=1350MHz power=150W session=2031-05-05_made_up_150W,torch,2.3.1,network name=small x=4x3x20x20 dtype=fp32,step,default,power,W,149,,1935656430,"{""row_id"": 2}"
  rtx-2080-ti,clock=1350MHz power=150W session=2031-05-05_made_up_150W,torch,2.3.1,network name=small x=4x3x20x20 dtype=fp32,step,default,time,s,0.0080000000000000002,1.0000000000000001e-05,1935656430,"{""row_id"": 2}"
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,conv2d x=4x3x20x20 out=8 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,conv2d x=4x3x20x20 out=8 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,conv2d x=4x3x20x20 out=8 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32 phase=forward_backward,step,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,sgd x=8x3x3x3 dtype=fp32 phase=optimizer,step,,member,1,1,,0,
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,conv2d x=4x8x10x10 out=8 kernel=3x3 stride=1x1 pad=1x1 groups=8 bias=1 dtype=fp32,forward,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,conv2d x=4x8x10x10 out=8 kernel=3x3 stride=1x1 pad=1x1 groups=8 bias=1 dtype=fp32,forward,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,conv2d x=4x8x10x10 out=8 kernel=3x3 stride=1x1 pad=1x1 groups=8 bias=1 dtype=fp32 phase=forward_backward,step,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,sgd x=8x1x3x3 dtype=fp32 phase=optimizer,step,,member,1,2,,0,
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,sgd x=8 dtype=fp32 phase=optimizer,step,,member,1,16,,0,
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,batchnorm x=4x8x10x10 dtype=fp32,forward,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,batchnorm x=4x8x10x10 train=1 dtype=fp32,forward,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,batchnorm x=4x8x10x10 train=1 dtype=fp32 phase=forward_backward,step,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,relu x=4x8x10x10 dtype=fp32 inplace=1,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,relu x=4x8x10x10 dtype=fp32 inplace=1,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,relu x=4x8x10x10 dtype=fp32 phase=forward_backward inplace=1,step,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,maxpool2d x=4x8x10x10 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32,forward,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,maxpool2d x=4x8x10x10 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32,forward,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,maxpool2d x=4x8x10x10 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32 phase=forward_backward,step,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,avgpool2d x=4x8x10x10 kernel=2x2 stride=2x2 pad=0x0 dtype=fp32,forward,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,avgpool2d x=4x8x10x10 kernel=2x2 stride=2x2 pad=0x0 dtype=fp32,forward,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,avgpool2d x=4x8x10x10 kernel=2x2 stride=2x2 pad=0x0 dtype=fp32 phase=forward_backward,step,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,global_avgpool x=4x8x5x5 dtype=fp32,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,global_avgpool x=4x8x5x5 dtype=fp32,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,global_avgpool x=4x8x5x5 dtype=fp32 phase=forward_backward,step,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,avgpool2d x=4x8x13x13 kernel=3x3 stride=2x2 pad=0x0 dtype=fp32,forward,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,avgpool2d x=4x8x13x13 kernel=3x3 stride=2x2 pad=0x0 dtype=fp32,forward,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,avgpool2d x=4x8x13x13 kernel=3x3 stride=2x2 pad=0x0 dtype=fp32 phase=forward_backward,step,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,resize x=4x8x1x1 out=4x8x7x7 dtype=fp32,forward,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,resize x=4x8x1x1 out=4x8x7x7 dtype=fp32,forward,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,resize x=4x8x1x1 out=4x8x7x7 dtype=fp32 phase=forward_backward,step,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,layernorm x=4x5x5x8 norm=1 dtype=fp32,forward,,member,1,4,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,layernorm x=4x5x5x8 norm=1 dtype=fp32,forward,,member,1,4,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,layernorm x=4x5x5x8 norm=1 dtype=fp32 phase=forward_backward,step,,member,1,4,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,linear x=4x8 out=10 bias=1 dtype=fp32,forward,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,linear x=4x8 out=10 bias=1 dtype=fp32,forward,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,linear x=4x8 out=10 bias=1 dtype=fp32 phase=forward_backward,step,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,sgd x=10x8 dtype=fp32 phase=optimizer,step,,member,1,2,,0,
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,sgd x=10 dtype=fp32 phase=optimizer,step,,member,1,2,,0,
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,gelu x=4x8 dtype=fp32,forward,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,gelu x=4x8 dtype=fp32,forward,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,gelu x=4x8 dtype=fp32 phase=forward_backward,step,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,silu x=4x8 dtype=fp32 inplace=1,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,silu x=4x8 dtype=fp32 inplace=1,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,silu x=4x8 dtype=fp32 phase=forward_backward inplace=1,step,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,stochastic_depth x=4x8x5x5 dtype=fp32,forward,,member,1,5,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,stochastic_depth x=4x8x5x5 train=1 dtype=fp32,forward,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,stochastic_depth x=4x8x5x5 train=1 dtype=fp32 phase=forward_backward,step,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,stochastic_depth x=4x8x5x5 dtype=fp32,forward,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,stochastic_depth x=4x8x5x5 dtype=fp32 phase=forward_backward,step,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,hardswish x=4x8x5x5 dtype=fp32,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,hardswish x=4x8x5x5 dtype=fp32,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,hardswish x=4x8x5x5 dtype=fp32 phase=forward_backward,step,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,generic read=800 out=4x2x10x10 dtype=fp32,forward,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,generic read=800 out=4x2x10x10 dtype=fp32,forward,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,generic read=800 out=4x2x10x10 dtype=fp32 phase=forward_backward,step,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,view x=4x8 out=4x8 dtype=fp32,forward,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,dropout x=4x8 dtype=fp32,forward,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,dropout x=4x8 dtype=fp32 phase=forward_backward,step,,member,1,3,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,view x=4x8x1x1 out=4x8 dtype=fp32,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,view x=4x8x1x1 out=4x8 dtype=fp32,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,view x=4x8x1x1 out=4x8 dtype=fp32 phase=forward_backward,step,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=0
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,view x=4x8x5x5 out=4x5x5x8 dtype=fp32,forward,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis state=train,,view x=4x8x5x5 out=4x5x5x8 dtype=fp32,forward,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=small x=4x3x20x20 dtype=fp32,thesis,,view x=4x8x5x5 out=4x5x5x8 dtype=fp32 phase=forward_backward,step,,member,1,2,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=head x=4x8x4x4 dtype=fp32,thesis,,layernorm x=4x4x4x8 norm=1 dtype=fp32,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=head x=4x8x4x4 dtype=fp32,thesis state=train,,layernorm x=4x4x4x8 norm=1 dtype=fp32,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=head x=4x8x4x4 dtype=fp32,thesis,,layernorm x=4x4x4x8 norm=1 dtype=fp32 phase=forward_backward,step,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=head x=4x8x4x4 dtype=fp32,thesis,,sgd x=8 dtype=fp32 phase=optimizer,step,,member,1,2,,0,
  ,network name=head x=4x8x4x4 dtype=fp32,thesis,,linear x=4x8 out=10 bias=1 dtype=fp32,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=head x=4x8x4x4 dtype=fp32,thesis state=train,,linear x=4x8 out=10 bias=1 dtype=fp32,forward,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=head x=4x8x4x4 dtype=fp32,thesis,,linear x=4x8 out=10 bias=1 dtype=fp32 phase=forward_backward,step,,member,1,1,,0,count_thesis=1 in_thesis_filter=1 in_full_filter=1
  ,network name=head x=4x8x4x4 dtype=fp32,thesis,,sgd x=10x8 dtype=fp32 phase=optimizer,step,,member,1,1,,0,
  ,network name=head x=4x8x4x4 dtype=fp32,thesis,,sgd x=10 dtype=fp32 phase=optimizer,step,,member,1,1,,0,
  ,network name=head x=4x8x4x4 dtype=fp32,thesis,,cross_entropy x=4x10 axis=1 dtype=fp32 phase=forward_backward,step,,member,1,1,,0,
  $ datasets/dvfs tables/dvfs_kernels.csv > k.csv; foretell data import k.csv --db k.db; sh taken k
  20 measurements taken from k.csv
  gtx-980-ti,clock=1000MHz memory=877MHz,cuda,gpuPTXModel,kernel name=fma_4,forward,default,energy,J,0.22500000000000001,,0,"{""set"": ""micro"", ""dram_active"": 0.25}"
  gtx-980-ti,clock=1000MHz memory=877MHz,cuda,gpuPTXModel,kernel name=fma_4,forward,default,power,W,150,,0,"{""set"": ""micro"", ""dram_active"": 0.25}"
  gtx-980-ti,clock=1000MHz memory=877MHz,cuda,gpuPTXModel,kernel name=fma_4,forward,default,time,s,0.0015,,0,"{""set"": ""micro"", ""dram_active"": 0.25}"
  gtx-980-ti,clock=1380MHz memory=877MHz,cuda,gpuPTXModel,kernel name=fma_4,forward,default,energy,J,0.20434782608695654,,0,"{""set"": ""micro"", ""dram_active"": 0.25}"
  gtx-980-ti,clock=1380MHz memory=877MHz,cuda,gpuPTXModel,kernel name=fma_4,forward,default,power,W,188,,0,"{""set"": ""micro"", ""dram_active"": 0.25}"
  gtx-980-ti,clock=1380MHz memory=877MHz,cuda,gpuPTXModel,kernel name=fma_4,forward,default,time,s,0.0010869565217391304,,0,"{""set"": ""micro"", ""dram_active"": 0.25}"
  gtx-980-ti,clock=600MHz memory=877MHz,cuda,gpuPTXModel,kernel name=fma_4,forward,default,energy,J,0.27500000000000002,,0,"{""set"": ""micro"", ""dram_active"": 0.25}"
  gtx-980-ti,clock=600MHz memory=877MHz,cuda,gpuPTXModel,kernel name=fma_4,forward,default,power,W,110,,0,"{""set"": ""micro"", ""dram_active"": 0.25}"
  gtx-980-ti,clock=600MHz memory=877MHz,cuda,gpuPTXModel,kernel name=fma_4,forward,default,time,s,0.0025000000000000001,,0,"{""set"": ""micro"", ""dram_active"": 0.25}"
  v100-pcie-16gb,clock=1000MHz memory=877MHz,cuda,NV-DVFS-Benchmark,kernel name=made_up/kernelA args=input_000,forward,default,energy,J,0.22500000000000001,,0,"{""set"": ""real"", ""dram_active"": 0.25}"
  v100-pcie-16gb,clock=1000MHz memory=877MHz,cuda,NV-DVFS-Benchmark,kernel name=made_up/kernelA args=input_000,forward,default,power,W,150,,0,"{""set"": ""real"", ""dram_active"": 0.25}"
  v100-pcie-16gb,clock=1000MHz memory=877MHz,cuda,NV-DVFS-Benchmark,kernel name=made_up/kernelA args=input_000,forward,default,time,s,0.0015,,0,"{""set"": ""real"", ""dram_active"": 0.25}"
  v100-pcie-16gb,clock=1380MHz memory=877MHz,cuda,NV-DVFS-Benchmark,kernel name=made_up/kernelA args=input_000,forward,default,energy,J,0.20434782608695654,,0,"{""set"": ""real"", ""dram_active"": 0.25}"
  v100-pcie-16gb,clock=1380MHz memory=877MHz,cuda,NV-DVFS-Benchmark,kernel name=made_up/kernelA args=input_000,forward,default,power,W,188,,0,"{""set"": ""real"", ""dram_active"": 0.25}"
  v100-pcie-16gb,clock=1380MHz memory=877MHz,cuda,NV-DVFS-Benchmark,kernel name=made_up/kernelA args=input_000,forward,default,time,s,0.0010869565217391304,,0,"{""set"": ""real"", ""dram_active"": 0.25}"
  v100-pcie-16gb,clock=600MHz memory=877MHz,cuda,NV-DVFS-Benchmark,kernel name=made_up/kernelA args=input_000,forward,default,energy,J,0.27500000000000002,,0,"{""set"": ""real"", ""dram_active"": 0.25}"
  v100-pcie-16gb,clock=600MHz memory=877MHz,cuda,NV-DVFS-Benchmark,kernel name=made_up/kernelA args=input_000,forward,default,power,W,110,,0,"{""set"": ""real"", ""dram_active"": 0.25}"
  v100-pcie-16gb,clock=600MHz memory=877MHz,cuda,NV-DVFS-Benchmark,kernel name=made_up/kernelA args=input_000,forward,default,time,s,0.0025000000000000001,,0,"{""set"": ""real"", ""dram_active"": 0.25}"
  v100-sxm2-16gb,clock=757MHz,cuda,GPU-DVFS-Dataset(zyj),kernel name=3MM,forward,default,power,W,90,,0,"{""set"": ""apps""}"
  v100-sxm2-16gb,clock=757MHz,cuda,GPU-DVFS-Dataset(zyj),kernel name=3MM,forward,default,relative_performance,1,0.5,,0,"{""set"": ""apps""}"

Again changes nothing; packed by gzip it is the same, both ways.
  $ foretell data export --db s.db > before.csv; foretell data import s.csv --db s.db
  0 measurements taken from s.csv
  $ foretell data export --db s.db | cmp before.csv
  $ for t in tables/thesis_*.csv; do gzip -c $t > $(basename $t).gz; done; datasets/thesis thesis_*.csv.gz -o packed.csv 2> /dev/null; cmp s.csv packed.csv
  $ gzip before.csv; foretell data import before.csv.gz --db copy.db; foretell data export --db copy.db > after.csv
  69 measurements taken from before.csv.gz
  $ gzip -dc before.csv.gz | cut -d , -f 1-17,19- > a; cut -d , -f 1-17,19- after.csv | cmp a
  $ foretell data merge s.db --db merged.db; foretell data show --db merged.db
  69 measurements taken (of them 0 repeats), 0 were there; 2 runs and 0 facts taken
  store: merged.db
  store: merged.db
  
  device       setting                                                   engine  version  dtypes   metric  measurements  from        to
  ---------------------------------------------------------------------------------------------------------------------------------------------
  a30          session=2031-05-04_made_up                                torch   2.3.1    default  energy             1  2031-05-04  2031-05-04
  a30          session=2031-05-04_made_up                                torch   2.3.1    default  power              1  2031-05-04  2031-05-04
  a30          session=2031-05-04_made_up                                torch   2.3.1    default  time               1  2031-05-04  2031-05-04
  a30          session=2031-05-04_made_up state=eval                     torch   2.3.1    default  energy             4  2031-05-04  2031-05-04
  a30          session=2031-05-04_made_up state=eval                     torch   2.3.1    default  power              4  2031-05-04  2031-05-04
  a30          session=2031-05-04_made_up state=eval                     torch   2.3.1    default  time               4  2031-05-04  2031-05-04
  a30          session=2031-05-04_made_up state=train                    torch   2.3.1    default  energy            13  2031-05-04  2031-05-04
  a30          session=2031-05-04_made_up state=train                    torch   2.3.1    default  power             13  2031-05-04  2031-05-04
  a30          session=2031-05-04_made_up state=train                    torch   2.3.1    default  time              13  2031-05-04  2031-05-04
  a30          session=2031-05-04_made_up state=train                    torch   2.3.1    ieee     energy             4  2031-05-04  2031-05-04
  a30          session=2031-05-04_made_up state=train                    torch   2.3.1    ieee     power              4  2031-05-04  2031-05-04
  a30          session=2031-05-04_made_up state=train                    torch   2.3.1    ieee     time               4  2031-05-04  2031-05-04
  rtx-2080-ti  clock=1350MHz power=150W session=2031-05-05_made_up_150W  torch   2.3.1    default  energy             1  2031-05-04  2031-05-04
  rtx-2080-ti  clock=1350MHz power=150W session=2031-05-05_made_up_150W  torch   2.3.1    default  power              1  2031-05-04  2031-05-04
  rtx-2080-ti  clock=1350MHz power=150W session=2031-05-05_made_up_150W  torch   2.3.1    default  time               1  2031-05-04  2031-05-04
  
  what networks consist of:
  
  listed by           phase    networks  parts
  --------------------------------------------
  thesis              forward         2     21
  thesis state=train  forward         2     22
  thesis              step            2     31
  
  reproducibility (median and 90 % quantile of |later / earlier - 1|):
  
  measured again                                      device  metric  pairs  apart  differ by    p90  calibrated  p90  stated 90 % hold
  -------------------------------------------------------------------------------------------------------------------------------------
  torch 2.3.1, session=2031-05-04_made_up state=eval  a30     energy      1    0 s      4.2 %  4.2 %           -    -                 -
  torch 2.3.1, session=2031-05-04_made_up state=eval  a30     power       1    0 s      0.0 %  0.0 %           -    -                 -
  torch 2.3.1, session=2031-05-04_made_up state=eval  a30     time        1    0 s      4.2 %  4.2 %           -    -                 -
  $ foretell data show --db merged.db --json | pick members.0.networks members.0.parts members.#
  members.0.networks: 2
  members.0.parts: 21
  members.#: 3
  $ foretell data import n.csv --db n.db --json
  {
    "files": [
      {
        "file": "n.csv",
        "measurements": 0
      }
    ]
  }
  $ datasets/timm --data-dir . tables/timm_nets.csv > /dev/null
  timm: ./devices: no folder of device files; --data-dir names the one above it
  [3]
  $ mkdir -p none/devices; datasets/timm --data-dir none tables/timm_nets.csv | cut -d , -f 1-3 | tail -1
  note: tables/timm_nets.csv: no device file knows "RTX 3090"; measurements are kept under these names
  rtx-3090,compiled=0 cuda=11.7 layout=nhwc,torch

What is wrong is named, and nothing is written.
  $ sed 's/0.00015/fast/' tables/thesis_ops.csv > bad.csv; datasets/thesis bad.csv
  thesis: bad.csv, line 8, column 40 (time_s): not a finite decimal number
  [3]
  $ datasets/thesis tables/justus_ops.csv -o never.csv; ls never.csv
  thesis: tables/justus_ops.csv, line 1: not a table of thesis, which has the columns model,model_input,op,input_shape,count_all_calls; or device,session,mode,op,input_shape,time_s; or device,session,mode,model,input_shape,time_s
  ls: cannot access 'never.csv': No such file or directory
  [2]
  $ head -c 400 thesis_ops.csv.gz > cut.csv.gz; datasets/thesis cut.csv.gz
  thesis: cut.csv.gz, line 2: the packed data ends too early
  [3]
  $ sed '2s/,/,,/' tables/timm_nets.csv > bad.csv; datasets/timm bad.csv
  timm: bad.csv, line 2: 16 columns, but the header has 15
  [3]
  $ cp tables/timm_nets.csv same.csv; datasets/timm same.csv -o same.csv
  timm: same.csv is one of the tables that are read
  [3]
  $ datasets/thesis missing.csv
  thesis: cannot read missing.csv: No such file or directory
  [3]

The command names the converter of tables that it read once.
  $ foretell data import --from neusight tables/neusight_ops.csv --db n.db
  foretell data: --from neusight: such tables are converted first, by tools/datasets/neusight TABLE... -o measured.csv, and then foretell data import measured.csv takes them (docs/data.md)
  [2]
  $ foretell data import --from justu tables/justus_ops.csv --db bad.db
  foretell data: --from justu: import reads csv, as export writes it; tables of others are converted first, by tools/datasets/NAME: neusight, justus, aic, deepbench, thesis, dvfs, timm
  [2]
  $ foretell data import --from these tables/justus_ops.csv --db bad.db
  foretell data: --from these: import reads csv, as export writes it; tables of others are converted first, by tools/datasets/NAME: neusight, justus, aic, deepbench, thesis, dvfs, timm
  [2]
  $ foretell data import --from csv a.csv --db a.db
  0 measurements taken from a.csv
  $ foretell data import tables/justus_ops.csv --db bad.db
  foretell data: tables/justus_ops.csv, line 1: there is no column "setting"; docs/data.md has the columns of a file of measurements, and the tools that make one of published tables
  [3]
