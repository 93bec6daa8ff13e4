"""The mock server: answers from a recording, over any transport of its clients."""
