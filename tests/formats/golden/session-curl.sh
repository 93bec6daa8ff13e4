#!/bin/sh
# Sends the messages of a recorded session again. Written by inspector VERSION.
# The recording: 6b0f9a0e-0000-4000-8000-000000000001
set -eu
: "${TOKEN:?must be set: the recording does not contain it}"
SEEN=$(mktemp)
trap 'rm -f "$SEEN"' EXIT
# until_asked METHOD COUNT: wait until the server has sent so many requests of this method.
until_asked() {
  left="${ANSWER_WAIT:-10}"
  while [ "$(grep -cF -e "\"$1\"" "$SEEN")" -lt "$2" ] && [ "$left" -gt 0 ]; do
    sleep 1
    left=$((left - 1))
  done
}
{
  # 2: initialize
  printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"inspector","version":"0.1.0"}}}'
  sleep "${PAUSE:-1}"  # for the server to start
  # 4: notifications/initialized
  printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  # 6: tools/list
  printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
  # 9: tools/call echo
  printf '%s\n' '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi `there`"},"_meta":{"progressToken":2}}}'
  # 12: answer to sampling/createMessage
  until_asked sampling/createMessage 1
  printf '%s\n' '{"jsonrpc":"2.0","id":"s1","error":{"code":-1,"message":"User rejected sampling request"}}'
  # 18: tools/call echo
  printf '%s\n' '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{}}}'
  sleep "${WAIT:-2}"  # for the last responses
} | npx -y some-server | tee "$SEEN"
