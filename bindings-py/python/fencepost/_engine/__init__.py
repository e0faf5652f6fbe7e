"""The engine polls a hub and hands the commands to a driver. Its timers run on a thread or an event loop."""
