import fc from 'fast-check'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Schemas } from '#kit'
import { ask as askGateway, textOf } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import { extract } from './extract.ts'
import { Validators } from './validator.ts'

let upstream: Upstream
let gateway: TestGateway
let client: OpenAI

const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
  required: ['name', 'age'],
  additionalProperties: false,
}

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    upstream,
    config: { modules: { structuredshield: { config: { schemas: { person } } } } },
  })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: (await gateway.signUp()).key, maxRetries: 0 })
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

/** A schema of so many persons. */
const largeOf = (persons: number) => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: persons }, (_, n) => [`p${n}`, person])),
  additionalProperties: false,
})

const messages = [{ role: 'user' as const, content: 'Who?' }]
const good = '{"name":"Ada","age":36}'

async function ask(stream: boolean, header: string, model = 'gpt-4o-mini'): Promise<string> {
  const options = { headers: { 'x-schema': header } }
  if (!stream) {
    const answer = await client.chat.completions.create({ model, messages }, options)
    return answer.choices[0]!.message.content!
  }
  const answer = await client.chat.completions.stream({ model, messages }, options).finalChatCompletion()
  return answer.choices[0]!.message.content!
}

/** The answer to a question that asks for a person. */
async function choiceOf(stream: boolean, model: string) {
  const json_schema = { name: 'person', schema: person }
  const request = { model, messages, response_format: { type: 'json_schema' as const, json_schema } }
  const { body } = await askGateway(gateway, { body: { ...request, stream } })
  return (body.choices as unknown[])[0]
}

/** A model that its provider cannot hold to a schema. */
const told = 'gpt-3.5-turbo'

describe.each([false, true])('stream: %s', (stream) => {
  test.each([
    ['as it should be', good],
    ['in a code fence', `\`\`\`json\n${good}\n\`\`\``],
    ['in prose', `Here you are: ${good}. Anything else?`],
    ['with trailing commas and bare names', '{name: "Ada", age: 36,}'],
    ['with the wrong types', '{"name":"Ada","age":"36"}'],
    ['cut off at the end', '{"name":"Ada","age":36'],
  ])('an answer %s comes out valid', async (_, content) => {
    upstream.reply({ content })
    expect(JSON.parse(await ask(stream, 'person', told))).toEqual({ name: 'Ada', age: 36 })
    expect(upstream.requests).toHaveLength(1)
  })

  test.each([
    ['ends before a value', '{"name":"Ada","age":'],
    ['ends in a value', '{"age":36,"name":"Ad'],
    ['has a value that is none', '{"name":"Ada","age":null}'],
  ])('an answer that %s is asked for again: no value is made up', async (_, content) => {
    upstream.reply({ content })
    upstream.reply({ content: good })
    expect(JSON.parse(await ask(stream, 'person', told))).toEqual({ name: 'Ada', age: 36 })
    expect(upstream.requests).toHaveLength(2)
  })

  test.each([told, 'gpt-4o-mini'])('%s is held to a large schema, too', async (model) => {
    const schema = largeOf(40)
    const response_format = { type: 'json_schema' as const, json_schema: { name: 'people', schema } }
    const about = async (content: string) => {
      for (let n = 0; n < 3; n += 1) upstream.reply({ content })
      const { body } = await askGateway(gateway, { body: { model, messages, response_format, stream } })
      return JSON.stringify(body)
    }
    expect(await about('{"p39":{"name":"Ada","age":36}}')).toContain('Ada')
    upstream.reset()
    const wrong = await about('{"p39":{"name":"Ada"}}')
    expect(wrong).toContain('provider_error')
  })

  test.each([told, 'gpt-4o-mini'])('what %s was cut off in is passed on as it was', async (model) => {
    const content = '{"name":"Ada","age":'
    upstream.reply({ content, finishReason: 'length' })
    expect(await choiceOf(stream, model)).toMatchObject({ finish_reason: 'length', message: { content } })
    expect(upstream.requests).toHaveLength(1)
  })

  test.each([
    [
      'in its own field',
      { refusal: 'I will not.' },
      { finish_reason: 'stop', message: { refusal: 'I will not.' } },
    ],
    [
      'by a filter',
      { content: 'I was', finishReason: 'content_filter' },
      { finish_reason: 'content_filter', message: { content: 'I was' } },
    ],
  ])('a refusal %s is the answer', async (_, script, expected) => {
    for (const model of [told, 'gpt-4o-mini']) {
      upstream.reset()
      upstream.reply(script)
      expect(await choiceOf(stream, model)).toMatchObject(expected)
      expect(upstream.requests).toHaveLength(1)
    }
  })

  test('what does not fit is asked for again, with the reason, and never reaches the client', async () => {
    upstream.reply({ content: '{"name":"Ada","age":-1}' })
    upstream.reply({ content: good })
    expect(JSON.parse(await ask(stream, 'person', told))).toEqual({ name: 'Ada', age: 36 })
    expect(upstream.last().rawBody).toContain('must be >= 0')
  })

  test('what never fits is refused, with the reasons', async () => {
    upstream.reply({ content: 'I cannot.', times: 3 })
    await expect(ask(stream, 'person', told)).rejects.toMatchObject({ status: 502, code: 'provider_error' })
    expect(upstream.requests).toHaveLength(3)
  })
})

