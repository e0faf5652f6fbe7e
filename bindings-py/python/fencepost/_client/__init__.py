"""The client for threads: the classes that a program uses. :mod:`fencepost.asyncio` has them for asyncio."""
