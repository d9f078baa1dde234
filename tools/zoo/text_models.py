"""Architectures of transformers with configurations small enough for any machine, built from
nothing but the installed package: no pretrained file is needed."""
import torch
from torch.utils import _pytree
from transformers import AutoConfig, AutoModel

PREFIX = 'hf-'
TOKENS = 32
IMAGE = 64
VOCABULARY = 256

# What most configurations call their sizes; the odd ones say theirs in MODELS.
TEXT = {'vocab_size': VOCABULARY, 'hidden_size': 64, 'num_hidden_layers': 2,
        'num_attention_heads': 4, 'intermediate_size': 128, 'max_position_embeddings': 64,
        'pad_token_id': 0, 'bos_token_id': 1, 'eos_token_id': 2}
GROUPED = {**TEXT, 'num_key_value_heads': 2, 'head_dim': 16}
EXPERTS = {**GROUPED, 'num_local_experts': 4, 'num_experts': 4, 'num_experts_per_tok': 2,
           'moe_intermediate_size': 64, 'experts_implementation': 'batched_mm'}
BOTH = {'vocab_size': VOCABULARY, 'd_model': 64, 'encoder_layers': 2, 'decoder_layers': 2,
        'encoder_attention_heads': 4, 'decoder_attention_heads': 4, 'encoder_ffn_dim': 128,
        'decoder_ffn_dim': 128, 'max_position_embeddings': 64, 'pad_token_id': 0,
        'bos_token_id': 1, 'eos_token_id': 2, 'decoder_start_token_id': 2,
        'forced_eos_token_id': 2}
T5 = {'vocab_size': VOCABULARY, 'd_model': 64, 'd_kv': 16, 'd_ff': 128, 'num_layers': 2,
      'num_heads': 4}
VISION = {'hidden_size': 64, 'num_hidden_layers': 2, 'num_attention_heads': 4,
          'intermediate_size': 128, 'image_size': IMAGE, 'patch_size': 16}
STAGES = {'image_size': IMAGE, 'depths': [1, 1, 1, 1], 'hidden_sizes': [16, 32, 48, 64]}
WINDOWS = {'image_size': 224, 'embed_dim': 16, 'depths': [1, 1, 1, 1], 'num_heads': [1, 2, 4, 8]}
AUDIO = {'hidden_size': 64, 'num_hidden_layers': 2, 'num_attention_heads': 4,
         'intermediate_size': 128, 'conv_dim': [32] * 7, 'vocab_size': 32,
         'num_conv_pos_embeddings': 16, 'num_conv_pos_embedding_groups': 4,
         'apply_spec_augment': False, 'layerdrop': 0.0}
GPT = {**TEXT, 'n_embd': 64, 'n_layer': 2, 'n_head': 4, 'n_positions': 64}
CLIP_TEXT = {k: v for k, v in TEXT.items()}
CLIP = {'text_config': CLIP_TEXT, 'vision_config': VISION, 'projection_dim': 32}