describe('a stream of a model that is held to the schema', () => {
  const stream = true as const
  const response_format = { type: 'json_schema' as const, json_schema: { name: 'person', schema: person } }

  test.each([
    ['the header', {}, { headers: { 'x-schema': 'person' } }],
    ['the request', { response_format }, {}],
  ])('passes as it comes, whoever asked for it: %s', async (_, fields, options) => {
    upstream.reply({ content: ['{"name":', '"Ada",', '"age":', '36}'], hangAfter: 3 })
    const left = new AbortController()
    const request = { model: 'gpt-4o-mini', messages, stream, ...fields }
    const chunks = await client.chat.completions.create(request, { ...options, signal: left.signal })
    let text = ''
    for await (const chunk of chunks) {
      text += chunk.choices[0]?.delta.content ?? ''
      if (text === '{"name":"Ada",') break
    }
    left.abort()
    expect(text).toBe('{"name":"Ada",')
  })

  test('ends in an error where the whole does not fit', async () => {
    upstream.reply({ content: '{"name":"Ada"}' })
    let text = ''
    const read = async (): Promise<void> => {
      const request = { model: 'gpt-4o-mini', messages, stream, response_format }
      for await (const chunk of await client.chat.completions.create(request))
        text += chunk.choices[0]?.delta.content ?? ''
    }
    await expect(read()).rejects.toMatchObject({ code: 'provider_error' })
    expect(text).toBe('{"name":"Ada"}')
    expect(upstream.requests).toHaveLength(1)
  })

  test('that does not fit passes all the same where the settings say so', async () => {
    await gateway.module('structuredshield', { config: { on_failure: 'pass' } })
    upstream.reply({ content: '{"name":"Ada"}' })
    expect(await choiceOf(stream, 'gpt-4o-mini')).toMatchObject({ finish_reason: 'stop' })
    await gateway.module('structuredshield', { config: { on_failure: 'error' } })
  })
})

test('the schema comes as JSON, as base64url of it, or by its name', async () => {
  for (const header of [
    JSON.stringify(person),
    Buffer.from(JSON.stringify(person)).toString('base64url'),
    'person',
  ]) {
    upstream.reply({ content: good })
    expect(await ask(false, header)).toBe(good)
  }
  for (const header of ['nobody', '{"type": ', '[]']) {
    await expect(ask(false, header)).rejects.toMatchObject({ status: 400 })
  }
  await expect(ask(false, '{"type":"nonsense"}')).rejects.toMatchObject({ status: 400, param: 'schema' })
})

test('a model that takes schemas is given it, another one is told in words', async () => {
  upstream.reply({ content: good })
  await ask(false, 'person')
  expect(upstream.last().body).toMatchObject({
    response_format: { type: 'json_schema', json_schema: { schema: person } },
  })
  upstream.reply({ content: good })
  await ask(false, 'person', told)
  expect(upstream.last().body).not.toHaveProperty('response_format')
  expect(upstream.last().rawBody).toContain('JSON Schema')
})

test('a schema of the gateway is strict where the service would take it so', async () => {
  const strictOf = async (schema: object): Promise<unknown> => {
    upstream.reply({ content: good })
    await ask(false, JSON.stringify(schema))
    return upstream.last().body
  }
  const strict = { response_format: { json_schema: { strict: true } } }
  expect(
    await strictOf({ ...person, properties: { name: { type: 'string' }, age: { type: 'integer' } } }),
  ).toMatchObject(strict)
  for (const open of [{ ...person, additionalProperties: true }, { ...person, required: ['name'] }, person])
    expect(await strictOf(open)).not.toMatchObject(strict)
})

test('X-Schema outweighs what the request asks for, and the change is told', async () => {
  upstream.reply({ content: good })
  const { headers } = await askGateway(gateway, {
    headers: { 'x-schema': 'person' },
    body: { model: 'gpt-4o-mini', messages, response_format: { type: 'json_object' } },
  })
  expect(upstream.last().body).toMatchObject({ response_format: { json_schema: { schema: person } } })
  expect(headers.get('x-params-changed')).toBe('response_format')
})

