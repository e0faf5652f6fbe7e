"""Compares fencepost, the raw clients that it uses, and the peers. See ../README.md."""
