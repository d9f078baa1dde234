"""The names of all models, and how each is built."""
from . import image_models, text_models, vision

# One of every sort: plain, depthwise, attention, windows, dilation, time, text, speech, pairs.
CI = ['resnet18',
      'mobilenet_v3_small',
      'vit_b_16',
      'swin_t',
      'deeplabv3_mobilenet_v3_large',
      'r2plus1d_18',
      'hf-bert',
      'hf-gpt2',
      'hf-t5',
      'hf-whisper',
      'hf-clip',
      'timm-convnext_atto']


def names():
    return vision.names() + text_models.names() + image_models.names()


def build(name, batch):
    for source in (text_models, image_models):
        if name.startswith(source.PREFIX):
            return source.build(name, batch)
    return vision.build(name, batch)
