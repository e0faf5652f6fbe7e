"""Drivers: each carries out the hub's commands with one client library, and makes no decisions.

Their contract is ``docs/reference/drivers.md``. A client chooses its driver by the address or the connection
that the program passes.
"""