test.each([
  ['as it is', (schema: string) => schema],
  ['with escapes', (schema: string) => schema.replaceAll('@', '\\u0040').replaceAll('Z', '\\u005a')],
  ['as base64url', (schema: string) => Buffer.from(schema).toString('base64url')],
])('guards see the schema of a header, %s', async (_, write) => {
  const rule = { name: 'code name', pattern: 'ZEBRA[0-9]{4}', action: 'redact' }
  const { body: made } = await gateway.api('POST', '/api/guardrails', rule)
  await gateway.module('maskmode', { enabled: true })
  const name = { type: 'string', description: 'like ada@example.com, of ZEBRA1234' }
  const schema = JSON.stringify({ ...person, properties: { ...person.properties, name } })
  upstream.reply({ content: good })
  const { status } = await askGateway(gateway, {
    headers: { 'x-schema': write(schema) },
    body: { model: 'gpt-4o-mini', messages },
  })
  await gateway.module('maskmode', { enabled: false })
  await gateway.api('DELETE', `/api/guardrails/${made.id}`)
  expect(status).toBe(200)
  expect(upstream.last().rawBody).toContain('"description":"like [EMAIL_')
  expect(upstream.last().rawBody).not.toMatch(/ada@example|ZEBRA1234/)
})

test('refusals and tool calls pass as they are', async () => {
  upstream.reply({ refusal: 'no' })
  const refusal = await client.chat.completions.create(
    { model: 'gpt-4o-mini', messages },
    { headers: { 'x-schema': 'person' } },
  )
  expect(refusal.choices[0]!.message.refusal).toBe('no')
})

test('calls of others are answered while a schema is read that takes too long', async () => {
  const response_format = {
    type: 'json_schema' as const,
    json_schema: { name: 'people', schema: largeOf(8_000) },
  }
  let isOver = false
  const refused = askGateway(gateway, { body: { model: told, messages, response_format } }).finally(() => {
    isOver = true
  })
  let answered = 0
  while (!isOver) {
    upstream.reply({ content: 'Hello' })
    expect((await askGateway(gateway, { body: { model: told, messages } })).status).toBe(200)
    answered += 1
  }
  expect((await refused).status).toBe(400)
  expect(answered).toBeGreaterThan(5)
})

test('a pattern that would backtrack for ever is matched in linear time', async () => {
  const validate = await new Validators(new Schemas()).get({ type: 'string', pattern: '^(a+)+$' })
  expect((await validate(`${'a'.repeat(50_000)}!`)).problems).toHaveLength(1)
  expect((await validate('aaa')).problems).toEqual([])
})

test('whatever value a model wraps in prose is found again', () => {
  const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()))
  fc.assert(
    fc.property(value, fc.constantFrom('', 'Sure: ', 'Well.\n\n'), (wanted, before) => {
      const clean = JSON.parse(JSON.stringify(wanted))
      expect(extract(before + JSON.stringify(wanted))).toEqual({ value: clean })
      expect(extract(`${before}\`\`\`json\n${JSON.stringify(wanted, null, 2)}\n\`\`\``)).toEqual({
        value: clean,
      })
    }),
  )
})

test('text of any kind never throws', () => {
  fc.assert(fc.property(fc.string(), (text) => void extract(text)))
})

describe('an answer with masked data', () => {
  const schema = {
    type: 'object',
    properties: { to: { type: 'string', format: 'email' }, age: { type: 'integer' } },
    required: ['to', 'age'],
  }
  beforeAll(() => gateway.module('maskmode', { enabled: true }))
  afterAll(() => gateway.module('maskmode', { enabled: false }))

  /** The model repeats the placeholder that it was sent, with this behind it. */
  const repeating = (rest: string): void => {
    let placeholder = ''
    upstream.reply(
      ({ rawBody }) => {
        placeholder = /\[EMAIL_\w+\]/.exec(rawBody)?.[0] ?? 'none'
        return true
      },
      {
        times: 3,
        get content() {
          return `{"to":"${placeholder}${rest}`
        },
      },
    )
  }
  const asked = (model: string, stream: boolean) =>
    askGateway(gateway, {
      body: {
        model,
        stream,
        messages: [{ role: 'user', content: 'Mail to ada@example.com' }],
        response_format: { type: 'json_schema', json_schema: { name: 'mail', schema } },
      },
    })

  test.each([
    [told, false],
    [told, true],
    ['gpt-4o-mini', false],
    ['gpt-4o-mini', true],
  ])('is judged by what the client gets, and leaves masked (%s, stream: %s)', async (model, stream) => {
    repeating('","age":36}')
    const { status, body } = await asked(model, stream)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(textOf(body)).toBe('{"to":"ada@example.com","age":36}')
    expect(upstream.requests).toHaveLength(1)
  })

  test('is repaired, and asked for again without the values', async () => {
    repeating('","age":"36",}')
    expect(textOf((await asked(told, false)).body)).toBe('{"to":"ada@example.com","age":36}')
    upstream.reset()
    repeating(' or so","age":36}')
    expect((await asked(told, false)).status).toBe(502)
    expect(upstream.requests).toHaveLength(3)
    for (const { rawBody } of upstream.requests) expect(rawBody).not.toContain('ada@example')
  })
})

test('brackets within brackets without an end are not repaired one by one', () => {
  expect(extract(`${'[{\n"a":'.repeat(60)}1`)?.value).toBeDefined()
  const took = (levels: number): number => {
    const began = performance.now()
    extract('{\n'.repeat(levels))
    return performance.now() - began
  }
  took(5000)
  expect(took(65_000)).toBeLessThan(60 * took(5000) + 1000)
})
