"""torch.export archives of the graph alone: no weights, no traces, the same file every time."""
import io
import json
import zipfile
from unittest import mock

import torch
from torch.export.pt2_archive import _package


def strip(value):
    """Without what a graph does not need: traces, hints and who called what with which names."""
    if isinstance(value, dict):
        return {k: strip(v) for k, v in value.items()
                if k not in ('stack_trace', 'torch_fn', 'module_call_graph', 'guards_code')}
    return [strip(v) for v in value] if isinstance(value, list) else value


def save(program, path):
    whole = io.BytesIO()
    with mock.patch.object(_package, '_get_raw_tensor_bytes', lambda tensor: b''):
        torch.export.save(program, whole)
    with zipfile.ZipFile(whole) as z, \
            zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name in z.namelist():
            if '/models/' in name:
                entry = zipfile.ZipInfo(name)  # its date is fixed: the same file every time
                out.writestr(entry, json.dumps(strip(json.loads(z.read(name)))),
                             zipfile.ZIP_DEFLATED, 9)
