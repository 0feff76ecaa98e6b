"""Sketches to the pairs that are worth comparing: buckets of bands, or an exact join."""
