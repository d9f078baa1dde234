"""foretell as the time predictor of sglang-simulator: its InferTimePredictor, asked for every batch that the
simulated scheduler of SGLang forms.

    predictor = Foretell(model, hw, config, model_path="config.json", device="h100", tp=2)

Run by itself it asks for two batches of Llama 3 8B on an H100.
"""

import pathlib
from types import SimpleNamespace

import foretell

try:
    from sglang_simulator.time_predictor.base import InferTimePredictor
except ImportError:  # the simulator is not here: the same without it

    class InferTimePredictor:
        def __init__(self, model, hw, config):
            self.model, self.hw, self.config = model, hw, config


class Foretell(InferTimePredictor):
    """model_path, device and the rest are those of foretell.Steps; model, hw and config the simulator's own."""

    def __init__(self, model, hw, config, model_path, device, **options):
        super().__init__(model, hw, config)
        self.steps = foretell.Steps(model_path, device, engine="sglang", **options)

    def predict_infer_time(self, batch):
        """Seconds of a batch: its requests have extend_length new tokens, past_kv_length in the cache."""
        requests = [(r.extend_length, r.past_kv_length) for r in batch.reqs]
        if not requests:
            return 0.0
        time, _ = self.steps.ask(
            prompts=[(new, past) for new, past in requests if new > 1],
            contexts=[past + 1 for new, past in requests if new <= 1],
        )
        return time.value


if __name__ == "__main__":
    llama = pathlib.Path(__file__).with_name("llama-3-8b.json")
    predictor = Foretell(None, None, None, llama, "h100", prompt=2048, generate=256)
    for what, requests in ("a prompt", [(2048, 0)]), ("32 that decode", [(1, 1024)] * 32):
        reqs = [SimpleNamespace(extend_length=new, past_kv_length=past) for new, past in requests]
        print(f"{what}: {1e3 * predictor.predict_infer_time(SimpleNamespace(reqs=reqs)):.2f} ms")
