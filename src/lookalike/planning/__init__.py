"""From a threshold, a recall and a sample of the corpus to bands and rows, with their curve."""
