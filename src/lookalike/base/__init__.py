"""What every package stands on: threads, columns on disk, memory, random words, wording."""
