import { ChatAnthropic } from '@langchain/anthropic'
import { type AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { providers } from '../conformance/providers/index.ts'
import type { TestProvider } from '../conformance/providers/provider.ts'
import { startStand } from '../conformance/stand.ts'
import { shared } from '../shared.ts'

/** LangChain's chat models as judges. */

const stand = shared(() => startStand(providers))
beforeEach(() => stand.reset())

const weather = tool(({ city }) => `20 degrees in ${city}`, {
  name: 'weather',
  description: 'The weather in a city',
  schema: z.object({ city: z.string() }),
})

const nameOf = ({ name, models }: TestProvider): string => `${name}/${models.chat}`

const wires = {
  chat: (provider: TestProvider) =>
    new ChatOpenAI({
      model: nameOf(provider),
      apiKey: stand.key,
      maxRetries: 0,
      configuration: { baseURL: `${stand.gateway.url}/v1` },
    }),
  responses: (provider: TestProvider) =>
    new ChatOpenAI({
      model: nameOf(provider),
      apiKey: stand.key,
      maxRetries: 0,
      useResponsesApi: true,
      configuration: { baseURL: `${stand.gateway.url}/v1` },
    }),
  messages: (provider: TestProvider) =>
    new ChatAnthropic({
      model: nameOf(provider),
      apiKey: stand.key,
      maxRetries: 0,
      maxTokens: 500,
      anthropicApiUrl: stand.gateway.url,
    }),
}

const ways = (['chat', 'responses', 'messages'] as const).flatMap((wire) =>
  providers.map((provider) => ({ wire, provider, name: `on ${wire} to ${provider.name}` })),
)

describe.each(ways)('$name', ({ wire, provider }) => {
  const upstream = () => stand.upstream(provider)
  const model = () => wires[wire](provider)
  const usage = provider.usage({ input: 50, output: 9, cached: 0 })

  test('answers and counts tokens', async () => {
    upstream().reply({ content: 'Hello!', usage })
    const answer = await model().invoke('hi')
    expect(answer.text).toBe('Hello!')
    expect(answer.usage_metadata).toMatchObject({ input_tokens: 50, output_tokens: 9 })
  })

  test('streams and counts tokens', async () => {
    upstream().reply({ content: ['Hel', 'lo', '!'], usage })
    let whole: AIMessageChunk | undefined
    for await (const chunk of await model().stream('hi')) whole = whole ? whole.concat(chunk) : chunk
    expect(whole?.text).toBe('Hello!')
    // LangChain adds what a message of Claude's began with to what it ended with.
    const counts = [{ output_tokens: 9 }, { output_tokens: 10 }].map((some) => expect.objectContaining(some))
    expect(counts).toContainEqual(whole?.usage_metadata)
  })

  test.each(['plain', 'streamed'])('calls two tools and goes on with their results: %s', async (how) => {
    const cities = ['Bern', 'Genève']
    upstream().reply({ toolCalls: cities.map((city) => ({ name: 'weather', arguments: { city } })) })
    upstream().reply({ content: 'Both warm.' })
    const bound = model().bindTools([weather])
    const question = new HumanMessage('How is it?')
    let asked: AIMessageChunk | undefined
    if (how === 'plain') asked = await bound.invoke([question])
    else for await (const chunk of await bound.stream([question])) asked = asked ? asked.concat(chunk) : chunk
    const calls = asked?.tool_calls ?? []
    expect(calls.map(({ args }) => args)).toEqual(cities.map((city) => ({ city })))
    const results: ToolMessage[] = []
    for (const call of calls)
      results.push((await weather.invoke({ ...call, type: 'tool_call' })) as ToolMessage)
    expect(results.every((result) => ToolMessage.isInstance(result))).toBe(true)
    const told = await bound.invoke([question, asked!, ...results])
    expect(told.text).toBe('Both warm.')
    expect(upstream().last().rawBody).toContain('20 degrees in Genève')
  })

  test('gets an object of a schema', async () => {
    const schema = z.object({ verdict: z.enum(['yes', 'no']) })
    const byTool = { toolCalls: [{ name: 'verdict', arguments: { verdict: 'yes' } }] }
    upstream().reply(wire !== 'messages' ? { content: '{"verdict":"yes"}' } : byTool)
    const structured = model().withStructuredOutput(schema, { name: 'verdict' })
    expect(await structured.invoke('Is it?')).toEqual({ verdict: 'yes' })
  })

  test('gets errors with their status', async () => {
    upstream().reply({ status: 429, error: { message: 'Slow down.' } })
    await expect(model().invoke('hi')).rejects.toMatchObject({ status: 429 })
  })
})
