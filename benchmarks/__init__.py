"""Speed, with the accuracy and a peer beside it, in one run on one machine."""
