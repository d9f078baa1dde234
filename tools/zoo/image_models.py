"""Architectures of timm: the smallest of every family, then the second smallest ones, as
image_models.txt lists them.

python tools/zoo/image_models.py > tools/zoo/image_models.txt    writes the list anew (minutes)
"""
import collections
import os
import re

import timm
import torch

PREFIX = 'timm-'
LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'image_models.txt')
EACH = 2
LARGEST = 200_000_000    # parameters


def names():
    with open(LIST) as f:
        return [PREFIX + line.strip() for line in f]


def build(name, batch):
    model = timm.create_model(name.removeprefix(PREFIX))
    return model, (torch.rand(batch, *model.default_cfg['input_size']),)


def family(name):
    """The file that defines it and the word it begins with: resnet has resnet, seresnet, ..."""
    return timm.models._registry._model_to_module[name], re.match('[a-z]+', name)[0]


def choose():
    families = collections.defaultdict(list)
    for name in timm.list_models(exclude_filters='test_*'):
        with torch.device('meta'):
            size = sum(p.numel() for p in timm.create_model(name).parameters())
        families[family(name)].append((size, name))
    ranks = [sorted(name for members in families.values()
                    for size, name in sorted(members)[rank:rank + 1] if size <= LARGEST)
             for rank in range(EACH)]
    return sum(ranks, [])


if __name__ == '__main__':
    print('\n'.join(choose()))
