import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { z } from 'zod'
import type { Completion, CompletionChunk } from '../../kernel/canonical.ts'
import { Assembler } from '../../kernel/stream/assemble.ts'
import type { TestGateway } from '../harness.ts'
import type { Script, Upstream } from '../upstream/index.ts'

const object = z.record(z.string(), z.unknown())

/** What a module does, as data: settings, a call, and what the client and the provider then see. */
export const exampleSchema = z.strictObject({
  title: z.string().min(1),
  /** Settings of the module. */
  config: object,
  headers: z.record(z.string(), z.string()).default({}),
  path: z.string().default('/v1/chat/completions'),
  /**
   * Fields of the body; the model is `gpt-4o-mini` unless it says otherwise. `{mode}` in a text becomes `plain` or
   * `stream`, for modules that remember.
   */
  request: object,
  /** How the provider answers, one script a call that reaches it. */
  upstream: z.array(object).default([]),
  /** How often the call is made; what is expected holds for the last time. */
  times: z.int().min(1).default(1),
  /** Both, unless it only makes sense in one form. */
  modes: z.array(z.enum(['plain', 'stream'])).default(['plain', 'stream']),
  expect: z.strictObject({
    status: z.int().default(200),
    /** The answer's text, exactly. */
    text: z.string().optional(),
    /** Found in the provider's copy of the body. */
    sent: object.optional(),
    /** Found in the answer's body. */
    reply: object.optional(),
    error: object.optional(),
    headers: z.record(z.string(), z.string()).optional(),
    /** Found in the call's trace. */
    trace: object.optional(),
    /** Calls that reached the provider, all times together. */
    upstream_calls: z.int().optional(),
  }),
})

export type Example = z.infer<typeof exampleSchema>

/** The examples of a module. Every module has some: they are its proof, and presets for people. */
export async function readExamples(folder: string): Promise<Example[]> {
  return z
    .array(exampleSchema)
    .min(1)
    .parse(JSON.parse(await readFile(`${folder}/examples.json`, 'utf8')))
}

export type Mode = 'plain' | 'stream'

interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

/** Makes the example's calls and checks what it expects. Rejects when something is not so. */
export async function runExample(
  example: Example,
  mode: Mode,
  gateway: TestGateway,
  upstream: Upstream,
): Promise<void> {
  upstream.reset()
  for (const script of example.upstream) upstream.reply(cutEverywhere(script as Script, mode))
  let seen: Seen | undefined
  for (let n = 0; n < example.times; n += 1) seen = await call(example, mode, gateway)
  check(example.expect, seen!, upstream)
  if (example.expect.trace) {
    const id = seen!.headers.get('x-trace-id')
    const { body } = await gateway.api('GET', `/api/observe/traces/${id}`)
    expect(body).toMatchObject(example.expect.trace)
  }
}

/** Streams arrive byte by byte: a border at every place at once. */
function cutEverywhere(script: Script, mode: Mode): Script {
  return mode === 'stream' && (script.status ?? 200) < 400 ? { ...script, splitBytes: 1 } : script
}

async function call(example: Example, mode: Mode, gateway: TestGateway): Promise<Seen> {
  const response = await fetch(gateway.url + example.path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.adminKey}`,
      'content-type': 'application/json',
      ...example.headers,
    },
    body: bodyOf(example, mode),
  })
  const text = await response.text()
  const streamed = response.headers.get('content-type')?.includes('event-stream')
  return {
    status: response.status,
    headers: response.headers,
    body: streamed ? assembled(text) : JSON.parse(text),
  }
}

function bodyOf({ request }: Example, mode: Mode): string {
  const body = { model: 'gpt-4o-mini', ...request, ...(mode === 'stream' && { stream: true }) }
  return JSON.stringify(body).replaceAll('{mode}', mode)
}

/** The whole answer of a stream, or its error. */
function assembled(text: string): Record<string, unknown> {
  const assembler = new Assembler()
  for (const event of text.split('\n\n')) {
    const data = event.replace(/^data: /, '')
    if (data === '' || data === '[DONE]') continue
    const parsed = JSON.parse(data) as CompletionChunk & { error?: unknown }
    if (parsed.error) return parsed
    assembler.add(parsed)
  }
  return assembler.completion()
}

function check(wanted: Example['expect'], { status, headers, body }: Seen, upstream: Upstream): void {
  expect({ status, error: body.error }).toMatchObject({
    status: wanted.status,
    ...(wanted.status < 400 && !wanted.error ? { error: undefined } : {}),
  })
  if (wanted.error) expect(body.error).toMatchObject(wanted.error)
  if (wanted.text !== undefined) expect(textOf(body as Completion)).toBe(wanted.text)
  if (wanted.reply) expect(body).toMatchObject(wanted.reply)
  if (wanted.sent) expect(upstream.last().body).toMatchObject(wanted.sent)
  if (wanted.upstream_calls !== undefined) expect(upstream.requests).toHaveLength(wanted.upstream_calls)
  for (const [name, value] of Object.entries(wanted.headers ?? {})) expect(headers.get(name)).toBe(value)
}

function textOf({ choices }: Completion): string | undefined {
  const choice = choices?.[0]
  const content = choice?.text ?? choice?.message?.content
  return typeof content === 'string' ? content : undefined
}
