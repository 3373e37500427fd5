"""Thirty-two processes that write without a pause: none is refused, none starves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from support.direct_store import rows
from support.many_writers import write_at_once
from support.store_truth import check_truth

pytestmark = pytest.mark.sqlite("the queue of writers is a file beside the store")

WRITERS, WRITES = 32, 200
TIMEOUT_S = 600.0


@pytest.mark.thorough
def test_of_thirty_two_processes_that_write_at_once_none_is_refused_and_none_starves(home: Path) -> None:
    trial = write_at_once(home, writers=WRITERS, writes=WRITES, timeout_s=TIMEOUT_S)
    assert trial.refused == Counter()
    counts = rows(home, "select workspace_raw, count(*) from capsules group by 1 order by 1")
    assert counts == [(str(worker), WRITES) for worker in sorted(map(str, range(WRITERS)))]
    check_truth(home)
    assert trial.waited > WRITERS * WRITES / 2, "they hardly met"
    # No strict order, but bounded overtaking: a waiter loses only against those that wait already, for as long as the
    # scheduler lets it sleep. If all poll, the unluckiest is overtaken by thousands.
    assert sorted(trial.overtaken)[len(trial.overtaken) * 9 // 10] <= WRITERS
    assert max(trial.overtaken) <= 16 * WRITERS
