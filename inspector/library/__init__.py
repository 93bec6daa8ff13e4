"""The public interface for programs. Use it as `import inspector`; everything here is found there, by the same name."""
