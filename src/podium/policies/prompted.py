"""``prompted:FOLDER``: a worker prompted as the Conductor, told what ``podium tune --conductor`` found out about the pool.

It conducts the workers it was tuned with, under the numbers they had; ``prompted:FOLDER:allow-missing`` does without those that
the pool has not. Left out: conditions, and following the folder while it is used.
"""

from pathlib import Path

from podium.errors import ConfigError
from podium.policies.chat import ChatPolicy
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.policies.prompted_record import PromptedRecord, read_prompted
from podium.policies.tuned import ALLOW_MISSING
from podium.registry import register
from podium.workers.pool import WorkerPool
from podium.workflow.syntax import WorkflowSyntax

SYNTAX = WorkflowSyntax(cards=True)
"""Measured shares stand on the cards, so they are shown."""


def prompted_setup(record: PromptedRecord, workers: WorkerPool, *, allow_missing: bool = False) -> PolicySetup:
    """What conducts ``workers`` as ``record`` says. Raises :class:`ConfigError` where one of them is missing."""
    missing = [name for name in (record.conductor, *record.workers) if name not in workers.names]
    if missing and (not allow_missing or record.conductor in missing or not {*record.workers} - {*missing}):
        can_go = "" if record.conductor in missing else ", or name it with :allow-missing"
        raise ConfigError(f"this Conductor was tuned with {missing[0]!r}, which the pool has not; tune again{can_go}")
    conducted = WorkerPool([workers.named(name) for name in record.workers if name in workers.names])
    policy = ChatPolicy(
        workers.named(record.conductor).worker,
        syntax=SYNTAX,
        attempts=record.attempts,
        guide=record.guide(conducted.names),
    )
    return PolicySetup(policy=policy, workers=conducted, max_steps=record.max_steps, syntax=SYNTAX)


def _prompted(asked: PolicyRequest) -> PolicySetup:
    argument = asked.spec.argument
    folder = argument.removesuffix(ALLOW_MISSING)
    if not folder:
        raise ConfigError("name the folder of a Conductor tuned for this pool: prompted:FOLDER (see: podium tune --help)")
    return prompted_setup(read_prompted(Path(folder)), asked.workers, allow_missing=folder != argument)


register("policies", "prompted")(
    NamedPolicy(
        form="prompted:FOLDER[:allow-missing]",
        about="a worker prompted with what podium tune --conductor found out about this pool",
        make=_prompted,
        knows_workers_by_number=True,
    )
)
