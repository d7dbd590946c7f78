import type { TestProvider } from './providers/provider.ts'
import type { Stand } from './stand.ts'

/** Bodies as they go over a wire, for what no official client would send, or show of an answer. */

const paths = { chat: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' } as const

export type RawWire = keyof typeof paths

/** What a call brought, and what the service was sent for it. */
export interface Outcome {
  readonly status: number
  readonly text: string
  readonly changes: string
  readonly sent: string
}

/** Asks a provider of the stand; its model and what the wire insists on need not be said. */
export async function askRaw(
  stand: Stand,
  wire: RawWire,
  provider: TestProvider,
  body: object,
): Promise<Outcome> {
  const response = await fetch(stand.gateway.url + paths[wire], {
    method: 'POST',
    headers: { authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: `${provider.name}/${provider.models.chat}`,
      ...(wire === 'messages' && { max_tokens: 1000 }),
      ...(wire === 'responses' && { store: false }),
      ...body,
    }),
  })
  const { requests } = stand.upstream(provider)
  return {
    status: response.status,
    text: await response.text(),
    changes: response.headers.get('x-params-changed') ?? '',
    sent: requests.at(-1)?.rawBody ?? '',
  }
}

/** What every one of the tools takes. */
export const schema = { type: 'object', properties: { x: { type: 'string' } } }

/** The tools `look` and `go`, as the wires write them. */
export const tools = {
  chat: ['look', 'go'].map((name) => ({ type: 'function', function: { name, parameters: schema } })),
  messages: ['look', 'go'].map((name) => ({ name, input_schema: schema })),
  responses: ['look', 'go'].map((name) => ({ type: 'function', name, parameters: schema, strict: false })),
}

/** A call of a tool, as it stands in a message of the assistant’s in chat. */
export const call = (id: string, name: string, json: string) => ({
  id,
  type: 'function',
  function: { name, arguments: json },
})

/** A user's first turn, where the wire has its turns. */
export const saying = (wire: RawWire, content: string): object => {
  const said = [{ role: 'user', content }]
  return wire === 'responses' ? { input: said } : { messages: said }
}
