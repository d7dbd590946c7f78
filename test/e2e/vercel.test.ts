import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, isStepCount, type LanguageModel, Output, streamText, tool } from 'ai'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { providers } from '../conformance/providers/index.ts'
import type { TestProvider } from '../conformance/providers/provider.ts'
import { startStand } from '../conformance/stand.ts'
import { shared } from '../shared.ts'

/** The AI SDK as a judge: it drives tool loops itself, and reads streams part by part. */

const stand = shared(() => startStand(providers))
let models: Readonly<Record<string, (provider: TestProvider) => LanguageModel>>

beforeAll(() => {
  const { key } = stand
  const baseURL = `${stand.gateway.url}/v1`
  const chat = createOpenAICompatible({
    name: 'gateway',
    baseURL,
    apiKey: key,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })
  const messages = createAnthropic({ baseURL, apiKey: key })
  const nameOf = ({ name, models }: TestProvider): string => `${name}/${models.chat}`
  models = { chat: (provider) => chat(nameOf(provider)), messages: (provider) => messages(nameOf(provider)) }
})

beforeEach(() => stand.reset())

const weather = tool({
  description: 'The weather in a city',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, degrees: 20 }),
})

const ways = ['chat', 'messages'].flatMap((wire) =>
  providers.map((provider) => ({ wire, provider, name: `on ${wire} to ${provider.name}` })),
)

describe.each(ways)('$name', ({ wire, provider }) => {
  const upstream = () => stand.upstream(provider)
  const common = () => ({ model: models[wire]!(provider), maxRetries: 0, maxOutputTokens: 500 })

  test('generates text and counts tokens', async () => {
    upstream().reply({ content: 'Hello!', usage: provider.usage({ input: 50, output: 9, cached: 0 }) })
    const { text, usage, finishReason } = await generateText({ ...common(), prompt: 'hi' })
    expect(text).toBe('Hello!')
    expect(finishReason).toBe('stop')
    expect(usage).toMatchObject({ inputTokens: 50, outputTokens: 9 })
  })

  test('streams text and counts tokens', async () => {
    upstream().reply({
      content: ['Hel', 'lo', '!'],
      usage: provider.usage({ input: 50, output: 9, cached: 0 }),
    })
    const result = streamText({ ...common(), prompt: 'hi' })
    const pieces: string[] = []
    for await (const piece of result.textStream) pieces.push(piece)
    expect(pieces.join('')).toBe('Hello!')
    expect(pieces.length).toBeGreaterThan(1)
    expect(await result.finishReason).toBe('stop')
    expect(await result.usage).toMatchObject({ inputTokens: 50, outputTokens: 9 })
  })

  test.each(['plain', 'streamed'])('runs a loop of tools, two at a time: %s', async (how) => {
    const cities = ['Bern', 'Genève']
    upstream().reply({ toolCalls: cities.map((city) => ({ name: 'weather', arguments: { city } })) })
    upstream().reply({ toolCalls: [{ name: 'weather', arguments: { city: 'Lugano' } }] })
    upstream().reply({ content: 'All warm.' })
    const options = { ...common(), prompt: 'How is it?', tools: { weather }, stopWhen: isStepCount(5) }
    const result = how === 'plain' ? await generateText(options) : streamText(options)
    expect(await result.text).toBe('All warm.')
    const steps = await result.steps
    expect(steps.map(({ toolResults }) => toolResults.map(({ output }) => output))).toEqual([
      cities.map((city) => ({ city, degrees: 20 })),
      [{ city: 'Lugano', degrees: 20 }],
      [],
    ])
    expect(upstream().requests).toHaveLength(3)
  })

  test('gets an object of a schema', async () => {
    upstream().reply({ content: '{"verdict":"yes"}' })
    const output = Output.object({ schema: z.object({ verdict: z.enum(['yes', 'no']) }) })
    const result = await generateText({ ...common(), prompt: 'Is it?', output })
    expect(result.output).toEqual({ verdict: 'yes' })
  })

  test('gets errors with their status and message', async () => {
    upstream().reply({ status: 429, error: { message: 'Slow down.' }, retryAfter: 3 })
    const thrown = await generateText({ ...common(), prompt: 'hi' }).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(APICallError)
    expect(thrown).toMatchObject({
      statusCode: 429,
      isRetryable: true,
      message: expect.stringContaining('Slow down.'),
    })
  })
})
