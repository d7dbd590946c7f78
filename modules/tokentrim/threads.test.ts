import { afterAll, beforeAll, expect, test } from 'vitest'
import { startThreaded, type ThreadedGateway } from '../../test/threaded.ts'

const [model, summaryModel] = ['gpt-4o-mini', 'gpt-4o']

let gateway: ThreadedGateway

beforeAll(async () => {
  const config = {
    strategy: 'summarize',
    summary_model: summaryModel,
    summary_tokens: 60,
    reserve_output: 100,
  }
  gateway = await startThreaded(3, {
    models: {
      [`openai/${model}`]: { context_window: 700 },
      [`openai/${summaryModel}`]: { context_window: 20_000 },
    },
    modules: { tokentrim: { enabled: true, config } },
  })
})

afterAll(() => gateway.close())

test('a summary that one thread has made serves the calls of the others', async () => {
  const { upstream } = gateway
  const isSummary = { model: summaryModel }
  upstream.reply(isSummary, { content: 'They counted.', times: Number.POSITIVE_INFINITY })
  const turns = Array.from({ length: 20 }, (_, n) => [
    { role: 'user', content: `Question ${n}: ${'and how many words are there '.repeat(6)}?` },
    { role: 'assistant', content: `There are ${n}.` },
  ])
  const messages = [...turns.flat(), { role: 'user', content: 'So?' }]
  for (let n = 0; n < 12; n += 1) expect((await gateway.chat({ model, messages }).answer).status).toBe(200)
  const asked = upstream.requests.map(({ body }) => (body as { model: string }).model)
  expect(asked.filter((name) => name === summaryModel)).toHaveLength(1)
  expect(asked.filter((name) => name === model)).toHaveLength(12)
})
