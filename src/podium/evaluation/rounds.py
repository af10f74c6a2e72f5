"""What further rounds change: of the answers that one round gave, which a second look mended, kept and spoilt."""

from collections.abc import Sequence

from podium.evaluation.evaluate import Result

Cells = tuple[list[str], list[list[str]]]


def redistribution(results: Sequence[Result]) -> Cells | None:
    """Head and body of a table: every arm ``NAME@2`` and above beside ``NAME@1`` on the same problems, per kind.

    None where no arm is there with one round and with more. Repeats are compared one by one; faults are left out.
    """
    verdicts: dict[str, dict[tuple[str, int], tuple[str, bool, tuple[str, ...]]]] = {}
    for result in results:
        if not result.is_world_fault:
            known = (result.kind, result.is_correct, result.workers)
            verdicts.setdefault(result.arm, {})[result.problem, result.repeat] = known
    body = []
    for arm, more in verdicts.items():
        name, at, rounds = arm.rpartition("@")
        once = verdicts.get(f"{name}@1")
        if not at or rounds == "1" or once is None:
            continue
        both = [
            (kind, once[key][1], right, workers != once[key][2]) for key, (kind, right, workers) in more.items() if key in once
        ]
        for kind in (*sorted({each[0] for each in both}), "all"):
            of_kind = [each for each in both if kind in ("all", each[0])]
            changed = sum(again for _, _, _, again in of_kind)
            outcomes = [(before, after) for _, before, after, _ in of_kind]
            body.append(
                [
                    arm,
                    kind,
                    str(len(of_kind)),
                    str(changed),
                    *(str(outcomes.count(pair)) for pair in ((False, True), (True, False), (True, True), (False, False))),
                ]
            )
    head = ["arm", "kind", "answers", "planned anew", "mended", "spoilt", "stayed right", "stayed wrong"]
    return (head, body) if body else None