# name: (which inputs, configuration)
MODELS = {
    'bert': ('text', TEXT),
    'roberta': ('text', {**TEXT, 'max_position_embeddings': 80}),
    'distilbert': ('text', {'vocab_size': VOCABULARY, 'dim': 64, 'n_layers': 2, 'n_heads': 4,
                            'hidden_dim': 128, 'max_position_embeddings': 64}),
    'albert': ('text', {**TEXT, 'embedding_size': 32}),
    'electra': ('text', {**TEXT, 'embedding_size': 32}),
    'deberta-v2': ('text', {**TEXT, 'relative_attention': True, 'position_buckets': 16,
                            'pos_att_type': ['p2c', 'c2p']}),
    'deberta': ('text', {**TEXT, 'relative_attention': True, 'pos_att_type': ['p2c', 'c2p']}),
    'mpnet': ('text', TEXT),
    'xlnet': ('text', {'vocab_size': VOCABULARY, 'd_model': 64, 'n_layer': 2, 'n_head': 4,
                       'd_inner': 128, 'd_head': 16}),
    'xlm-roberta': ('text', {**TEXT, 'max_position_embeddings': 80}),
    'camembert': ('text', {**TEXT, 'max_position_embeddings': 80}),
    'funnel': ('text', {'vocab_size': VOCABULARY, 'd_model': 64, 'n_head': 4, 'd_head': 16,
                        'd_inner': 128, 'block_sizes': [1, 1], 'num_decoder_layers': 1,
                        'architectures': ['FunnelModel']}),
    'squeezebert': ('text', {**TEXT, 'embedding_size': 64}),
    'mobilebert': ('text', {**TEXT, 'embedding_size': 32, 'intra_bottleneck_size': 32,
                            'true_hidden_size': 32}),
    'convbert': ('text', {**TEXT, 'embedding_size': 64}),
    'rembert': ('text', {**TEXT, 'input_embedding_size': 32}),
    'roformer': ('text', TEXT),
    'fnet': ('text', TEXT),
    'nystromformer': ('text', {**TEXT, 'num_landmarks': 8, 'segment_means_seq_len': TOKENS}),
    'megatron-bert': ('text', TEXT),
    'ernie': ('text', TEXT),
    'modernbert': ('text', {**TEXT, 'cls_token_id': 1, 'sep_token_id': 2}),
    'esm': ('text', {**TEXT, 'mask_token_id': 3}),
    'longformer': ('text', {**TEXT, 'attention_window': [8, 8], 'max_position_embeddings': 80}),
    'big_bird': ('text', {**TEXT, 'attention_type': 'original_full'}),
    'layoutlm': ('layout', TEXT),
    'splinter': ('text', TEXT),
    'canine': ('text', {**TEXT, 'num_hash_buckets': 64, 'local_transformer_stride': 16,
                        'downsampling_rate': 4}),
    'openai-gpt': ('text', GPT),
    'gpt2': ('text', GPT),
    'gpt_neo': ('text', {**TEXT, 'num_layers': 2, 'num_heads': 4,
                         'attention_types': [[['global', 'local'], 1]], 'window_size': 8}),
    'gpt_neox': ('text', TEXT),
    'gptj': ('text', {**GPT, 'rotary_dim': 8}),
    'gpt_bigcode': ('text', GPT),
    'codegen': ('text', {**GPT, 'rotary_dim': 8}),
    'opt': ('text', {**TEXT, 'ffn_dim': 128, 'word_embed_proj_dim': 64}),
    'bloom': ('text', {**TEXT, 'n_layer': 2, 'n_head': 4}),
    'xglm': ('text', {**TEXT, 'd_model': 64, 'num_layers': 2, 'attention_heads': 4,
                      'ffn_dim': 128}),
    'biogpt': ('text', TEXT),
    'ctrl': ('text', {'vocab_size': VOCABULARY, 'n_embd': 64, 'n_layer': 2, 'n_head': 4,
                      'dff': 128, 'n_positions': 64}),
    'llama': ('text', GROUPED),
    'mistral': ('text', {**GROUPED, 'sliding_window': 16}),
    'mixtral': ('text', EXPERTS),
    'qwen2': ('text', GROUPED),
    'qwen2_moe': ('text', {**EXPERTS, 'shared_expert_intermediate_size': 64}),
    'qwen3': ('text', GROUPED),
    'qwen3_moe': ('text', EXPERTS),
    'gemma': ('text', GROUPED),
    'gemma2': ('text', {**GROUPED, 'sliding_window': 16}),
    'gemma3_text': ('text', {**GROUPED, 'sliding_window': 16}),
    'phi': ('text', GROUPED),
    'phi3': ('text', GROUPED),
    'falcon': ('text', {**TEXT, 'new_decoder_architecture': False}),
    'mpt': ('text', {**TEXT, 'n_layers': 2, 'n_heads': 4, 'd_model': 64, 'max_seq_len': 64}),
    'stablelm': ('text', GROUPED),
    'olmo': ('text', GROUPED),
    'olmo2': ('text', GROUPED),
    'olmoe': ('text', EXPERTS),
    'starcoder2': ('text', GROUPED),
    'granite': ('text', GROUPED),
    'cohere': ('text', GROUPED),
    'glm': ('text', GROUPED),
    'helium': ('text', GROUPED),
    'nemotron': ('text', GROUPED),
    'persimmon': ('text', TEXT),
    'smollm3': ('text', GROUPED),
    'gpt_oss': ('text', {**EXPERTS, 'sliding_window': 16}),
    'deepseek_v3': ('text', {**EXPERTS, 'q_lora_rank': 32, 'kv_lora_rank': 32,
                             'qk_rope_head_dim': 8, 'qk_nope_head_dim': 16, 'v_head_dim': 16,
                             'head_dim': 8, 'num_key_value_heads': 4, 'n_routed_experts': 4,
                             'n_group': 2, 'topk_group': 1, 'first_k_dense_replace': 1}),
    'mamba': ('text', {**TEXT, 'state_size': 8}),
    'mamba2': ('text', {**TEXT, 'state_size': 8, 'num_heads': 8, 'head_dim': 16, 'n_groups': 2,
                        'chunk_size': 16}),
    'rwkv': ('text', {'vocab_size': VOCABULARY, 'hidden_size': 64, 'num_hidden_layers': 2,
                      'attention_hidden_size': 64}),
    'recurrent_gemma': ('text', {**GROUPED, 'lru_width': 64, 'attention_window_size': 16,
                                 'num_hidden_layers': 3}),
    'bart': ('both', BOTH),
    'mbart': ('both', BOTH),
    'pegasus': ('both', BOTH),
    'marian': ('both', BOTH),
    'm2m_100': ('both', BOTH),
    'blenderbot': ('both', BOTH),
    'plbart': ('both', BOTH),
    'led': ('both', {**BOTH, 'attention_window': 8, 'max_encoder_position_embeddings': 64,
                     'max_decoder_position_embeddings': 64}),
    't5': ('both', T5),
    'mt5': ('both', T5),
    'umt5': ('both', T5),
    'longt5': ('both', {**T5, 'local_radius': 7}),
    'switch_transformers': ('both', {**T5, 'num_experts': 4}),
    'prophetnet': ('both', {'vocab_size': VOCABULARY, 'hidden_size': 64, 'num_encoder_layers': 2,
                            'num_decoder_layers': 2, 'num_encoder_attention_heads': 4,
                            'num_decoder_attention_heads': 4, 'encoder_ffn_dim': 128,
                            'decoder_ffn_dim': 128, 'max_position_embeddings': 64}),
    'vit': ('image', VISION),
    'deit': ('image', VISION),
    'beit': ('image', VISION),
    'data2vec-vision': ('image', VISION),
    'dinov2': ('image', VISION),
    'ijepa': ('image', VISION),
    'vit_mae': ('image', {**VISION, 'mask_ratio': 0.0}),
    'vit_msn': ('image', VISION),
    'yolos': ('image', {**VISION, 'image_size': [IMAGE, IMAGE], 'num_detection_tokens': 8}),
    'dpt': ('image', {**VISION, 'backbone_out_indices': [0, 1, 1, 1],
                      'neck_hidden_sizes': [16, 32, 48, 64], 'fusion_hidden_size': 32}),
    'swin': ('image', WINDOWS),
    'swinv2': ('image', {**WINDOWS, 'image_size': 256, 'window_size': 8}),
    'hiera': ('image', {'image_size': [IMAGE, IMAGE], 'embed_dim': 16, 'depths': [1, 1, 1, 1],
                        'num_heads': [1, 2, 4, 8]}),
    'convnext': ('image', STAGES),
    'convnextv2': ('image', STAGES),
    'resnet': ('image', {**STAGES, 'embedding_size': 16}),
    'regnet': ('image', {**STAGES, 'embedding_size': 16, 'groups_width': 8}),
    'bit': ('image', {**STAGES, 'embedding_size': 32, 'hidden_sizes': [128, 128, 128, 128]}),
    'efficientnet': ('image', {'width_coefficient': 0.5, 'hidden_dim': 640, 'image_size': IMAGE}),
    'mobilenet_v1': ('image', {'image_size': IMAGE, 'depth_multiplier': 0.5}),
    'mobilenet_v2': ('image', {'image_size': IMAGE, 'depth_multiplier': 0.5}),
    'mobilevit': ('image', {'image_size': IMAGE, 'hidden_sizes': [32, 48, 64],
                            'neck_hidden_sizes': [8, 16, 24, 32, 48, 64, 96]}),
    'poolformer': ('image', {**STAGES, 'image_size': IMAGE}),
    'segformer': ('image', {**STAGES, 'num_attention_heads': [1, 2, 4, 8]}),
    'pvt': ('image', {**STAGES, 'num_attention_heads': [1, 2, 4, 8]}),
    'pvt_v2': ('image', {**STAGES, 'num_attention_heads': [1, 2, 4, 8]}),
    'levit': ('image', {'image_size': 224, 'hidden_sizes': [32, 48, 64], 'depths': [1, 1, 1],
                        'num_attention_heads': [2, 3, 4]}),
    'cvt': ('image', {'embed_dim': [16, 32, 64], 'num_heads': [1, 2, 4], 'depth': [1, 2, 3]}),
    'focalnet': ('image', {'image_size': IMAGE, 'embed_dim': 16, 'depths': [1, 1, 1, 1]}),
    'glpn': ('image', {**STAGES, 'num_attention_heads': [1, 2, 4, 8]}),
    'videomae': ('video', {**VISION, 'num_frames': 4}),
    'vivit': ('video', {**VISION, 'num_frames': 4, 'tubelet_size': [2, 16, 16]}),
    'timesformer': ('video', {**VISION, 'num_frames': 4}),
    'detr': ('image', {'d_model': 64, 'encoder_layers': 2, 'decoder_layers': 2,
                       'encoder_attention_heads': 4, 'decoder_attention_heads': 4,
                       'encoder_ffn_dim': 128, 'decoder_ffn_dim': 128, 'num_queries': 8,
                       'use_timm_backbone': False, 'use_pretrained_backbone': False,
                       'backbone': None, 'backbone_config': {
                           'model_type': 'resnet', **STAGES, 'embedding_size': 16,
                           'out_features': ['stage4']}}),
    'clip': ('pair', CLIP),
    'siglip': ('pair', CLIP),
    'chinese_clip': ('pair', CLIP),
    'altclip': ('pair', {**CLIP, 'text_config': {**CLIP_TEXT, 'project_dim': 32,
                                                 'max_position_embeddings': 80}}),
    'groupvit': ('pair', {**CLIP, 'projection_intermediate_dim': 64, 'vision_config': {
        **VISION, 'depths': [1, 1, 1], 'num_group_tokens': [8, 4, 0],
        'num_output_groups': [8, 4, 0]}}),
    'blip': ('pair', {**CLIP, 'text_config': {**CLIP_TEXT, 'encoder_hidden_size': 64}}),
    'vilt': ('pair', {**TEXT, **VISION}),
    'whisper': ('speech', {**BOTH, 'num_mel_bins': 16, 'max_source_positions': 32,
                           'max_target_positions': 64}),
    'speech_to_text': ('mel', {**BOTH, 'input_feat_per_channel': 16, 'conv_channels': 32,
                               'max_source_positions': 128, 'max_target_positions': 64}),
    'wav2vec2': ('sound', AUDIO),
    'hubert': ('sound', AUDIO),
    'wavlm': ('sound', AUDIO),
    'data2vec-audio': ('sound', AUDIO),
    'unispeech': ('sound', AUDIO),
    'unispeech-sat': ('sound', AUDIO),
    'sew': ('sound', {**AUDIO, 'squeeze_factor': 2, 'conv_dim': [16] * 13}),
    'wav2vec2-conformer': ('sound', AUDIO),
    'audio-spectrogram-transformer': ('spectrum', {**VISION, 'max_length': 64,
                                                   'num_mel_bins': 32}),
    'encodec': ('wave', {'num_filters': 4, 'hidden_size': 32, 'num_lstm_layers': 1,
                         'upsampling_ratios': [4, 2], 'codebook_size': 32, 'codebook_dim': 32}),
    'patchtst': ('series', {'context_length': 32, 'd_model': 64, 'num_hidden_layers': 2,
                            'num_attention_heads': 4, 'num_input_channels': 3, 'ffn_dim': 128}),
    'patchtsmixer': ('series', {'context_length': 32, 'd_model': 16, 'num_layers': 2,
                                'num_input_channels': 3}),
}


