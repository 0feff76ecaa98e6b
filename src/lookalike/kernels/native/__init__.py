"""What instructions are to Numba: their types, and the code of LLVM that they become.

Each module is named as the one that tells its instructions in Python, and loads Numba; `jit` loads
it when a kernel that calls one of them is compiled.
"""
