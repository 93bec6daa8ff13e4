"""Between another client and its server: bytes pass on unchanged and are recorded."""