def tokens(batch):
    return torch.randint(3, VOCABULARY, (batch, TOKENS))


def image(batch, config):
    size = getattr(config, 'image_size', None) or \
        getattr(getattr(config, 'vision_config', None), 'image_size', None) or IMAGE
    size = list(size) if isinstance(size, (list, tuple)) else [size, size]
    return torch.rand(batch, 3, *size)


INPUTS = {
    'text': lambda b, c: {'input_ids': tokens(b)},
    'both': lambda b, c: {'input_ids': tokens(b), 'decoder_input_ids': tokens(b)},
    'layout': lambda b, c: {'input_ids': tokens(b),
                            'bbox': torch.zeros(b, TOKENS, 4, dtype=torch.long)},
    'image': lambda b, c: {'pixel_values': image(b, c)},
    'video': lambda b, c: {'pixel_values': torch.rand(b, c.num_frames, 3, IMAGE, IMAGE)},
    'pair': lambda b, c: {'input_ids': tokens(b), 'pixel_values': image(b, c)},
    'speech': lambda b, c: {'input_features': torch.rand(b, 16, 64),
                            'decoder_input_ids': tokens(b)},
    'mel': lambda b, c: {'input_features': torch.rand(b, 64, 16),
                         'decoder_input_ids': tokens(b)},
    'spectrum': lambda b, c: {'input_values': torch.rand(b, 64, 32)},
    'sound': lambda b, c: {'input_values': torch.rand(b, 16000)},
    'wave': lambda b, c: {'input_values': torch.rand(b, 1, 4000)},
    'series': lambda b, c: {'past_values': torch.rand(b, 32, 3)},
}


