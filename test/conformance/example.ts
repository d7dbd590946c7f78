import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type Answer, ask, textOf } from '../ask.ts'
import type { TestGateway } from '../harness.ts'
import type { Script, Upstream } from '../upstream/index.ts'
import { differences } from './differences.ts'

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
  /** Whether these calls are made at the same time; the answer of the last one is looked at. */
  at_once: z.boolean().default(false),
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

/** What the author of a module without examples is told. */
const noExamples =
  'there is no such file. Write one with a list of calls and what the module makes of each, such as ' +
  '[{"title": "…", "config": {}, "request": {"messages": [{"role": "user", "content": "…"}]}, ' +
  '"upstream": [{"content": "…"}], "expect": {"text": "…"}}]; expect may have status, text, sent, reply, error and headers'

/** The examples of a module. Every module has some: they are its proof, and presets for people. */
export async function readExamples(folder: string): Promise<Example[]> {
  const text = await readFile(`${folder}/examples.json`, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(noExamples) : error
  })
  return z.array(exampleSchema).min(1).parse(JSON.parse(text))
}

export type Mode = 'plain' | 'stream'

/** Makes the example's calls and checks what it expects. Rejects when something is not so. */
export async function runExample(
  example: Example,
  mode: Mode,
  gateway: TestGateway,
  upstream: Upstream,
): Promise<void> {
  // Streams arrive byte by byte: a border at every place at once.
  const answers = await makeCalls(example, upstream, mode === 'stream' ? 1 : undefined, () =>
    call(example, mode, gateway),
  )
  const seen = answers.at(-1)!
  const wrong = departures(example.expect, seen, upstream)
  if (example.expect.trace) {
    const trace = await traceOf(seen, gateway)
    wrong.push(...differences(example.expect.trace, trace, 'trace'))
  }
  if (wrong.length > 0) throw new Error(wrong.join('; '))
}

/** The trace of a call: it is written when the call is over, a moment after the answer is. */
async function traceOf({ headers }: Answer, gateway: TestGateway): Promise<unknown> {
  for (let left = 40; ; left -= 1) {
    const { status, body } = await gateway.api('GET', `/api/observe/traces/${headers.get('x-trace-id')}`)
    if (status === 200 || left === 0) return body
    await sleep(50)
  }
}

/**
 * Makes an example's calls one after the other or at once, and resolves with what each came to. The provider cuts the stream of
 * the last one every `cut` bytes, if that is given: those before it only lead up to it.
 */
export async function makeCalls<T>(
  { upstream: scripts, times, at_once }: Example,
  upstream: Upstream,
  cut: number | undefined,
  call: () => Promise<T>,
): Promise<T[]> {
  upstream.reset()
  let isLast = at_once
  for (const script of scripts as Script[]) {
    const isCut = cut !== undefined && (script.status ?? 200) < 400
    upstream.reply(
      isCall,
      isCut
        ? {
            ...script,
            get splitBytes() {
              return isLast ? cut : []
            },
          }
        : script,
    )
  }
  if (at_once) return Promise.all(Array.from({ length: times }, call))
  const made: T[] = []
  for (let left = times; left > 0; left -= 1) {
    isLast = left === 1
    made.push(await call())
  }
  return made
}

const call = (example: Example, mode: Mode, gateway: TestGateway): Promise<Answer> =>
  ask(gateway, { path: example.path, headers: example.headers, body: bodyOf(example, mode) })

/** Whether it came of a call, and not of the gateway, which looks at its providers now and then. */
const isCall = ({ method }: Upstream['requests'][number]): boolean => method === 'POST'

/** What came of calls. */
export const callsTo = ({ requests }: Upstream): Upstream['requests'] => requests.filter(isCall)

/** The body of an example's calls; `name` stands for `{mode}`, when the mode alone does not tell these calls from others. */
export function bodyOf({ request }: Example, mode: Mode, name: string = mode): string {
  const body = { model: 'gpt-4o-mini', ...request, ...(mode === 'stream' && { stream: true }) }
  return JSON.stringify(body).replaceAll('{mode}', name)
}

function departures(
  wanted: Example['expect'],
  { status, headers, body }: Answer,
  upstream: Upstream,
): string[] {
  const { text, reply, sent, error, upstream_calls: calls } = wanted
  const received = callsTo(upstream)
  return [
    ...differences(wanted.status, status, 'status'),
    ...(error || wanted.status < 400 ? differences(error, body.error, 'error') : []),
    ...(text === undefined ? [] : differences(text, textOf(body), 'text')),
    ...(reply ? differences(reply, body, 'reply') : []),
    ...(sent ? differences(sent, received.at(-1)?.body, 'sent') : []),
    ...(calls === undefined ? [] : differences(calls, received.length, 'upstream_calls')),
    ...Object.entries(wanted.headers ?? {}).flatMap(([name, value]) =>
      differences(value, headers.get(name), `headers.${name}`),
    ),
  ]
}
