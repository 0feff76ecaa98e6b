"""An index that lasts: the sketches of documents on disk, and each new one compared with them."""
