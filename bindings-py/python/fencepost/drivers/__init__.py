"""Drivers: each carries out the hub's commands with one client library, and decides nothing.

Their contract is ``docs/drivers.md``. The clients choose one by the address or the connection they are given.
"""
