import type { Call, JsonObject, Message } from '#kernel'

/** The call, asking for the schema in the way its model understands. */
export function asking(call: Call, schema: JsonObject, native: boolean): Call {
  if (native) {
    if (call.request.response_format?.type === 'json_schema') return call
    return call.withRequest({
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    })
  }
  const instruction: Message = {
    role: 'system',
    content: `Answer with one JSON value and nothing else: no prose, no code fence. It must fit this JSON Schema:\n${JSON.stringify(schema)}`,
  }
  const messages = call.request.messages ?? []
  const head = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const at = head === -1 ? messages.length : head
  return call.withRequest({
    messages: [...messages.slice(0, at), instruction, ...messages.slice(at)],
    response_format: undefined,
  })
}

/** The call again, with the answer that did not fit and what was wrong with it. */
export function askingAgain(call: Call, answer: string, problems: readonly string[]): Call {
  return call.withRequest({
    messages: [
      ...(call.request.messages ?? []),
      { role: 'assistant', content: answer },
      {
        role: 'user',
        content: `That does not fit the schema:\n${problems.join('\n')}\nAnswer again with the corrected JSON value and nothing else.`,
      },
    ],
  })
}
