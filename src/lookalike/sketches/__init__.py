"""Documents to sketches: minhash signatures, bits of hyperplanes, fingerprints, the prefilter."""
