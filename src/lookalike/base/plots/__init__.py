"""Pictures of curves and counts: for Matplotlib, for a terminal, and as SVG without either.

They are made of plain numbers, so that whatever has a curve can show it.
"""
