"""The public interface for programs. Use it as `import inspector`: every name here is also a name there."""
