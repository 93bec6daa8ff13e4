"""The differences between two values, schemas, servers or conversations."""
