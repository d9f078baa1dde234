"""Searchers of others behind one function: peers(names) -> {name: search}, of those that are
installed; search(values, categories, table, seed, evaluations) -> (objectives of the points
it had evaluated, seconds of processor time a proposal). values[k]: what parameter k can be,
in order unless categories[k]; table: point -> objectives, all to be small. All have their defaults; a point that
is proposed again is not evaluated again and does not count, up to four proposals an
evaluation, or until a searcher knows no other."""
import itertools
import logging
import random
import tempfile
import time
import warnings

PATIENCE = 4


def search(ask, tell, values, table, evaluations):
    seen, proposals, spent = {}, 0, -time.process_time()
    while len(seen) < evaluations and proposals < PATIENCE * evaluations:
        try:
            trial, index = ask()
        except StopIteration:
            break
        at = tuple(v[i] for v, i in zip(values, index))
        tell(trial, table[at])
        seen[at] = table[at]
        proposals += 1
    return seen.values(), (spent + time.process_time()) / proposals


def optuna_peer(sampler):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def run(values, categories, table, seed, evaluations):
        study = optuna.create_study(directions=["minimize"] * 2,
                                    sampler=getattr(optuna.samplers, sampler)(seed=seed))

        def ask():
            trial = study.ask()
            return trial, [trial.suggest_categorical(f"x{k}", range(len(v))) if categories[k]
                           else trial.suggest_int(f"x{k}", 0, len(v) - 1)
                           for k, v in enumerate(values)]

        return search(ask, study.tell, values, table, evaluations)
    return run


def smac_peer():
    from ConfigSpace import Categorical, ConfigurationSpace, Integer
    from smac import HyperparameterOptimizationFacade, Scenario
    from smac.main.exceptions import ConfigurationSpaceExhaustedException
    from smac.multi_objective.parego import ParEGO
    from smac.runhistory import TrialValue

    def run(values, categories, table, seed, evaluations):
        space = ConfigurationSpace(seed=seed)
        space.add([Categorical(f"x{k}", range(len(v))) if categories[k] else
                   Integer(f"x{k}", (0, len(v) - 1)) for k, v in enumerate(values)
                   if len(v) > 1])
        with tempfile.TemporaryDirectory() as folder:
            scenario = Scenario(space, objectives=["a", "b"], deterministic=True, seed=seed,
                                n_trials=PATIENCE * evaluations, output_directory=folder)
            smac = HyperparameterOptimizationFacade(
                scenario, lambda config, seed=0: {"a": 0, "b": 0}, overwrite=True,
                multi_objective_algorithm=ParEGO(scenario), logging_level=logging.ERROR)

            def ask():
                try:
                    trial = smac.ask()
                except ConfigurationSpaceExhaustedException as e:
                    raise StopIteration from e
                return trial, [int(trial.config.get(f"x{k}", 0)) for k in range(len(values))]

            return search(ask, lambda trial, y: smac.tell(trial, TrialValue(cost=list(y))),
                          values, table, evaluations)
    return run


def coordinates(point, values, categories):
    """Numbers from 0 to 1; of a category one for each of its values."""
    return [c for i, v, category in zip(point, values, categories)
            for c in ([float(i == j) for j in range(len(v))] if category
                      else [i / max(1, len(v) - 1)])]


def botorch_peer():
    """Gaussian processes, noisy expected hypervolume improvement (qLogNEHVI), 2 (k + 1)
    points by lot first, the best of 512 points by lot; logarithms of the objectives."""
    import torch
    from botorch.acquisition.multi_objective.logei import (
        qLogNoisyExpectedHypervolumeImprovement)
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import ModelListGP, SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.sampling.normal import SobolQMCNormalSampler
    from gpytorch.mlls import SumMarginalLogLikelihood
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)

    def next_of(x, y, left, seed):
        y = -torch.tensor(y, dtype=torch.float64).log()
        model = ModelListGP(*[SingleTaskGP(x, y[:, k:k + 1], outcome_transform=Standardize(1))
                              for k in range(2)])
        fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
        worst = (y.min(0).values - 0.1 * (y.max(0).values - y.min(0).values)).tolist()
        gain = qLogNoisyExpectedHypervolumeImprovement(
            model, worst, x, prune_baseline=True,
            sampler=SobolQMCNormalSampler(torch.Size([64]), seed=seed))
        with torch.no_grad():
            return int(torch.cat([gain(part.unsqueeze(1)) for part in left.split(128)]).argmax())

    def run(values, categories, table, seed, evaluations):
        torch.manual_seed(seed)
        rng = random.Random(seed)
        points = list(itertools.product(*(range(len(v)) for v in values)))
        unit = torch.tensor([coordinates(p, values, categories) for p in points],
                            dtype=torch.float64)
        known, spent = rng.sample(range(len(points)), 2 * (len(values) + 1)), 0
        of = [table[tuple(v[i] for v, i in zip(values, p))] for p in points]
        while len(known) < min(evaluations, len(points)):
            left = rng.sample(sorted(set(range(len(points))) - set(known)),
                              min(512, len(points) - len(known)))
            spent -= time.process_time()
            best = next_of(unit[known], [of[i] for i in known], unit[left], seed)
            spent += time.process_time()
            known.append(left[best])
        return [of[i] for i in known], spent / evaluations
    return run


MADE = {"optuna-tpe": lambda: optuna_peer("TPESampler"),
        "optuna-nsga2": lambda: optuna_peer("NSGAIISampler"),
        "smac": smac_peer,
        "botorch": botorch_peer}


def peers(names):
    found = {}
    for name in names:
        try:
            found[name] = MADE[name]()
        except ImportError as e:
            print(f"{name} is left out: {e}")
    return found
