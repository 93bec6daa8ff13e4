"""Reads OTLP files with OpenTelemetry's own messages, strictly: `read_traces.py FILE…`. Prints the names of the spans.

The JSON mapping of OTLP writes ids in hexadecimal where that of Protocol Buffers has base64; nothing else differs.
"""

import base64
import json
import sys

from google.protobuf.json_format import Parse
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

IDS = ("traceId", "spanId", "parentSpanId")


def with_base64(value):
    if isinstance(value, list):
        return [with_base64(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64encode(bytes.fromhex(item)).decode() if key in IDS else with_base64(item)
        for key, item in value.items()
    }


names = []
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    data = Parse(json.dumps(with_base64(document)), TracesData(), ignore_unknown_fields=False)
    names.append(
        [span.name for resource in data.resource_spans for scope in resource.scope_spans for span in scope.spans]
    )
print(json.dumps(names))
