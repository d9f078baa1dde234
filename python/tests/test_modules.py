"""Modules of PyTorch: exported, with module paths; what does not export is recorded."""

import functools
import importlib.machinery
import importlib.util
import re
import sys

import pytest
from conftest import SOURCE

import foretell

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")
nn = torch.nn


def resnet18(batch=2):
    with torch.device("meta"):
        return torchvision.models.resnet18(), (torch.empty(batch, 3, 224, 224),)


def test_the_block_of_the_readme_runs(capsys):
    block = re.search(r"```python\n(.*?)```", (SOURCE / "README.md").read_text(), re.S).group(1)
    exec(block, {})
    assert "layer4" in capsys.readouterr().out


class Broken(nn.Module):
    """What no exporter takes: it looks at values, and at what Python has."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        if (
            isinstance(x, torch.fx.Proxy)
            or torch.compiler.is_exporting()
            or torch.compiler.is_compiling()
        ):
            raise RuntimeError("not to be exported")
        y = self.inner(x)
        y += 1
        return {"scores": self.inner(x).softmax(-1), "sum": y.sum()}


class Depends(nn.Module):
    def forward(self, x):
        return x * 2 if float(x.sum()) > 0 else x @ x.T


def test_a_module_is_asked_about_by_paths():
    module, args = resnet18()
    module.eval()
    p = foretell.predict(module, args, device="h100")
    assert not p.notes and p.batch == 2 and p.model == "ResNet"
    paths = {op.module for op in p.ops if op.kind in ("conv2d", "linear")}
    assert paths == {
        name for name, m in module.named_modules() if isinstance(m, (nn.Conv2d, nn.Linear))
    }
    assert "layer4" in p.tree(1)
    assert p.memory.parts["weights"] == sum(
        t.numel() * t.element_size() for t in module.state_dict().values() if t.dim()
    )


@pytest.fixture(scope="module")
def flops():
    """bench/flop-counter."""
    path = str(SOURCE / "bench/flop-counter")
    loader = importlib.machinery.SourceFileLoader("flop_counter_bench", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    yield module
    torch.backends.mha.set_fastpath_enabled(True)
    torch.__future__.set_overwrite_module_params_on_conversion(False)


@pytest.mark.parametrize("name", ["resnet18", "vgg11", "mobilenet_v2", "vit_b_16", "densenet121"])
def test_flops_are_those_of_the_counter_by_module(name, flops):
    make = functools.partial(flops.image, name)
    assert flops.predicted(make, False) == flops.counted(make, False)


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2", "vit_b_16"])
def test_flops_of_both_passes_are_those_of_the_counter(name, flops):
    make = functools.partial(flops.image, name)
    forward, both = flops.predicted(make, False)[""], flops.predicted(make, True)[""]
    assert both == flops.counted(make, True)[""] > 2.9 * forward


def test_the_mode_of_a_module_is_put_back():
    module, args = resnet18()
    module.train()
    module.layer1.eval()
    step = foretell.predict(
        module, args, device="a30", mode="training", optimizer=torch.optim.AdamW
    )
    assert "AdamW" in step.step and step.memory.parts["gradients"] > 0
    forward = foretell.predict(module, args, device="a30")
    assert forward.time.value < step.time.value and {op.phase for op in forward.ops} == {"forward"}
    assert module.training and not module.layer1.training and not module.layer1[0].training


def test_a_batch_is_made_and_the_largest_found():
    module = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10))
    x = torch.empty(1, 3, 64, 64)
    module(x)
    p = foretell.predict(module, x, device="t4", mode="training", batch=8)
    assert p.batch == 8
    most = p.max_batch()
    for batch, fits in ((most, True), (most + 1, False)):
        assert foretell.predict(module, x, device="t4", mode="training", batch=batch).fits() is fits


def test_what_does_not_export_is_recorded():
    module = Broken().eval()
    p = foretell.predict(module, torch.zeros(8, 16), device="h100")
    assert p.notes[-1] == "operations are from recording on fake tensors"
    assert sum(op.product_flops for op in p.ops) == 2 * 2 * 8 * (16 * 32 + 32 * 4)
    assert {"inner.0", "inner.2"} <= {op.module for op in p.ops}
    assert p.memory.parts["weights"] == pytest.approx(4 * (16 * 32 + 32 + 32 * 4 + 4), abs=8)


def test_results_in_objects_are_exported():
    class Cache:
        def __init__(self, keys):
            self.layers, self.itself = [{"keys": keys}], self

    class Cached(nn.Linear):
        def forward(self, x):
            y = super().forward(x)
            return y, Cache(y.relu()), "text"

    module = Cached(16, 16)
    p = foretell.predict(module, (torch.empty(4, 16),), device="h100")
    assert not p.notes and [op.kind for op in p.ops] == ["linear", "relu"]
    assert not module._forward_hooks and isinstance(module(torch.empty(4, 16))[1], Cache)


def test_what_looks_at_values_is_run():
    p = foretell.predict(Depends(), torch.ones(8, 16), device="h100")
    assert p.notes[-1] == "operations are from recording while running"
    q = foretell.predict(Depends(), -torch.ones(8, 16), device="h100")
    assert (
        sum(op.product_flops for op in q.ops)
        == 2 * 8 * 8 * 16
        > sum(op.product_flops for op in p.ops)
    )


class Chooses(nn.Module):
    """Sizes, and what runs, depend on values; a tensor of its own is no buffer."""

    def __init__(self):
        super().__init__()
        self.scale = torch.ones(8)

    def forward(self, x):
        chosen = x[x > 0]
        places = (x * self.scale).nonzero()
        return (chosen * 2 if float(chosen.sum()) > 0 else chosen.exp()), places + torch.arange(2)


def test_what_values_decide_is_assumed_on_the_meta_device(capfd):
    with torch.device("meta"):
        module, args = Chooses(), (torch.empty(4, 8),)
    p = foretell.predict(module, args, device="h100")
    assert [op.spec.split(" dtype")[0] for op in p.ops if op.kind in ("nonzero", "mul")] == [
        "nonzero x=4x8 out=32",
        "mul x=4x8 y=8",
        "nonzero x=4x8 out=32x2",
        "mul x=32 y=1",
    ]
    assert "sizes the largest, numbers 1" in p.notes[-1] and "values decide" in p.notes[-2]
    assert capfd.readouterr() == ("", "")
    values = foretell.predict(Chooses(), (torch.ones(4, 8) - torch.eye(4, 8),), device="h100")
    assert "nonzero x=4x8 out=28" in values.ops[1].spec and "running" in values.notes[-1]


def test_boxes_of_all_classes_are_one_call_as_on_gpus():
    def find(boxes, scores, classes):
        kept = torchvision.ops.batched_nms(boxes, scores, classes, 0.5)
        return boxes[kept] if float(scores.max()) > 0 else boxes

    with torch.device("meta"):
        args = torch.empty(6000, 4), torch.empty(6000), torch.empty(6000, dtype=torch.long)
    p = foretell.predict(find, args, device="h100")
    assert sum("nms" in op.spec for op in p.ops) == 1 and "sizes the largest" in p.notes[-1]


def test_masks_are_pasted_over_the_image():
    from torchvision.models.detection import roi_heads

    def paste(masks, boxes):
        return roi_heads.paste_masks_in_image(masks, boxes[boxes[:, 0] > 0], (64, 48))

    with torch.device("meta"):
        args = torch.empty(5, 1, 28, 28), torch.empty(5, 4)
    p = foretell.predict(paste, args, device="h100")
    resized = [op.count for op in p.ops if op.kind == "resize" and "64x48" in op.spec]
    assert sum(resized) == 5 and "sizes the largest" in p.notes[-1]


def test_recording_is_exporting():
    import pathlib
    import tempfile

    from foretell import _record

    module, args = resnet18()
    exported = foretell.predict(module.eval(), args, device="h100")
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        path = pathlib.Path(folder, "r.pt2")
        _record.record(module, args, {}, str(path), fake=True)
        recorded = foretell.predict(path, device="h100")
    for path, row in exported.modules().items():
        assert recorded.modules()[path]["product_flops"] == row["product_flops"], path
    assert recorded.time.value == pytest.approx(exported.time.value, rel=0.05)
    assert recorded.memory.parts["weights"] == exported.memory.parts["weights"]


def test_an_exported_program():
    module, args = resnet18()
    program = torch.export.export(module.eval(), args, strict=False)
    assert (
        foretell.predict(program, device="h100").time
        == foretell.predict(module, args, device="h100").time
    )


def test_a_function():
    def attention(q, k, v):
        return (q @ k.transpose(-1, -2)).softmax(-1) @ v

    p = foretell.predict(attention, [torch.empty(1, 8, 128, 64, device="meta")] * 3, device="h100")
    assert (
        p.model == "attention"
        and sum(op.product_flops for op in p.ops) == 2 * 2 * 8 * 128 * 128 * 64
    )


def test_a_module_that_does_not_run_has_its_sentence():
    with pytest.raises(foretell.Error) as caught:
        foretell.predict(nn.Linear(3, 4), torch.zeros(2, 5), device="h100")
    assert caught.value.status == "EUNSUPPORTED" and "Linear" in caught.value.sentence


def test_nothing_large_is_written():
    with torch.device("meta"):
        module = nn.Sequential(*[nn.Linear(28672, 28672) for _ in range(24)])  # 79 GB
        x = torch.empty(4, 28672)
    p = foretell.predict(module, x, device="h100")
    assert p.memory.parts["weights"] > 75e9 and p.fits() is not None


def test_commands_take_modules():
    module, args = resnet18()
    options = dict(devices=["a30", "l4"], mode="training", optimizer=torch.optim.AdamW)
    ranked = foretell.rank(module, args, **options)
    assert "AdamW" in ranked["step"] and len(ranked.rows()) == 2
    ranked = foretell.rank(module, args, devices="a30", batches=[1, 4])
    assert {row["batch"] for row in ranked.rows()} == {1, 4}
    time = {row["batch"]: row["time"].value * row["batch"] for row in ranked.rows()}
    for batch, seconds in time.items():
        p = foretell.predict(module, args, device="a30", batch=batch)
        assert seconds == pytest.approx(p.time.value), batch
    placed = foretell.place(module, args=args, devices=["t4", "a30"], link="16GB/s")
    assert {row["device"] for row in placed.rows()} == {"t4", "a30"}
    again = foretell.place(module, args, devices=["t4", "a30"], link="16GB/s")
    assert again["time_s"] == placed["time_s"]


def test_a_call_that_fails_says_so_once(capfd):
    for args, status in (((), "EINVAL"), (torch.empty(2, 5), "EUNSUPPORTED")):
        with pytest.raises(foretell.Error) as caught:
            foretell.rank(nn.Linear(3, 4), args, devices="a30")
        assert caught.value.status == status
        said = caught.value.sentence.split("; ")
        reasons = [one.partition(" failed: ")[2] for one in said if " failed: " in one]
        assert len(set(reasons)) == len(reasons)
    assert capfd.readouterr() == ("", "")


class Products(nn.Module):
    def forward(self, x, y):
        return torch.kron(x, y).sum()


def test_composite_operations_without_a_rule_are_taken_apart():
    p = foretell.predict(Products(), [torch.empty(8, 100)] * 2, device="h100")
    assert not p.unmodelled and p.notes[-1] == "operations are from recording on fake tensors"


def test_a_module_is_verified_here():
    module = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 30 * 30, 10))
    x = torch.empty(1, 3, 32, 32)
    foretell.collect(module, args=x, engine="fake", budget="20s")
    foretell.train(engine="fake")
    both = foretell.predict(module, x, device="local", engine="fake", batch=4).verify(time="100ms")
    assert 0.2 < both.time.value / both.measured_s < 5
    here, x = dict(device="local", engine="fake"), torch.empty(1, 64, 9000)
    wider = foretell.predict(nn.Conv1d(64, 512, 31), x, **here)
    said = next(w for w in wider.warnings if "collect" in w)  # not of the archive, which is gone
    assert 'foretell.collect(model, args, engine="fake"), then foretell.train(engine="fake")' in said
    assert not wider.verify_command
    far = foretell.predict(nn.Conv1d(64, 512, 31), x, device="t4").warnings
    assert any(w.endswith('they correct it: correct="few.db"') for w in far)


def test_threads_export_at_the_same_time():
    import concurrent.futures

    modules = [nn.Sequential(nn.Linear(n, n), nn.BatchNorm1d(n)) for n in (16, 32, 64, 128)]

    def ask(m):
        n = m[0].in_features
        return foretell.predict(m, torch.empty(4, n), device="h100", mode="inference")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, modules * 2))
    for module, p in zip(modules * 2, answers, strict=True):
        n = module[0].in_features
        assert sum(op.product_flops for op in p.ops) == 2 * 4 * n * n and module.training


@pytest.mark.parametrize(
    "args, said, hint",
    [
        ((), "missing a required argument: 'input'", "args="),
        ((2, 3), "too many positional arguments", "args="),
        ({"input": torch.ones(2, 3)}, "kwargs", "kwargs="),
    ],
)
def test_a_call_that_the_module_does_not_take(args, said, hint):
    with pytest.raises(foretell.Error) as caught:
        foretell.predict(nn.Linear(3, 4), args, device="h100")
    assert (caught.value.status, caught.value.hint) == ("EINVAL", hint)
    assert said in caught.value.sentence
    with pytest.raises(foretell.Error, match="Linear is a class"):
        foretell.predict(nn.Linear, torch.ones(2, 3), device="h100")


def test_what_torch_compile_made_is_asked_about_as_compiled():
    net, x = nn.Sequential(nn.Linear(16, 32), nn.ReLU()), (torch.empty(4, 16),)
    eager = foretell.predict(net, x, device="a100-sxm-40gb")
    ways = {
        ("mode", "default"): "compiled",
        ("mode", "reduce-overhead"): "compiled-graph",
        ("backend", "cudagraphs"): "cudagraphs",
        ("backend", "eager"): "eager",
        ("backend", "aot_eager"): "eager",
    }
    for (option, how), run_mode in ways.items():
        p = foretell.predict(torch.compile(net, **{option: how}), x, device="a100-sxm-40gb")
        assert (p.run_mode, p.title) == (run_mode, eager.title)
        of_function = torch.compile(lambda a: net(a), **{option: how})
        assert foretell.predict(of_function, x, device="a100-sxm-40gb").run_mode == run_mode
    p = foretell.predict(torch.compile(net), x, device="a100-sxm-40gb", run_mode="eager")
    assert p.time.value == eager.time.value


def test_a_precision_of_torch():
    p = foretell.predict(nn.Linear(3, 4), torch.ones(2, 3), device="h100", precision=torch.float16)
    assert p.dtype == "fp16"


class ReadsPositions(nn.Module):
    """What runs depends on integers that no input decides; elsewhere on the input's."""

    def __init__(self, of_input=False):
        super().__init__()
        self.inner, self.of_input = nn.Linear(4, 4), of_input

    def forward(self, x):
        positions = torch.arange(x.shape[0]).unsqueeze(0).expand(2, -1)
        steps = torch.diff(positions, prepend=positions[:, :1] - 1, dim=-1)
        if (steps == 1).all() and not (self.of_input and float(x.sum()) > 0):
            return self.inner(x)
        return x @ x.T @ self.inner(x)


