"""Lets Schemathesis send JSON lines, whose description is that of bytes."""

import schemathesis


@schemathesis.serializer("application/jsonl", "application/x-ndjson")
def lines(_, value):
    return value if isinstance(value, bytes) else str(value).encode()
