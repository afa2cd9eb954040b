"""One operation that numba has no name for: add rows of 16-bit numbers, in vectors of integers.

Written as a loop over the numbers of a row, the sum goes through memory once a row, because
the compiler cannot know that its arrays do not overlap. Here it stays in registers. LLVM turns
the vectors of WIDTH numbers into those that the processor has, and integers add up to the same
whatever the order: the result is the same on every processor.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj

WIDTH = 64
"""Numbers in a row: 128 bytes, two lines of a cache."""

AHEAD = 32
"""So many rows ahead :func:`add_rows_ahead` asks for one: a row of the second cache is then
there in time, also where a short sum ends and the next begins."""

_PLACE = ir.IntType(64)
_NARROW = ir.VectorType(ir.IntType(16), WIDTH)
_WIDE = ir.VectorType(ir.IntType(32), WIDTH)


def _place(number: int) -> ir.Constant:
    return ir.Constant(_PLACE, number)


def _generate(ahead: int, context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Emit ``total[at] += sum of table[first + rows[k]] for k in range(begin, end)``."""
    _, at, _, first, _, begin, end = arguments
    total, table, rows = (
        arrayobj.make_array(signature.args[n])(context, builder, arguments[n]).data  # type: ignore[no-untyped-call]
        for n in (0, 2, 4)
    )
    table = builder.gep(table, [builder.mul(first, _place(WIDTH))])

    def row(k: Any) -> Any:
        number = builder.zext(builder.load(builder.gep(rows, [k])), _PLACE)
        return builder.gep(table, [builder.mul(number, _place(WIDTH))])

    before = builder.block
    head, body, done = (builder.append_basic_block(name) for name in ("head", "body", "done"))
    builder.branch(head)
    builder.position_at_end(head)
    k, added = builder.phi(_PLACE), builder.phi(_WIDE)
    k.add_incoming(begin, before)
    added.add_incoming(ir.Constant(_WIDE, None), before)
    builder.cbranch(builder.icmp_signed("<", k, end), body, done)

    builder.position_at_end(body)
    if ahead:
        soon, flag = row(builder.add(k, _place(ahead))), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [soon.type, flag, flag, flag])
        name = "llvm.prefetch.p0"
        prefetch = cgutils.get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]
        for line in range(0, WIDTH, 32):
            to_read, keep, data = (ir.Constant(flag, value) for value in (0, 3, 1))
            builder.call(prefetch, [builder.gep(soon, [_place(line)]), to_read, keep, data])
    numbers = builder.load(builder.bitcast(row(k), _NARROW.as_pointer()))
    numbers.align = 2
    more = builder.add(added, builder.sext(numbers, _WIDE))
    k.add_incoming(builder.add(k, _place(1)), body)
    added.add_incoming(more, body)
    builder.branch(head)

    builder.position_at_end(done)
    place = builder.gep(total, [builder.mul(at, _place(WIDTH))])
    place = builder.bitcast(place, _WIDE.as_pointer())
    old = builder.load(place)
    old.align = 4
    builder.store(builder.add(old, added), place).align = 4
    return context.get_dummy_value()


def _operation(ahead: int) -> Any:
    # numba reads the names of the arguments here; what they do is in the code above
    def operation(_, total, at, table, first, rows, begin, end):  # type: ignore[no-untyped-def]  # noqa: ARG001
        place = types.int64
        signature = types.void(total, place, table, place, rows, place, place)
        return signature, partial(_generate, ahead)

    return intrinsic(operation)


add_rows = _operation(0)
"""``add_rows(total, at, table, first, rows, begin, end)`` adds the rows ``first + rows[begin:end]``
of a table to row ``at`` of ``total``.

``total`` is of int32, ``table`` of int16, both C-contiguous and WIDTH wide, and ``rows`` unsigned.
Nothing is checked: neither that the rows are there nor that the sums stay below 2^31."""

add_rows_ahead = _operation(AHEAD)
"""The same, faster for rows in the second cache; ``rows`` must go on for AHEAD numbers more."""
