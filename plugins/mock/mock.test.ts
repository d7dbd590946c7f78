import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { ask } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startGateway()
  const { key } = await gateway.signUp('ada')
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 })
})

afterAll(() => gateway.close())

interface Trace {
  readonly provider_model: string
  readonly cost_usd: number | null
}

const messages = [{ role: 'user' as const, content: 'Hello' }]
const Person = z.object({
  name: z.string(),
  born: z.iso.date(),
  pets: z.array(z.enum(['cat', 'dog'])).min(1),
  age: z.int(),
})

test('without any key, structured output has the form that was asked for', async () => {
  for (const model of ['mock', 'gpt-4o-mini']) {
    const { choices } = await client.chat.completions.parse({
      model,
      messages,
      response_format: zodResponseFormat(Person, 'person'),
    })
    expect(choices[0]!.message.parsed).toEqual({ name: 'text', born: '2000-01-01', pets: ['cat'], age: 1 })
  }
})

test('without any key, calls cost nothing, whatever model they name, and no figure calls itself less than whole', async () => {
  const models = ['mock', 'gpt-4o-mini', 'mock/anything']
  for (const model of models) await client.chat.completions.create({ model, messages })
  const list = async () => (await gateway.api('GET', '/api/observe/traces?limit=50')).body.traces
  await expect.poll(async () => (await list()).length).toBeGreaterThanOrEqual(models.length)
  for (const { cost_usd, cost } of await list()) {
    expect(cost_usd).toBe(0)
    expect(cost).not.toHaveProperty('unpriced')
  }
  expect((await gateway.api('GET', '/api/observe/overview')).body).not.toHaveProperty('unpriced')
  expect((await gateway.api('GET', '/api/spend')).body).not.toHaveProperty('unpriced')
})

test('an operator’s price of the mock outweighs that it costs nothing', async () => {
  const prices = { 'mock/dear': { input_usd_per_m: 1_000, output_usd_per_m: 1_000 } }
  const priced = await startGateway({ config: { prices } })
  try {
    for (const model of ['mock/dear', 'mock/other']) {
      const { status } = await ask(priced, { body: { model, messages } })
      expect(status).toBe(200)
    }
    const list = async () => (await priced.api('GET', '/api/observe/traces')).body.traces
    await expect.poll(async () => (await list()).length).toBe(2)
    const costs = new Map((await list()).map((trace: Trace) => [trace.provider_model, trace.cost_usd]))
    expect(costs.get('dear')).toBeGreaterThan(0)
    expect(costs.get('other')).toBe(0)
  } finally {
    await priced.close()
  }
})

test('without any key, a tool that must be called is called, streamed as well', async () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const tools = ['time', 'weather'].map((name) => ({
    type: 'function' as const,
    function: { name, parameters },
  }))
  const { choices } = await client.chat.completions.create({
    model: 'mock',
    messages,
    tools,
    tool_choice: 'required',
  })
  expect(choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: { tool_calls: [{ function: { name: 'time', arguments: '{"city":"text"}' } }] },
  })
  const streamed = await client.chat.completions
    .stream({
      model: 'mock',
      messages,
      tools,
      tool_choice: { type: 'function', function: { name: 'weather' } },
    })
    .finalChatCompletion()
  expect(streamed.choices[0]!.message.tool_calls).toMatchObject([{ function: { name: 'weather' } }])
  const free = await client.chat.completions.create({ model: 'mock', messages, tools })
  expect(free.choices[0]!.message.content).toBe('Mock answer to: Hello')
})

test('as many choices are answered as are asked for, streamed as well', async () => {
  const asked = { model: 'mock', messages, n: 3 }
  const whole = await client.chat.completions.create(asked)
  expect(whole.choices.map(({ index, message }) => [index, message.content])).toEqual(
    [0, 1, 2].map((index) => [index, 'Mock answer to: Hello']),
  )
  const one = await client.chat.completions.create({ ...asked, n: 1 })
  expect(whole.usage!.completion_tokens).toBe(3 * one.usage!.completion_tokens)
  const streamed = await client.chat.completions.stream(asked).finalChatCompletion()
  expect(streamed.choices.map(({ message }) => message.content)).toEqual(
    Array(3).fill('Mock answer to: Hello'),
  )
  const legacy = await client.completions.create({ model: 'mock', prompt: 'Hello', n: 2 })
  expect(legacy.choices.map(({ index, text }) => [index, text])).toEqual([
    [0, 'Mock answer to: Hello'],
    [1, 'Mock answer to: Hello'],
  ])
  const tools = [{ type: 'function' as const, function: { name: 'time', parameters: { type: 'object' } } }]
  const calling = await client.chat.completions.create({ ...asked, tools, tool_choice: 'required' })
  expect(new Set(calling.choices.map(({ message }) => message.tool_calls![0]!.id)).size).toBe(3)
})