def test_positions_are_read_while_a_step_is_recorded():
    with torch.device("meta"):
        x = torch.empty(8, 4)
        module, other = ReadsPositions(), ReadsPositions(of_input=True)
    p = foretell.predict(module, x, device="h100", mode="training")
    assert not p.notes and "matmul" not in {op.kind for op in p.ops if op.phase == "forward"}
    q = foretell.predict(other, x, device="h100", mode="training")
    assert "values decide" in q.notes[0]


class Force(nn.Module):
    """Takes a gradient as it runs, as models of forces between atoms do."""

    def __init__(self):
        super().__init__()
        self.energy = nn.Linear(4, 1)

    def forward(self, x):
        x = x.requires_grad_()
        return torch.autograd.grad(self.energy(x).sum(), x)[0]


def test_gradients_inside_a_module_are_recorded():
    p = foretell.predict(Force(), torch.ones(10, 4), device="h100")
    assert "with gradients" in p.notes[-1] and sum(op.product_flops for op in p.ops) >= 2 * 40


def test_a_wrong_option_is_said_at_once():
    with pytest.raises(foretell.Error) as caught:
        foretell.predict(nn.Linear(4, 4), torch.ones(10, 4), device="h100", precision="fp99")
    assert caught.value.status == "EINVAL" and caught.value.sentence.startswith("there is no")


