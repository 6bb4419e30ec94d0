"""Programs that repeat their steps on parts of their units."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from frontend.collectives import build, check
from frontend.collectives.program.rotation import repeated


@given(size=st.integers(2, 6), times=st.integers(1, 4))
def test_a_repeated_program_is_as_many_of_it(size, times):
    once = build("all_reduce", "dbt", size, segments=1)
    several = repeated(once, times).table()
    check(several)
    assert several.steps == times * once.steps
    waiting = np.repeat(several.offset, np.diff(several.dep_begin)) % times
    assert (several.offset[several.dep] % times == waiting).all()
    for turn in range(times):
        own = several.offset % times == turn
        assert np.array_equal(several.offset[own] // times, once.offset)
        assert np.array_equal(several.op[own], once.op)
        assert np.array_equal(several.peer[own], once.peer)
        assert (several.offset[several.target[own]] % times == turn).all()


def test_steps_of_a_repetition_stand_together():
    several = build("all_reduce", "dbt", 5, segments=3)
    for member in range(5):
        own = several.offset[several.step_begin[member] : several.step_begin[member + 1]]
        assert (np.diff((own % 3).astype(int)) >= 0).all()
