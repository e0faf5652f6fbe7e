"""The client for threads: what a program meets. :mod:`fencepost.asyncio` is the same for asyncio."""
