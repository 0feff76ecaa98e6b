"""Similar pairs to clusters, and which document of each is kept."""
