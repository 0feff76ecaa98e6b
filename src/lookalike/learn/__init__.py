"""The textbook method, written for reading, and corpora with known near-duplicates."""
