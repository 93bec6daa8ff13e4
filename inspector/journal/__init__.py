"""Floor 2: the recording. Format, writer, index, reader, pairing, redaction, filter language, findings."""
