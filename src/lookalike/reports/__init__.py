"""Results as one page that opens from disk: what it shows, and how it is written."""
