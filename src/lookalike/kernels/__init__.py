"""Compiled loops: arrays in, arrays out. Nothing here is public.

Callers allocate every array and check every argument; a kernel trusts both. Helpers stand in the
file of the kernel that inlines them, since the compiler's cache does not see edits elsewhere.
"""
