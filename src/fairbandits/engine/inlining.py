"""Options for the functions that the round loops call.

A state travels by value, as dozens of arguments, and LLVM, weighing every call by itself, leaves
many of ours standing: a round then costs its calls, and nothing stays in registers between them.
Numba also makes a C entry point for each function, which nobody asks for and which takes its time
to compile.

A callee that says nothing takes the choice of its caller, so what shall stay apart has to say so.
"""

#: For what is small, or called from one place.
INLINE = {"forceinline": True, "no_cfunc_wrapper": True}
#: For what is large and called from several places, or seldom reached.
APART = {"forceinline": False, "no_cfunc_wrapper": True}
