"""Reports of a run: text, JUnit, Markdown, HTML. `--json` is `RunResult.as_json`."""
