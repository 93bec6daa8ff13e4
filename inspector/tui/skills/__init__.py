"""Skills in the interface: the list, the files of one, SKILL.md as text, and how they compare with the list."""
