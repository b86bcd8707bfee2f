"""Options for the functions that the round loops call.

States are passed field by field, as dozens of arguments, and LLVM then declines to inline many of
our functions. Each round would pay for the calls, and nothing could stay in registers between them.
So inlining is forced. Numba also makes a C entry point for each function; nothing here uses it, and
it takes time to compile, so it is switched off.

A function without options of its own inherits those of its caller, forced inlining too. A large
function that must not be inlined therefore says so (`NOT_INLINED`).
"""

#: For functions that are small, or called from one place.
INLINE = {"forceinline": True, "no_cfunc_wrapper": True}
#: For functions that are large and called from several places, or seldom reached.
NOT_INLINED = {"forceinline": False, "no_cfunc_wrapper": True}
