"""What answers behind the name of an arm, as a hash that is kept with each result: a changed set-up inherits no answers.

Counted: of a bare worker its model, address and settings; of a baseline its wording and the workers that it asks; of a policy
all of the pool, the prompt, and its weights or folder, of one of your own its code; of a router also what it learns from; of
recorded and built-in workers the recordings and the gym; of every arm, how programs are judged.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import podium.gym
from podium.evaluation.verifier_identity import described
from podium.policies.catalogue import named_policies
from podium.policies.fixed import at_random, consensus, mixture_of_agents, self_reflection, solo
from podium.policies.learned import is_learned
from podium.policies.rules import CHECKS, CONDITIONAL, cascade, following, stop
from podium.policies.shipped import conductor_folder
from podium.policies.spec import parse_policy
from podium.policies.tested import run_and_mend
from podium.policies.tuned import ALLOW_MISSING
from podium.pools.opened import OpenPool
from podium.studies.arms import weights_of
from podium.types import Brief, Card, Problem, ask
from podium.workers.identity import content_hash, hashed, pool_identity, worker_identities
from podium.workflow.parse import format_workflow
from podium.workflow.prompt import messages
from podium.workflow.syntax import WorkflowSyntax

_ONE_WORKER = ("worker", "context")
_BASELINES_OF_ONE = ("solo", "reflection", "consensus")
_BASELINES_OF_ALL = ("mixture", "vote", "random")
_IN_FOLDERS = ("learned", "tuned", "prompted")
_BRIEF = Brief(question=ask("6 times 7?"), cards=(Card(name="a"), Card(name="b")))


def setups_of(
    arms: Iterable[str],
    opened: OpenPool,
    *,
    pool: Path | None,
    replay: Path | None = None,
    rounds: int = 1,
    again: str = "",
    unsafe_local: bool = False,
    learned: str = "",
) -> dict[str, str]:
    """Arm -> hash of what answers. ``learned`` is :func:`learned_from` of what routers learn from."""
    workers, whole = _of_the_team(opened, pool, replay)
    found, policies = {}, named_policies(opened.policies)
    for name in arms:
        kind, _, rest = name.partition(":")
        parts = [kind, unsafe_local]
        if kind in _ONE_WORKER:
            found[name] = hashed(*parts, workers[rest])
            continue
        if kind in _BASELINES_OF_ONE and rest in workers:
            found[name] = hashed(*parts, workers[rest], _wording())
            continue
        if kind in _BASELINES_OF_ALL and "+" not in rest and not is_learned(name):
            found[name] = hashed(*parts, rest, list(workers.items()), _wording())
            continue
        parts += [whole, rounds, again, _prompts(opened), _wording(), learned if is_learned(name) else ""]
        if kind == "tested":
            parts.append(format_workflow(run_and_mend(0, 1, 2).workflow(_BRIEF), CONDITIONAL))
        if (made := policies.get(parse_policy(name).kind)) is not None and not made.make.__module__.startswith("podium."):
            parts.append(described(made.make))  # a policy of the user's own: the code that makes it
        folder = _folder(name)
        found[name] = hashed(name, *parts, None if folder is None else content_hash(folder))
    return found


def _folder(name: str) -> Path | None:
    """What an arm was learned into: counted with all that is in it, because it may be replaced in its place."""
    weights, spec = weights_of(name), parse_policy(name)
    if weights is not None:
        return conductor_folder(weights)
    return Path(spec.argument.removesuffix(ALLOW_MISSING)) if spec.kind in _IN_FOLDERS else None


def setups_of_workers(
    workers: Iterable[str], opened: OpenPool, *, pool: Path | None, replay: Path | None = None, unsafe_local: bool = False
) -> dict[str, str]:
    """The same for workers alone, by their own names; with ``replay`` recorded ones that are asked instead."""
    if replay is not None:
        recorded = content_hash(replay)
        return {name: hashed(name, recorded) for name in workers}
    arms = {f"worker:{name}": name for name in workers}
    return {arms[arm]: setup for arm, setup in setups_of(arms, opened, pool=pool, unsafe_local=unsafe_local).items()}


def learned_from(setting: str, problems: Sequence[Problem], setups: Mapping[str, str]) -> str:
    """What tells apart what routers learned: the table [learning], its problems, and who answered them."""
    return hashed(setting, [(problem.id, problem.target) for problem in problems], dict(setups))


def _of_the_team(opened: OpenPool, pool: Path | None, replay: Path | None) -> tuple[dict[str, str], str]:
    """What answers under each worker's name, and what a policy over all of them sees."""
    if replay is not None:
        recorded = content_hash(replay)
        return {name: hashed(name, recorded) for name in opened.workers.names}, hashed(opened.workers.names, recorded)
    if pool is None:
        world = content_hash(Path(podium.gym.__file__).parent)
        return {name: hashed(name, world) for name in opened.workers.names}, hashed(opened.workers.names, world)
    from podium.acting.pool_file import read_pool

    config = read_pool(pool)
    return worker_identities(config), pool_identity(config)


def _wording() -> str:
    """What baselines tell workers, on a question of ours."""
    baselines = [solo(0), self_reflection(0), consensus(0, judge=1), mixture_of_agents(1), at_random()]
    baselines += [following(rule, judge=3) for rule in (stop(3, 2), cascade((0, 1, 2)))]
    return hashed([format_workflow(baseline.workflow(_BRIEF), baseline.syntax) for baseline in baselines], CHECKS)


def _prompts(opened: OpenPool) -> str:
    """What policies are told, on a question of ours."""
    brief = Brief(question=ask("6 times 7?"), cards=opened.workers.cards)
    said = opened.conductor
    syntax = WorkflowSyntax() if said is None else WorkflowSyntax(cards=said.cards, conditions=said.conditions)
    return hashed([message.content for message in messages(brief, syntax)], None if said is None else said.again)
