"""The names of all models, and how each is built."""
from . import image_models, text_models, vision

CI = ['resnet18',
      'mobilenet_v3_small',
      'densenet121',
      'vit_b_16',
      'deeplabv3_resnet50',
      'r2plus1d_18',
      'hf-bert',
      'hf-gpt2',
      'hf-llama',
      'hf-t5',
      'hf-whisper',
      'timm-convnext_atto']


def names():
    return vision.names() + text_models.names() + image_models.names()


def build(name, batch):
    for source in (text_models, image_models):
        if name.startswith(source.PREFIX):
            return source.build(name, batch)
    return vision.build(name, batch)
