"""A folder with recorded outputs of real models, as a pool. It can show selection and voting, and nothing about instructions."""

from pathlib import Path

from podium.errors import ConfigError
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.policies.shipped import check_workers, conductor_folder
from podium.policies.trained import load_trained
from podium.policies.voting import with_vote
from podium.pools.opened import OpenPool
from podium.types import Card
from podium.workers.pool import Member, WorkerPool
from podium.workers.recorded import load_replay


def recorded_pool(folder: Path, dataset: str | None = None, *, sample: int = 0) -> OpenPool:
    """The models recorded in ``folder``, of one ``dataset`` or of all.

    ``sample`` as in :func:`podium.workers.recorded.load_replay`. Raises :class:`ConfigError`.
    """
    members = [Member(worker=worker, card=Card(name=name)) for name, worker in load_replay(folder, dataset, sample=sample)]
    return OpenPool(workers=WorkerPool(members), policies={"trained": _TRAINED}, default_policy="vote", answers_text_only=True)


def _trained(asked: PolicyRequest) -> PolicySetup:
    """Recordings can not merge answers, so a policy that was trained over them has a vote as its last worker."""
    if not asked.spec.argument:
        raise ConfigError("name the folder of a policy that was trained over these recordings: trained:runs/NAME/seed-0/policy")
    workers = with_vote(asked.workers)
    check_workers(conductor_folder(asked.spec.argument), workers.names)
    local = load_trained(asked.spec.argument)
    return PolicySetup(policy=local, workers=workers, max_steps=len(workers) + 1, syntax=local.dialect.syntax)


_TRAINED = NamedPolicy(
    form="trained:FOLDER",
    about="a Conductor trained by reinforcement over recordings, from a run's policy folder",
    make=_trained,
    knows_workers_by_number=True,
)
