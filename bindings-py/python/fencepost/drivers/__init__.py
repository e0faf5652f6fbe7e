"""Drivers: each carries out the hub's commands with one client library, and makes no decisions.

Their contract is ``docs/reference/drivers.md``. The clients choose one by the address or the connection that
they are given.
"""
