"""Candidates to exact similarities, and estimates where those are asked for."""
