"""What differs between two values, schemas, servers or conversations."""
