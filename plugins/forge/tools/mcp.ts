import { z } from 'zod'
import type { Context } from '#kernel'
import { EventSplitter, eventData } from '#kit'
import { StepFault } from '../steps/fault.ts'
import { opened, reached, textOf, tooLong } from '../steps/http.ts'
import { parsed, type Value } from '../workflows/value.ts'

/** A server that offers tools by the Model Context Protocol over HTTP. */
interface Server {
  readonly fetch: Context<unknown>['fetch']
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Bytes of an answer. */
  readonly mostBytes: number
  /** Of the gateway, for the server to know who asks. */
  readonly version: string
}

const newestProtocol = '2025-06-18'
/** Milliseconds that the end of a session may take, for which nobody waits. */
const endMs = 5000

const answer = z.object({
  id: z.int(),
  result: z.unknown().optional(),
  error: z.object({ code: z.int() }).optional(),
})
const welcome = z.object({ protocolVersion: z.string().regex(/^[\w.-]{1,40}$/) })
const used = z.object({
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
})

/**
 * Uses a tool of a server, in a session of its own. The output is the structured content of the result, without one its texts; other
 * content is left out. Throws a `StepFault`.
 */
export async function useMcpTool(server: Server, name: string, args: Value): Promise<Value> {
  const clientInfo = { name: 'switchyard', version: server.version }
  const said = { protocolVersion: newestProtocol, capabilities: {}, clientInfo }
  const { result, session } = await ask(server, 1, 'initialize', said)
  const { protocolVersion } = checked(welcome, result)
  const headers = {
    ...server.headers,
    'mcp-protocol-version': protocolVersion,
    ...(session !== null && { 'mcp-session-id': session }),
  }
  const within = { ...server, headers }
  try {
    await send(within, { method: 'notifications/initialized' }).then(({ body }) => body?.cancel())
    const { result: came } = await ask(within, 2, 'tools/call', { name, arguments: args })
    return outputOf(checked(used, came))
  } finally {
    if (session !== null) void end(within)
  }
}

function outputOf({ content, structuredContent, isError }: z.infer<typeof used>): Value {
  if (isError) throw new StepFault('tool_failed', 'The tool says that it failed.')
  if (structuredContent !== undefined) return structuredContent as Value
  return content.flatMap(({ type, text }) => (type === 'text' ? (text ?? []) : [])).join('\n')
}

async function ask(server: Server, id: number, method: string, params: object) {
  const response = await send(server, { id, method, params })
  const { signal, mostBytes } = server
  const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
  const message = await reached(
    async () =>
      isStream
        ? await answerAmong(response.body, id, mostBytes)
        : answerTo(id, await textOf(response.body, mostBytes)),
    signal,
  )
  if (!message) throw noAnswer()
  if (message.error)
    throw new StepFault('tool_failed', `The server answered with the error ${message.error.code}.`)
  return { result: message.result, session: response.headers.get('mcp-session-id') }
}

const send = ({ fetch, url, headers, signal }: Server, message: object): Promise<Response> =>
  opened(
    fetch,
    {
      url,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    },
    signal,
  )

/** A server that is not told, or does not know what this means, forgets the session by itself. */
async function end({ fetch, url, headers }: Server): Promise<void> {
  try {
    const response = await fetch(url, { method: 'DELETE', headers, signal: AbortSignal.timeout(endMs) })
    await response.body?.cancel()
  } catch {}
}

/** The answer in a stream of events, which may tell of other things before; what comes after is not read. */
async function answerAmong(body: AsyncIterable<Uint8Array> | null, id: number, most: number) {
  const splitter = new EventSplitter(most)
  let size = 0
  for await (const part of body ?? []) {
    size += part.length
    if (size > most) throw tooLong(most)
    for (const event of splitter.push(Buffer.from(part))) {
      const found = answerTo(id, eventData(event))
      if (found) return found
    }
  }
  const rest = splitter.end()
  return rest && answerTo(id, eventData(rest))
}

/** The answer of a message; undefined for one that is about something else. */
function answerTo(id: number, text: string): z.infer<typeof answer> | undefined {
  const { data } = answer.safeParse(text === '' ? undefined : parsed(text))
  return data?.id === id ? data : undefined
}

function checked<T>(schema: z.ZodType<T>, result: unknown): T {
  const { data } = schema.safeParse(result)
  if (data === undefined) throw noAnswer()
  return data
}

const noAnswer = () =>
  new StepFault('output_invalid', 'The server did not answer as the protocol says.', { mayPass: true })
