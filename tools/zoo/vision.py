"""Every model of torchvision, with random weights and an input of a size it was published for."""
import importlib

import torch
import torchvision

FOLDERS = ['segmentation', 'detection', 'video', 'optical_flow', 'quantization']
FRAMES = 16
FLOW_SIZE = 128      # the smallest that RAFT's four levels of correlation can halve
SCENE_SIZE = 256     # of segmentation and detection, which take any


def folder(name):
    module = importlib.import_module(f'torchvision.models.{name}')
    return torchvision.models.list_models(module=module)


def names():
    listed = torchvision.models.list_models(module=torchvision.models)
    return listed + [n for f in FOLDERS for n in folder(f)]


class Detector(torch.nn.Module):
    """Takes the images as one tensor."""
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, images):
        return self.model(list(images.unbind()))


class Picked(torch.nn.Module):
    """Gives the named result alone, where others are there only for training."""
    def __init__(self, model, key):
        super().__init__()
        self.model, self.key = model, key

    def forward(self, image):
        return self.model(image)[self.key]


def crop_size(name, model, default):
    """The size the published weights were made for, unless the model insists on its own."""
    crop = getattr(torchvision.models.get_model_weights(name).DEFAULT.transforms(), 'crop_size',
                   [default])
    size = crop[0] if isinstance(crop, (list, tuple)) else crop
    return getattr(model, 'image_size', size)


def classifier(name, batch):
    quick = {'init_weights': False, 'aux_logits': False} \
        if name in ('googlenet', 'inception_v3') else {}
    model = torchvision.models.get_model(name, weights=None, **quick)
    size = crop_size(name, model, 224)
    return model, (torch.rand(batch, 3, size, size),)


def segmenter(name, batch):
    model = torchvision.models.get_model(name, weights=None, weights_backbone=None)
    return Picked(model, 'out'), (torch.rand(batch, 3, SCENE_SIZE, SCENE_SIZE),)


def detector(name, batch):
    model = torchvision.models.get_model(name, weights=None, weights_backbone=None)
    return Detector(model), (torch.rand(batch, 3, SCENE_SIZE, SCENE_SIZE),)


def clip(name, batch):
    model = torchvision.models.get_model(name, weights=None)
    size = crop_size(name, model, 112)
    return model, (torch.rand(batch, 3, FRAMES, size, size),)


def flow(name, batch):
    model = torchvision.models.get_model(name, weights=None)
    return model, tuple(torch.rand(batch, 3, FLOW_SIZE, FLOW_SIZE) for _ in 'ab')


def quantized(name, batch):
    quick = {'init_weights': False, 'aux_logits': False} \
        if name in ('quantized_googlenet', 'quantized_inception_v3') else {}
    model = torchvision.models.get_model(name, weights=None, quantize=True, **quick)
    size = 299 if 'inception' in name else 224
    return model, (torch.rand(batch, 3, size, size),)


BUILDERS = [segmenter, detector, clip, flow, quantized]


def build(name, batch):
    for where, builder in zip(FOLDERS, BUILDERS):
        if name in folder(where):
            return builder(name, batch)
    return classifier(name, batch)
