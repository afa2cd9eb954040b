"""Progress: silent when quick, otherwise a count and the time to go."""

import io

from stage import progress


def run(step, n):
    clock = iter(step * tick for tick in range(10**6))
    out = io.StringIO()
    items = progress.track(range(n), "sweep", every=5.0, streams=(out,), clock=lambda: next(clock))
    assert list(items) == list(range(n))
    return out.getvalue().splitlines()


def test_a_quick_job_is_silent():
    assert run(0.01, 100) == []


def test_a_long_job_says_how_far_and_how_long():
    lines = run(1.0, 20)
    assert lines[0] == "sweep: 4 of 20 (20 %), 0:20 to go"
    assert len(lines) == 4


def test_without_a_total_it_counts():
    out = io.StringIO()
    clock = iter(range(100))
    list(
        progress.track(
            (i for i in range(10)), "sweep", every=5.0, streams=(out,), clock=lambda: next(clock)
        )
    )
    assert out.getvalue().splitlines()[0] == "sweep: 4 done, 0:05 so far"


def test_hours():
    assert run(3600.0, 3)[1] == "sweep: 1 of 3 (33 %), 4:00:00 to go"
