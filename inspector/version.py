"""The version, for every package."""

__version__ = "0.3.0"


def platform_text() -> str:
    """Return the versions of Python and the system, without user data: `Python 3.13.0, Linux x86_64`."""
    import platform

    return f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
