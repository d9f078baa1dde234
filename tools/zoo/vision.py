"""Every model of torchvision, with random weights and an input of a size it was published for."""
import importlib

import torch
import torchvision

FOLDERS = ['segmentation', 'detection', 'video', 'optical_flow', 'quantization']
FRAMES = 16
FLOW_SIZE = 128      # the smallest that RAFT's four levels of correlation can halve
BOXES = 100          # given to the second stage of a detector, per image
SCENE_SIZE = 256     # of segmentation and detection, which take any


def folder(name):
    module = importlib.import_module(f'torchvision.models.{name}')
    return torchvision.models.list_models(module=module)


def names():
    listed = torchvision.models.list_models(module=torchvision.models)
    return listed + [n for f in FOLDERS for n in folder(f)]


class OneStage(torch.nn.Module):
    """A detector up to where boxes are chosen: how many there are depends on the image, and no
    exporter follows that."""
    def __init__(self, model):
        super().__init__()
        self.backbone, self.head = model.backbone, model.head

    def forward(self, images):
        return self.head(list(self.backbone(images).values()))


class TwoStages(torch.nn.Module):
    """A detector that is given the boxes which its first stage would choose."""
    def __init__(self, model):
        super().__init__()
        self.backbone, self.proposer, self.heads = model.backbone, model.rpn.head, model.roi_heads

    def forward(self, images, boxes):
        features = self.backbone(images)
        shapes = [tuple(images.shape[-2:])] * len(images)
        results = [self.proposer(list(features.values()))]
        for task in ('box', 'mask', 'keypoint'):
            pool = getattr(self.heads, f'{task}_roi_pool', None)
            if pool is not None:
                pooled = pool(features, list(boxes.unbind()), shapes)
                pooled = getattr(self.heads, f'{task}_head')(pooled)
                results.append(getattr(self.heads, f'{task}_predictor')(pooled))
        return results


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
    images = torch.rand(batch, 3, SCENE_SIZE, SCENE_SIZE)
    if not hasattr(model, 'roi_heads'):
        return OneStage(model), (images,)
    corners = torch.rand(batch, BOXES, 2) * SCENE_SIZE / 2
    return TwoStages(model), (images, torch.cat([corners, corners + SCENE_SIZE / 4], -1))


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