def derived(module, args, **options):
    program = torch.export.export(module.train(), args, strict=False)
    return foretell.predict(program, device="h100", mode="training", **options)


def test_a_training_step_is_recorded_with_its_backward_pass():
    module, args = resnet18(4)
    p = foretell.predict(module, args, device="h100", mode="training", optimizer="adamw")
    q = derived(module, args, optimizer="adamw")
    assert not p.notes and "loss: cross entropy over the 1000 classes" in p.assumptions
    assert p.memory.value == pytest.approx(q.memory.value, rel=0.02)
    assert p.memory.parts["saved"] == q.memory.parts["saved"]
    for part in ("weights", "state"):
        assert p.memory.parts[part] == q.memory.parts[part], part
    products = [sum(op.product_flops for op in x.ops if op.phase == "backward") for x in (p, q)]
    assert products[0] == products[1] > 0
    forward = foretell.predict(module, args, device="h100").modules()
    for path, passes in (("conv1", 2), ("layer2.0.conv1", 3), ("fc", 3)):  # the image has none
        flops = p.modules()[path]["product_flops"]
        assert flops == passes * forward[path]["product_flops"], path


class Attends(nn.Module):
    """A mask that is trained, dropout, and a result that is large."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(64, 64), nn.Linear(64, 20000)
        self.bias = nn.Parameter(torch.zeros(1, 1, 128, 128))

    def forward(self, x):
        heads = self.inner(x).unflatten(-1, (4, 16)).transpose(1, 2)
        attend = nn.functional.scaled_dot_product_attention
        y = attend(heads, heads, heads, attn_mask=self.bias, dropout_p=0.1 * self.training)
        return self.outer(y.transpose(1, 2).flatten(2))


def test_a_recorded_step_keeps_what_pytorch_keeps():
    """The result, which the caller has, and dropout of attention."""
    x = torch.empty(8, 128, 64)
    options = dict(device="epyc-7543", mode="training")
    p = foretell.predict(Attends(), x, **options)
    program = torch.export.export(Attends().train(), (x,), strict=False)
    derived = foretell.predict(program, **options).memory.value
    assert p.memory.value == pytest.approx(derived, rel=0.01)
    attention = [op for op in p.ops if op.kind == "attention"]
    assert [op.phase for op in attention] == ["forward", "backward"] and not p.notes
    assert all("train=3" in op.spec for op in attention)


@pytest.mark.parametrize(
    "loss, said",
    [
        (None, "loss: cross entropy over the 10 classes"),
        ("mse", "loss: mean square error"),
        ("none", "loss: none; the gradient of the result is given"),
    ],
)
def test_the_loss_of_a_recorded_step(loss, said):
    options = dict(device="h100", mode="training", loss=loss)
    p = foretell.predict(nn.Linear(64, 10), torch.empty(8, 64), **options)
    assert said in p.assumptions and not p.notes
    with pytest.raises(foretell.Error) as caught:
        foretell.predict(nn.Linear(64, 10), torch.empty(8, 64), **{**options, "loss": "love"})
    assert caught.value.status == "EINVAL"


def test_frozen_parameters_have_no_gradient():
    module = nn.Sequential(*[nn.Linear(256, 256) for _ in range(8)])
    module[:7].requires_grad_(False)
    p = foretell.predict(module, torch.empty(4, 256), device="h100", mode="training")
    backward = [op for op in p.ops if op.phase == "backward" and op.product_flops]
    assert [op.module for op in backward] == ["7"]


class Checkpointed(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(4)])

    def forward(self, x):
        from torch.utils.checkpoint import checkpoint

        for module in self.inner:
            x = checkpoint(module, x, use_reentrant=False)
        return x


def test_recomputation_is_in_the_step():
    x = torch.empty(4096, 64)
    plain = Checkpointed().inner
    p = foretell.predict(Checkpointed(), x, device="h100", mode="training")
    q = foretell.predict(plain, x, device="h100", mode="training")
    assert not p.notes and p.memory.parts["saved"] < q.memory.parts["saved"]
    products = 2 * 4096 * 64 * 64
    assert sum(op.product_flops for op in p.ops) == (4 + 4 + 7) * products  # the first has no x
    assert sum(op.product_flops for op in q.ops) == (4 + 7) * products


class NoBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


class Doubled(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)

    def forward(self, x):
        y = self.inner(x)
        return y if torch.compiler.is_exporting() else NoBackward.apply(y)


def test_where_the_backward_pass_fails_it_is_derived():
    p = foretell.predict(Doubled(), torch.empty(4, 8), device="h100", mode="training")
    assert p.notes[-1] == "operations are from torch.export, the backward pass is derived"


@pytest.mark.parametrize("layer", [nn.GRU, nn.LSTM, nn.RNN])
def test_recurrent_layers_are_one_operation_in_training_too(layer):
    module, x = layer(16, 32), torch.empty(50, 4, 16)
    step, of_function = (
        foretell.predict(what, x, device="a100", mode="training")
        for what in (module, lambda x: module(x))
    )
    assert step.notes[-1] == "operations are from torch.export, the backward pass is derived"
    kind = layer.__name__.lower()
    for p in (step, of_function):
        assert [op.kind for op in p.ops].count(kind) == 2  # forward, backward
    assert step.time.value < 4 * foretell.predict(module, x, device="a100").time.value


def test_a_training_step_in_mixed_precision():
    module, args = resnet18()
    full, mixed = (
        foretell.predict(
            module, args, device="a100", mode="training", batch=64, precision=precision
        )
        for precision in ("fp32", "amp-bf16")
    )
    assert 0.2 < mixed.time.value / full.time.value < 0.9
    assert mixed.memory.parts["saved"] < 0.7 * full.memory.parts["saved"]
    assert mixed.max_batch() > full.max_batch()


@pytest.mark.parametrize("dropout", [False, True])
def test_a_derived_step_has_the_dropout_of_its_module(dropout):
    module = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1) if dropout else nn.ReLU())
    p = foretell.predict(
        module, torch.empty(4, 8), device="a100", mode="training", precision="amp-fp16"
    )
    assert any(op.kind == "dropout" for op in p.ops) == dropout
    assert any(said.startswith("no dropout") for said in p.assumptions) != dropout


@pytest.mark.parametrize("mode", ["inference", "training"])
def test_the_largest_batch_takes_one_export(mode, monkeypatch):
    from foretell import _export

    module, args = resnet18()
    p = foretell.predict(module, args, device="t4", mode=mode)
    exports = []
    export = _export.export
    monkeypatch.setattr(_export, "export", lambda *a, **k: exports.append(k) or export(*a, **k))
    most = p.max_batch()
    assert [k["open_batch"] for k in exports] == [True]
    for batch, fits in ((most, True), (most + 1, False)):
        assert foretell.predict(module, args, device="t4", mode=mode, batch=batch).fits() is fits


class Fixed(nn.Module):
    """Its code has its batch: no export leaves that open."""

    def forward(self, x):
        return x.reshape(2, -1) if x.shape[0] == 2 else x.flatten(1) * 2


def test_where_a_batch_cannot_be_left_open_each_is_exported():
    x = torch.empty(2, 1 << 20)
    p = foretell.predict(Fixed(), x, device="t4")
    most = p.max_batch()
    for batch, fits in ((most, True), (most + 1, False)):
        assert foretell.predict(Fixed(), x, device="t4", batch=batch).fits() is fits


def test_modules_are_told_apart_while_they_run():
    module = nn.Sequential(nn.Linear(64, 64), nn.Sequential(nn.Linear(64, 64), nn.ReLU()))
    with foretell.measure(module=module) as m:
        for _ in range(3):
            module(torch.zeros(8, 64))
    assert set(m.modules) == {"", "0", "1", "1.0", "1.1"}
    assert all(row.calls == 3 and row.seconds >= row.own_s >= 0 for row in m.modules.values())
    assert m.modules[""].seconds <= m.seconds
    assert sum(row.own_s for row in m.modules.values()) == pytest.approx(m.modules[""].seconds)
    assert not module._forward_hooks and not module[1]._forward_pre_hooks


def test_memory_has_the_names_of_the_rfc(monkeypatch):
    module, args = resnet18(8)
    optimizer = torch.optim.Adam(module.parameters())
    e = foretell.estimate_memory(module, args[0], optimizer, device="t4")
    p = foretell.predict(module, args, device="t4", mode="training", optimizer="adam")
    assert e.total == p.memory and e.total_mb == p.memory.value / 2**20
    parts = (e.params_mb, e.gradients_mb, e.optimizer_mb, e.activations_mb, e.other_mb)
    assert sum(parts) == pytest.approx(e.total_mb)
    weights = sum(t.numel() * 4 for t in module.parameters()) / 2**20
    assert e.optimizer_mb == pytest.approx(2 * weights, rel=0.01)
    assert e.params_mb == pytest.approx(weights, rel=0.01) and e.activations_mb > 0
    assert e.fits() and e.fits(device="h100") and f"{e.total_mb:.1f}" in repr(e)
    large = foretell.estimate_memory(module, args[0], "adam", device="t4", batch=1024)
    assert large.fits() is False and large.fits("h100") is True

    forward = foretell.estimate_memory(module, {"x": args[0]}, device="t4")
    assert forward.optimizer_mb == 0 and forward.total_mb < e.total_mb

    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA H100 80GB HBM3")
    assert foretell.estimate_memory(module, args[0]).prediction.device == "h100-sxm"
    assert e.fits(device=0) is True


def test_the_example_of_the_rfc_runs(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Tesla T4")
    monkeypatch.delattr(torch.cuda, "estimate_memory", raising=False)
    sys.modules.pop("foretell.torch_cuda", None)
    importlib.import_module("foretell.torch_cuda")
    model, (sample_input,) = resnet18(8)
    optimizer = torch.optim.Adam(model.parameters())

    estimate = torch.cuda.estimate_memory(model, sample_input, optimizer=optimizer)
    assert estimate.prediction.device == "t4" and estimate.total_mb > 0
    assert estimate.fits(device=0) is True
    assert estimate.params_mb > 0 and estimate.optimizer_mb > 0 and estimate.activations_mb > 0


@pytest.mark.skipif(torch.cuda.is_available(), reason="here is a GPU")
def test_a_gpu_that_is_not_here_is_named():
    for device in (0, "cuda:0", torch.device("cuda", 1)):
        with pytest.raises(foretell.Error) as caught:
            foretell.estimate_memory(nn.Linear(4, 4), torch.empty(2, 4), device=device)
        assert caught.value.status == "ENOTFOUND" and caught.value.hint == "device="