class Plain(torch.nn.Module):
    """Takes tensors in order and gives a tuple of the tensors of the result: no cache, no names."""
    def __init__(self, model, keys):
        super().__init__()
        self.model, self.keys = model, keys

    def forward(self, *inputs):
        results = _pytree.tree_leaves(self.model(**dict(zip(self.keys, inputs))))
        return tuple(r for r in results if torch.is_tensor(r))


def names():
    return [PREFIX + name for name in MODELS]


def configuration(name, sizes):
    config = AutoConfig.for_model(name, **sizes)
    for part in [config, *(getattr(config, p, None) for p in ('text_config', 'vision_config'))]:
        if part is not None:
            part.use_cache = False
            for dropped in ('attention_dropout', 'attention_probs_dropout_prob', 'attn_pdrop'):
                if hasattr(part, dropped):   # the fused kernel for CPUs has none
                    setattr(part, dropped, 0.0)
    return config


def build(name, batch):
    kind, sizes = MODELS[name.removeprefix(PREFIX)]
    config = configuration(name.removeprefix(PREFIX), sizes)
    model = AutoModel.from_config(config)
    for part in model.modules():
        if hasattr(part, '_requires_grad'):   # of sound, whose own gradient exporters leave out
            part._requires_grad = False
    inputs = INPUTS[kind](batch, config)
    return Plain(model, list(inputs)), tuple(inputs.values())
