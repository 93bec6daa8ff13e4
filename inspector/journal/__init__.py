"""The recording: format, writer, index, reader, pairing, redaction, filter language, findings."""
