"""Side by side: fencepost, the raw clients it drives, and the peers. See ../README.md."""
