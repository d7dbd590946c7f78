import fc from 'fast-check'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
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
    expect(JSON.parse(await ask(stream, 'person'))).toEqual({ name: 'Ada', age: 36 })
    expect(upstream.requests).toHaveLength(1)
  })

  test('what does not fit is asked for again, with the reason, and never reaches the client', async () => {
    upstream.reply({ content: '{"name":"Ada","age":-1}' })
    upstream.reply({ content: good })
    expect(JSON.parse(await ask(stream, 'person'))).toEqual({ name: 'Ada', age: 36 })
    expect(upstream.last().rawBody).toContain('must be >= 0')
  })

  test('what never fits is refused, with the reasons', async () => {
    upstream.reply({ content: 'I cannot.', times: 3 })
    await expect(ask(stream, 'person')).rejects.toMatchObject({ status: 502, code: 'provider_error' })
    expect(upstream.requests).toHaveLength(3)
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
  await ask(false, 'person', 'gpt-3.5-turbo')
  expect(upstream.last().body).not.toHaveProperty('response_format')
  expect(upstream.last().rawBody).toContain('JSON Schema')
})

test('refusals and tool calls pass as they are', async () => {
  upstream.reply({ refusal: 'no' })
  const refusal = await client.chat.completions.create(
    { model: 'gpt-4o-mini', messages },
    { headers: { 'x-schema': 'person' } },
  )
  expect(refusal.choices[0]!.message.refusal).toBe('no')
})

test('a pattern that would backtrack for ever is matched in linear time', () => {
  const validate = new Validators().get({ type: 'string', pattern: '^(a+)+$' })
  expect(validate(`${'a'.repeat(50_000)}!`).problems).toHaveLength(1)
  expect(validate('aaa').problems).toEqual([])
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
