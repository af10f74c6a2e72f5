"""What is learned from training problems: routers, orders and rules; how they are made, saved, and conducted from a folder.

A saved one is a folder with ``learned.json``: which arm it is, the workers it knows, what every worker made of the training
questions, and the rules, which may be read and changed by hand. Routers are fitted to these anew when the folder is
opened, so nothing in it is code. Outside a study the kind of a question is not given: its nearest training questions do.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from podium.errors import ConfigError
from podium.extras import need
from podium.policies.chosen import CHOSEN, WORDED, ChosenWorkflow, followed, policy_of
from podium.policies.fixed import FunctionPolicy, consensus, mixture_of_agents, self_reflection, solo
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.policies.router_data import RouterDataset, RouterTrainingData
from podium.policies.rules import CONDITIONAL, LEARNED, Rule, cascade, setup_of, stop
from podium.registry import register
from podium.types import Brief, Step, Workflow
from podium.workers.pool import WorkerPool

ROUTERS = (
    "kind",
    "nearest",
    "linear",
    "contrastive",
    "agreement",
    "agreement-nearest",
    "classified",
    "rule",
    "avengers",
    "frugal",
)
"""Learned routers by their short names: of :mod:`podium.policies.router`, and the rule per kind."""
CATALOGUE = ("reflection", "consensus", "mixture")
"""What the router ``classified`` may choose besides the workers alone; each with the worker that is best in training."""
FILE = "learned.json"
MAX_BYTES = 64_000_000
"""Largest file that is read: some 50,000 questions."""

Rules = dict[str, Rule]
"""Kind -> its rule; under "" that of a question whose kind is unknown."""


def is_learned(name: str) -> bool:
    """Whether the arm learns from training problems. Raises :class:`ConfigError` for a router that does not exist."""
    kind, _, rest = name.partition(":")
    method = rest.partition(":")[0]
    if kind == "router" and method not in ROUTERS:
        raise ConfigError(f"there is no router {method!r}; there are {', '.join(ROUTERS)}")
    return (
        name in CHOSEN
        or kind == "router"
        or (kind == "vote" and rest == LEARNED)
        or (kind == "stop" and rest.partition(":")[2] == LEARNED)
    )


def make_learned(name: str, pool: WorkerPool, router_data: RouterTrainingData, rules: Rules | None = None) -> PolicySetup:
    """The arm ``name``: ``router:METHOD``, ``router:rule:PRICE``, ``stop:K:learned`` or ``vote:learned``.

    ``rules`` are those of a saved folder; None learns them. Raises :class:`ConfigError`.
    """
    if name in CHOSEN:
        if name not in router_data.workflows:
            raise ConfigError(f"{name} is a workflow that is chosen on training problems, and none was")
        return followed(router_data.workflows[name], pool)
    need("stats")
    found = learned_rules(name, router_data.alone) if rules is None else rules
    if found:
        return setup_of(_by_kind(found, len(pool), router_data.sort_of), pool)
    from podium.policies import clusters, frugal, learning, router  # scikit-learn, which the core does without

    method, _, setting = name.partition(":")[2].partition(":")
    if method == "avengers":
        chosen = clusters.clustered(router_data.alone, _number(setting, clusters.MEMBERS))
        judge = len(pool)
        return setup_of(FunctionPolicy(lambda b: chosen(b.question[-1].content).workflow(b, judge), CONDITIONAL), pool)
    if method == "frugal":
        scorer = frugal.Scorer(router_data.alone)
        row = scorer.best_row(_price(setting, learning.PRICE))
        return PolicySetup(policy=frugal.FrugalPolicy(scorer, row), workers=pool, max_steps=1, rounds=len(row.workers))
    if setting:
        raise ConfigError(f"router:{method} takes nothing behind it, and not {setting[:20]!r}")
    if method == "classified":
        if router_data.catalogue is None:
            raise ConfigError("this router needs to know what the catalogue of workflows earned")
        return _classified(router.classified(router_data.catalogue), pool, router_data)
    choosers: dict[str, Callable[[], Callable[[str], int]]] = {
        "kind": lambda: router.best_of_kind(router_data.alone, router_data.sort_of),
        "nearest": lambda: router.nearest(router_data.alone),
        "linear": lambda: router.linear(router_data.alone),
        "contrastive": lambda: router.contrastive(router_data.alone),
        "agreement": lambda: router.agreement(router_data.alone),
        "agreement-nearest": lambda: router.agreement(router_data.alone, neighbours=20),
    }
    return PolicySetup(policy=router.routed(choosers[method]()), workers=pool, max_steps=1)


def learned_rules(name: str, router_data: RouterDataset) -> Rules:
    """The rules of an arm that follows some; {} for any other. Raises :class:`ConfigError`."""
    from podium.policies import learning  # numpy, which the core does without

    kind, _, rest = name.partition(":")
    if kind == "vote":
        return {"": Rule(order=learning.learned_order(router_data))}
    if kind == "stop":
        count = rest.partition(":")[0]
        if not (count.isascii() and count.isdecimal() and len(count) <= 2):
            raise ConfigError(f"stop:K:learned takes a number, as in stop:2:learned, and not {count[:20]!r}")
        return {"": stop(len(router_data.right[0]), int(count), learning.learned_order(router_data))}
    method, _, price = rest.partition(":")
    if method != "rule":
        return {}
    charged = _price(price, learning.PRICE)
    return {kind: each.rule for kind, each in learning.Trials(router_data).rules(price=charged).items()}


def _price(text: str, default: float) -> float:
    """What a call costs in shares of right answers. Raises :class:`ConfigError`."""
    try:
        charged = float(text) if text else default
    except ValueError:
        raise ConfigError(f"router:METHOD:PRICE takes what a call costs in shares of right answers, not {text[:20]!r}") from None
    if not 0 <= charged <= 1:
        raise ConfigError(f"what a call costs is a share of right answers, from 0 to 1, and not {text[:20]!r}")
    return charged


def _number(text: str, default: int) -> int:
    if text and not (text.isascii() and text.isdecimal() and len(text) <= 2):
        raise ConfigError(f"router:avengers:N takes how many workers vote, as in router:avengers:3, and not {text[:20]!r}")
    return int(text) if text else default


def used_by(name: str, arm: str) -> bool:
    """Whether the learned arm ``name`` needs the workflow that was chosen for ``arm``."""
    return arm == name or (name == "router:classified" and arm in WORDED)


def save(folder: Path, name: str, workers: tuple[str, ...], router_data: RouterTrainingData) -> None:
    """Keep the arm ``name`` in ``folder``, for ``learned:FOLDER``. Raises :class:`ConfigError` where it can not be written."""
    rules = {
        kind: _Rule(order=[workers[worker] for worker in rule.order], agree=rule.agree, last_decides=rule.last_decides)
        for kind, rule in learned_rules(name, router_data.alone).items()
    }
    file = _File(
        version=1,
        arm=name,
        workers=list(workers),
        rules=rules,
        lessons=router_data.alone,
        catalogue=router_data.catalogue,
        workflows={arm: _Chosen.of(each, workers) for arm, each in router_data.workflows.items() if used_by(name, arm)},
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text(json.dumps(file.model_dump(), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"can not save what was learned to {folder}: {error.strerror}") from error


def load(folder: Path, pool: WorkerPool) -> PolicySetup:
    """The arm in ``folder``, for the workers it was learned with. Raises :class:`ConfigError`."""
    path = folder / FILE
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{path} is larger than {MAX_BYTES} bytes; that is nothing podium evaluate --save has written")
        file = _File.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"can not read what was learned from {path}: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ConfigError(f"{path} is not what podium evaluate --save writes: {place}: {first['msg']}") from None
    if tuple(file.workers) != pool.names:
        raise ConfigError(
            f"{folder} was learned with the workers {', '.join(file.workers)}, in this order, not with {', '.join(pool.names)}"
        )
    if not is_learned(file.arm):
        raise ConfigError(f"{path} holds {file.arm[:60]!r}, which is nothing that is learned")
    workflows = {arm: each.chosen(pool, path) for arm, each in file.workflows.items()}
    if file.arm in CHOSEN:
        return make_learned(file.arm, pool, RouterTrainingData(alone=file.lessons, sort_of=lambda _: None, workflows=workflows))
    need("stats")
    from podium.policies.router import kind_by_text  # scikit-learn, which the core does without

    router_data = RouterTrainingData(
        alone=file.lessons, sort_of=kind_by_text(file.lessons), catalogue=file.catalogue, workflows=workflows
    )
    for data, width in ((file.lessons, len(pool)), (file.catalogue, len(pool) + len(CATALOGUE))):
        if data is not None and len(data.right[0]) != width:
            raise ConfigError(f"what was learned is not about {width} workers or workflows at every question")
    rules = {kind: rule.rule(pool) for kind, rule in file.rules.items()}
    follows = not file.arm.startswith("router:") or file.arm.split(":")[1] == "rule"
    if rules and not follows:
        raise ConfigError(f"{path}: rules: {file.arm} follows none, so that they would change nothing; leave them out")
    if follows and "" not in rules:
        raise ConfigError(f'{path}: rules: there is none under "", for questions of no known kind')
    return make_learned(file.arm, pool, router_data, rules)


def _by_kind(rules: Rules, judge: int, kind_of: Callable[[str], str | None]) -> FunctionPolicy:
    def workflow(brief: Brief) -> Workflow:
        kind = "" if len(rules) == 1 else kind_of(brief.question[-1].content) or ""
        return rules.get(kind, rules[""]).workflow(brief, judge)

    return FunctionPolicy(workflow, CONDITIONAL)


def _classified(choose: Callable[[str], int], pool: WorkerPool, router_data: RouterTrainingData) -> PolicySetup:
    """The router over a catalogue: every worker alone, then :data:`CATALOGUE` with the best of them and the chosen wordings."""
    judge, best, worded = len(pool), router_data.best, router_data.workflows
    usual = (self_reflection(best), consensus(best, judge=judge), mixture_of_agents(best, layer=range(judge)))
    catalogue = [
        *(solo(worker) for worker in range(judge)),
        *(
            policy_of(worded[f"{name}:learned"]) if f"{name}:learned" in worded else policy
            for name, policy in zip(CATALOGUE, usual, strict=True)
        ),
    ]

    def workflow(brief: Brief) -> Workflow:
        return catalogue[choose(brief.question[-1].content)].workflow(brief)

    setup = setup_of(FunctionPolicy(workflow, CONDITIONAL), pool)
    return PolicySetup(policy=setup.policy, workers=setup.workers, max_steps=max(6, judge + 1), syntax=CONDITIONAL)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Rule(_Strict):
    """A rule, with workers by name."""

    order: list[str] = Field(min_length=1, max_length=1000)
    agree: int | None
    last_decides: bool

    def rule(self, pool: WorkerPool) -> Rule:
        order = tuple(pool.names.index(pool.named(name).name) for name in self.order)
        if len(set(order)) < len(order):
            raise ConfigError(f"a rule names a worker twice: {', '.join(self.order)}")
        if self.last_decides and self.agree != 2:
            raise ConfigError(f"last_decides goes with agree 2 (two answer, the next where they differ), not with {self.agree}")
        if self.last_decides:
            return cascade(order)
        return Rule(order=order) if self.agree is None else stop(len(pool), self.agree, order)


class _Step(_Strict):
    worker: str | None
    """None counts votes."""
    subtask: str
    access: list[int]


class _Chosen(_Strict):
    """A workflow that was chosen, with workers by name."""

    steps: list[_Step] = Field(min_length=1, max_length=100)
    about: str
    right: float = Field(ge=0, le=1)
    problems: int = Field(ge=0)
    usd: float | None = Field(ge=0)
    calls: int = Field(ge=0)

    @classmethod
    def of(cls, chosen: ChosenWorkflow, workers: tuple[str, ...]) -> "_Chosen":
        steps = [
            _Step(
                worker=workers[step.worker] if step.worker < len(workers) else None,
                subtask=step.subtask,
                access=list(step.access),
            )
            for step in chosen.workflow.steps
        ]
        return cls(
            steps=steps,
            about=chosen.about,
            right=chosen.right,
            problems=chosen.problems,
            usd=chosen.usd,
            calls=chosen.calls,
        )

    def chosen(self, pool: WorkerPool, path: Path) -> ChosenWorkflow:
        """Raises :class:`ConfigError` where it is no workflow of ``pool``."""
        numbers: dict[str | None, int] = {None: len(pool)}
        numbers |= {name: number for number, name in enumerate(pool.names)}
        try:
            steps = tuple(Step(worker=numbers[s.worker], subtask=s.subtask, access=tuple(s.access)) for s in self.steps)
            workflow = Workflow(steps=steps)
        except (KeyError, ValueError) as error:
            raise ConfigError(f"{path}: a workflow can not be carried out by this pool: {error}") from error
        facts = self.model_dump(exclude={"steps"})
        return ChosenWorkflow(workflow=workflow, **facts)


class _File(_Strict):
    version: Literal[1]
    arm: str
    workers: list[str]
    rules: dict[str, _Rule]
    lessons: RouterDataset
    catalogue: RouterDataset | None
    workflows: dict[str, _Chosen] = Field(default_factory=dict)


def _learned(asked: PolicyRequest) -> PolicySetup:
    if not asked.spec.argument:
        raise ConfigError("name the folder that podium evaluate --save has written: learned:FOLDER")
    return load(Path(asked.spec.argument), asked.workers)


register("policies", "learned")(
    NamedPolicy(
        form="learned:FOLDER",
        about="a router or rule that a study has learned, from the folder of podium evaluate --save",
        make=_learned,
        knows_workers_by_number=True,
    )
)
