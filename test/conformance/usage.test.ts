import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shared } from '../shared.ts'
import { runs } from '../suite/runs.ts'
import { anthropic } from './providers/anthropic.ts'
import { providers } from './providers/index.ts'
import { likeOpenai } from './providers/openai.ts'
import type { Counts, TestProvider } from './providers/provider.ts'
import { startStand } from './stand.ts'
import { wires } from './wires/index.ts'

/** What a call used is one figure: the client is told it on every wire, the trace has it, and it is billed. */

const compatible = (name: string, usage: TestProvider['usage'], rest: Partial<TestProvider> = {}) =>
  ({
    ...likeOpenai,
    name,
    operations: ['chat'],
    models: { chat: `${name}-model` },
    usage,
    ...rest,
  }) as TestProvider

/** Those who count in their own way what others report as OpenAI does. */
const peculiar: readonly TestProvider[] = [
  compatible('xai', ({ input, output, cached, reasoning = 0 }) => ({
    prompt_tokens: input,
    completion_tokens: output - reasoning,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  })),
  compatible('deepseek', ({ input, output, cached, reasoning = 0 }) => ({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_cache_hit_tokens: cached,
    prompt_cache_miss_tokens: input - cached,
    completion_tokens_details: { reasoning_tokens: reasoning },
  })),
  compatible(
    'moonshot',
    ({ input, output, cached }) => ({
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      ...(cached > 0 && { cached_tokens: cached }),
    }),
    { tellsReasoning: false },
  ),
]

const all = [...providers, ...peculiar]
const stand = shared(() => startStand(all))

const counts: fc.Arbitrary<Required<Counts>> = fc
  .record({ input: fc.nat(9999), output: fc.integer({ min: 1, max: 9999 }), parts: fc.tuple(part(), part()) })
  .map(({ input, output, parts: [cached, reasoning] }) => ({
    input,
    output,
    cached: Math.floor(input * cached),
    reasoning: Math.floor(output * reasoning),
  }))

function part(): fc.Arbitrary<number> {
  return fc.constantFrom(0, 0.01, 0.5, 1)
}

const rows = wires.flatMap((wire) =>
  all
    .filter(({ operations }) => operations.includes(wire.operation))
    .map((provider) => ({ wire, provider, name: `${wire.id} to ${provider.name}` })),
)

describe.each(rows)('$name', ({ wire, provider }) => {
  test('client, trace and bill agree', async () => {
    const { gateway } = stand
    const { key } = await gateway.signUp(`${wire.id}.${provider.name}`)
    const cell = stand.cell(wire, provider, undefined, key)
    const billed = { requests: 0, tokens_in: 0, tokens_out: 0 }
    const ask = async (used: Required<Counts>, stream: boolean): Promise<void> => {
      cell.upstream.reply({ content: 'counted', usage: provider.usage(used) })
      const answer = await cell.ask({ stream })
      const told = {
        input: used.input,
        output: used.output,
        cached: provider.departures?.['cached usage'] || wire.operation === 'completion' ? 0 : used.cached,
        reasoning: provider.tellsReasoning && wire.operation === 'chat' ? used.reasoning : 0,
      }
      expect(answer.usage).toEqual(told)
      const { usage } = await cell.trace(answer.headers)
      expect(usage).toMatchObject({ input: used.input, output: used.output, source: 'provider' })
      if (wire.operation === 'chat')
        expect(usage).toMatchObject({ cached_read: told.cached, reasoning: told.reasoning })
      billed.requests += 1
      billed.tokens_in += told.input
      billed.tokens_out += told.output
    }
    await fc.assert(fc.asyncProperty(counts, fc.boolean(), ask), { ...runs(6), endOnFailure: true })
    await expect
      .poll(async () => (await gateway.api('GET', '/api/auth/me/usage', undefined, key)).body)
      .toMatchObject(billed)
  })
})

describe.each(wires.filter(({ operation }) => operation === 'chat'))('$id to Claude', (wire) => {
  test.each([false, true])('what compacting a conversation used is counted; streamed: %s', async (stream) => {
    const cell = stand.cell(wire, anthropic)
    const compaction = {
      type: 'compaction',
      input_tokens: 180_000,
      cache_read_input_tokens: 7,
      cache_creation_input_tokens: 10,
      cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 6 },
      output_tokens: 3500,
    }
    const message = { type: 'message', input_tokens: 23_000, output_tokens: 1000 }
    const usage = {
      input_tokens: 23_000,
      cache_read_input_tokens: 5,
      output_tokens: 1000,
      iterations: [compaction, message],
    }
    cell.upstream.reply({ content: 'Compacted.', usage })
    const answer = await cell.ask({ stream })
    const counted = { input: 203_022, output: 4500, cached: 12 }
    if (wire.id !== 'messages') expect(answer.usage).toMatchObject(counted)
    expect((await cell.trace(answer.headers)).usage).toMatchObject({
      input: counted.input,
      output: counted.output,
      cached_read: counted.cached,
      cache_write_5m: 4,
      cache_write_1h: 6,
    })
  })
})
