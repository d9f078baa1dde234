"""The networks whose memory is compared, as somebody would write them down.

Each entry: how to make the module and its arguments, the batch, and the
optimizer it is trained with. STUDIED were looked at while the model of memory
was made; HELD_OUT at the end, which brought two corrections; FRESH behind those.
"""
import torch


def vision(name, batch, optimizer, size=224):
    def make():
        import torchvision
        kw = {"aux_logits": False, "init_weights": False} if name == "inception_v3" else {}
        return (getattr(torchvision.models, name)(**kw),
                (torch.randn(batch, 3, size, size),))
    return make, batch, optimizer


def timm_model(name, batch, optimizer, size=224):
    def make():
        import timm
        return timm.create_model(name), (torch.randn(batch, 3, size, size),)
    return make, batch, optimizer


class Logits(torch.nn.Module):
    """A model of transformers that takes positional arguments and gives logits."""

    def __init__(self, model, names):
        super().__init__()
        self.model = model
        self.names = names

    def forward(self, *args):
        return self.model(**dict(zip(self.names, args))).logits


def text(cls, config, inputs, batch, optimizer, **kw):
    """inputs: (name, shape behind the batch, number of tokens or None for floats)."""
    def make():
        import transformers
        cfg = getattr(transformers, config)(use_cache=False, **kw) \
            if config not in NO_CACHE else getattr(transformers, config)(**kw)
        model = getattr(transformers, cls)(cfg)
        args = tuple(torch.randn(batch, *shape) if n is None else
                     torch.randint(1, n, (batch, *shape)) for _, shape, n in inputs)
        return Logits(model, [name for name, _, _ in inputs]), args
    return make, batch, optimizer


NO_CACHE = {"Wav2Vec2Config", "BertConfig", "DistilBertConfig"}
SPEECH = dict(d_model=256, encoder_layers=4, decoder_layers=4, encoder_attention_heads=4,
              decoder_attention_heads=4, encoder_ffn_dim=1024, decoder_ffn_dim=1024)
LLAMA = dict(vocab_size=8000, hidden_size=512, intermediate_size=1376,
             num_hidden_layers=6, num_attention_heads=8, num_key_value_heads=4)

STUDIED = {
    "resnet50": vision("resnet50", 8, "momentum"),
    "mobilenet_v2": vision("mobilenet_v2", 16, "sgd"),
    "densenet121": vision("densenet121", 8, "adam"),
    "vit_b_16": vision("vit_b_16", 8, "adamw"),
    "convnext_tiny": vision("convnext_tiny", 8, "adamw"),
    "bert": text("BertForMaskedLM", "BertConfig", [("input_ids", (128,), 30522)],
                 8, "adamw"),
    "gpt2": text("GPT2LMHeadModel", "GPT2Config", [("input_ids", (128,), 50257)],
                 4, "adam", n_layer=6),
    "t5": text("T5ForConditionalGeneration", "T5Config",
               [("input_ids", (128,), 32128), ("decoder_input_ids", (64,), 32128)],
               8, "sgd"),
    "resmlp_12_224": timm_model("resmlp_12_224", 8, "momentum"),
    "coatnet_0_rw_224": timm_model("coatnet_0_rw_224", 4, "sgd"),
}

HELD_OUT = {
    "vgg16": vision("vgg16", 8, "momentum"),
    "efficientnet_b0": vision("efficientnet_b0", 8, "adam"),
    "swin_t": vision("swin_t", 8, "adamw"),
    "inception_v3": vision("inception_v3", 8, "sgd", 299),
    "regnet_y_800mf": vision("regnet_y_800mf", 16, "momentum"),
    "llama": text("LlamaForCausalLM", "LlamaConfig", [("input_ids", (256,), 8000)],
                  4, "adamw", **LLAMA),
    "whisper": text("WhisperForConditionalGeneration", "WhisperConfig",
                    [("input_features", (80, 3000), None),
                     ("decoder_input_ids", (64,), 51865)], 4, "adam", **SPEECH),
    "wav2vec2": text("Wav2Vec2ForSequenceClassification", "Wav2Vec2Config",
                     [("input_values", (16000,), None)], 4, "sgd",
                     num_hidden_layers=4, apply_spec_augment=False, layerdrop=0.0),
    "pvt_v2_b1": timm_model("pvt_v2_b1", 8, "adamw"),
    "ghostnet_100": timm_model("ghostnet_100", 16, "momentum"),
}

FRESH = {
    "shufflenet_v2_x1_0": vision("shufflenet_v2_x1_0", 16, "sgd"),
    "mobilenet_v3_large": vision("mobilenet_v3_large", 16, "adam"),
    "resnext50_32x4d": vision("resnext50_32x4d", 8, "momentum"),
    "squeezenet1_1": vision("squeezenet1_1", 16, "sgd"),
    "distilbert": text("DistilBertForMaskedLM", "DistilBertConfig",
                       [("input_ids", (128,), 30522)], 8, "adamw"),
    "qwen2": text("Qwen2ForCausalLM", "Qwen2Config", [("input_ids", (256,), 8000)],
                  4, "adamw", **LLAMA),
    "mixer_b16_224": timm_model("mixer_b16_224", 8, "momentum"),
    "repvgg_a0": timm_model("repvgg_a0", 8, "sgd"),
}

SETS = {"studied": STUDIED, "held-out": HELD_OUT, "fresh": FRESH}
ALL = {**STUDIED, **HELD_OUT, **FRESH}
