"""Arrays in loops: copies, since nothing may allocate there and NumPy's slices can; indices."""

from numba.extending import register_jitable

from fairbandits.engine.inlining import INLINE


@register_jitable(**INLINE)
def assign(out, values):
    """Copy `values` into `out`, both of shape (n,)."""
    for k in range(out.size):
        out[k] = values[k]


@register_jitable(**INLINE)
def fill(out, value):
    """Set every entry of `out`, shape (n,)."""
    for k in range(out.size):
        out[k] = value


@register_jitable(**INLINE)
def largest(values):
    """Return the largest entry."""
    best = values[0]
    for k in range(1, values.size):
        best = max(best, values[k])
    return best


@register_jitable(**INLINE)
def nonnegative(i):
    """Return the index `i`, which is not negative, in a form that shows this to the compiler.

    An index of which it does not know that counts from the end if it is negative, and each use of
    it costs instructions.
    """
    return i & (2**63 - 1)
