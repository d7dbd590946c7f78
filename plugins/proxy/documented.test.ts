import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EventSplitter } from '../../kit/streams/sse.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

type Schema = Record<string, unknown>
interface Answers {
  readonly [status: string]: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

let upstream: Upstream
let gateway: TestGateway
let paths: Record<string, Record<string, { readonly responses: Answers }>>
let errorBody: Schema

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  const { body } = await gateway.api('GET', '/api/openapi.json')
  paths = body.paths
  errorBody = body.components.schemas.Error
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const ajv = new Ajv2020({ strict: false })
const problems = (schema: Schema, value: unknown): unknown =>
  ajv.validate('$ref' in schema ? errorBody : schema, value) ? [] : ajv.errors

/** What is documented of an answer with this status and type. */
function documented(method: string, path: string, status: number, type = 'application/json'): Schema {
  const answers = paths[path]![method]!.responses
  expect(Object.keys(answers), `${method} ${path}`).toContain(String(status))
  return answers[status]!.content[type]!.schema
}

interface Event {
  readonly event: string
  readonly data: string
  readonly id?: string
}

function parsed(text: string): Event {
  const fields = text
    .split('\n')
    .map((line) => /^(\w+): ?(.*)$/.exec(line)?.slice(1))
    .filter((field) => field !== undefined)
  return { event: 'message', ...Object.fromEntries(fields) } as Event
}

const eventsIn = (bytes: Buffer): Event[] =>
  new EventSplitter().push(bytes).map((event) => parsed(event.toString()))

/** The kinds of events that are documented, each with a schema for the text and one for the JSON in it. */
interface Kind {
  readonly properties: { readonly data: { readonly contentSchema?: Schema } }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether an event is of some kind that is documented. */
function isDocumented(schema: Schema, event: Event): boolean {
  return (schema.anyOf as (Kind & Schema)[]).some((kind) => {
    const { contentSchema } = kind.properties.data
    if (!ajv.validate(kind, event)) return false
    return contentSchema === undefined || ajv.validate(contentSchema, jsonIn(event.data))
  })
}

const question = [{ role: 'user', content: 'Hello' }]
const bodies: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { model: 'gpt-4o-mini', messages: question },
  '/v1/completions': { model: 'gpt-3.5-turbo-instruct', prompt: 'Hello' },
  '/v1/messages': { model: 'gpt-4o-mini', max_tokens: 100, messages: question },
  '/v1/responses': { model: 'gpt-4o-mini', input: 'Hello' },
}

const post = (path: string, body: unknown, key = gateway.adminKey) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe.each(Object.entries(bodies))('%s', (path, body) => {
  test('answers in its documented shape', async () => {
    const response = await post(path, body)
    expect(response.status).toBe(200)
    expect(problems(documented('post', path, 200), await response.json())).toEqual([])
  })

  test('streams the events that are documented, and no others', async () => {
    const response = await post(path, { ...body, stream: true })
    const schema = documented('post', path, 200, 'text/event-stream')
    const events = eventsIn(Buffer.from(await response.arrayBuffer()))
    expect(events.length).toBeGreaterThan(2)
    expect(events.filter((event) => !isDocumented(schema, event))).toEqual([])
    expect(isDocumented(schema, { event: 'message', data: '{"made":"up"}' })).toBe(false)
  })

  test('fails on the way with an event that is documented', async () => {
    upstream.reply({ content: 'Never to its end', cutAfter: 3 })
    const response = await post(path, { ...body, stream: true })
    const schema = documented('post', path, 200, 'text/event-stream')
    const events = eventsIn(Buffer.from(await response.arrayBuffer()))
    expect(events.at(-1)!.data).toContain('error')
    expect(events.filter((event) => !isDocumented(schema, event))).toEqual([])
    upstream.reset()
  })

  test('refuses in its documented shapes', async () => {
    const refused = [
      await post(path, body, 'sy_live_nobody'),
      await post(path, {}),
      await post(path, { ...body, model: 'no-such-model' }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([401, 400, 404])
    for (const response of refused) {
      expect(problems(documented('post', path, response.status), await response.json())).toEqual([])
    }
  })
})

test('the live view sends the events that are documented', async () => {
  const left = new AbortController()
  const response = await fetch(`${gateway.url}/api/observe/live`, {
    headers: { authorization: `Bearer ${gateway.adminKey}` },
    signal: left.signal,
  })
  const events: Event[] = []
  const splitter = new EventSplitter()
  const read = async (): Promise<void> => {
    for await (const bytes of response.body!)
      events.push(...splitter.push(Buffer.from(bytes)).map((event) => parsed(event.toString())))
  }
  const over = read().catch(() => {})
  await post('/v1/chat/completions', { ...bodies['/v1/chat/completions'], stream: true })
  await gateway.module('mockllm', { enabled: true })
  await gateway.module('secretscan', { enabled: true })
  const secret = [{ role: 'user', content: 'Deploy with AKIAIOSFODNN7EXAMPLE please' }]
  await post('/v1/chat/completions', { ...bodies['/v1/chat/completions'], messages: secret })
  await gateway.module('secretscan', { enabled: false })
  const schema = documented('get', '/api/observe/live', 200, 'text/event-stream')
  const kinds = (schema.anyOf as { properties: { event: { const: string } } }[]).map(
    ({ properties }) => properties.event.const,
  )
  await expect.poll(() => new Set(events.map(({ event }) => event))).toEqual(new Set(kinds))
  expect(events.filter((event) => !isDocumented(schema, event))).toEqual([])
  left.abort()
  await over
})
