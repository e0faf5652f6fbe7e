"""Drop-in modules: another library's classes, signatures, exceptions and layout, with fencepost's locks."""
