"""What a piece of work costs."""

import sys
import time

import numpy as np
import pytest
from stage import measure


def test_waiting_costs_no_processor_time():
    with measure.measured() as waiting:
        time.sleep(0.2)
    with measure.measured() as working:
        began = time.process_time()
        while time.process_time() < began + 0.2:
            pass
    assert waiting.seconds < 0.1
    assert 0.2 <= working.seconds < 2


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory can be reset on Linux")
def test_the_peak_is_of_this_piece_of_work_alone():
    """An earlier peak does not count, nor does what was in use before."""
    kept = np.ones(4 << 20)  # 32 MiB
    with measure.measured():
        _ = np.ones(16 << 20).sum()
    with measure.measured() as later:
        _ = np.ones(8 << 20).sum()
    assert kept.sum() > 0
    assert 60 < later.memory_mib < 80


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory can be reset on Linux")
def test_freed_memory_that_is_used_again_counts():
    def work():
        return sum(float(part.sum()) for part in [np.ones(1 << 13) for _ in range(512)])

    work()
    with measure.measured() as cost:
        work()
    assert 25 < cost.memory_mib < 60


def test_a_system_that_does_not_tell_gives_nan(tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "_CLEAR", tmp_path)
    monkeypatch.setattr(measure, "_STATUS", tmp_path / "missing")
    with measure.measured() as cost:
        pass
    assert np.isnan(cost.memory_mib)
    assert cost.seconds >= 0
