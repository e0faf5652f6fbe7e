"""Drop-in modules: a peer's classes, signatures, exceptions and layout, on fencepost's locks."""
