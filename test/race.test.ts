import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Dropin, writeDropins } from './dropins.ts'
import { startGateway, type TestGateway } from './harness.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

/** Asks two providers at a time, the first at once and the other right after it, and takes whichever answers first. */
const race: Dropin = {
  manifest: { stage: 'deliver', failure: 'closed' },
  setup: `return {
    async around(call, next) {
      const runs = ['first', 'second'].map((provider) => {
        const { cancel } = call.cancel.child()
        const request = { ...call.request, model: provider + '/' + call.request.model }
        return { cancel, reply: next(call.with({ request, cancel })) }
      })
      const first = call.request.metadata?.take === 'first'
      const won = first ? runs[0] : await Promise.any(runs.map((run) => run.reply.then(() => run)))
      for (const run of runs) {
        if (run === won) continue
        run.reply.catch(() => {})
        if (call.request.metadata?.losers !== 'finish') run.cancel.abort(new Error('lost'))
      }
      return won.reply
    },
  }`,
}

let first: Upstream
let second: Upstream
let gateway: TestGateway
let client: OpenAI
let remove: () => Promise<void>

beforeAll(async () => {
  first = await startUpstream()
  second = await startUpstream()
  const dropins = await writeDropins({ race })
  remove = dropins.remove
  const providers = Object.fromEntries(
    [first, second].map((upstream, i) => [
      ['first', 'second'][i]!,
      { type: 'openai', base_url: upstream.baseUrl(), api_key: 'sk-test' },
    ]),
  )
  const prices = {
    'first/m': { input_usd_per_m: 1, output_usd_per_m: 1 },
    'second/m': { input_usd_per_m: 100, output_usd_per_m: 100 },
  }
  gateway = await startGateway({ config: { providers, prices, plugin_dirs: [dropins.folder] } })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
})

beforeEach(() => {
  first.reset()
  second.reset()
})

afterAll(async () => {
  await gateway.close()
  await Promise.all([first.close(), second.close(), remove()])
})

const question = (content: string) => ({ model: 'm', messages: [{ role: 'user' as const, content }] })

async function traceOf(response: { readonly headers: Headers }) {
  const id = response.headers.get('x-trace-id')
  return vi.waitFor(async () => {
    const { status, body } = await gateway.api('GET', `/api/observe/traces/${id}`)
    expect(status).toBe(200)
    return body
  })
}

/** Holds the second provider back until somebody lets it go on. */
function holdSecond(): () => void {
  const gate = Promise.withResolvers<void>()
  second.reply({ content: ['late'], gate: { opened: gate.promise } })
  return gate.resolve
}

describe.each([false, true])('stream: %s', (stream) => {
  const ask = async (content: string) => {
    const letGo = holdSecond()
    const response = await client.chat.completions.create({ ...question(content), stream }).asResponse()
    await response.text()
    letGo()
    return response
  }

  test('the attempt that answered is named, and not the last', async () => {
    const trace = await traceOf(await ask(`who ${stream}`))
    expect(trace.attempts.map(({ provider }: { provider: string }) => provider)).toEqual(['first', 'second'])
    expect(trace.provider).toBe('first')
  })

  test('an answer from the cache saves what the attempt that answered cost', async () => {
    await gateway.module('cachelayer', { enabled: true })
    await ask(`again ${stream}`)
    const hit = await ask(`again ${stream}`)
    expect(hit.headers.get('x-cache')).toBe('hit')
    const { cost, usage } = await traceOf(hit)
    expect(cost.saved_usd).toBeCloseTo((usage.input + usage.output) / 1e6, 12)
    await gateway.module('cachelayer', { enabled: false })
  })
})

test('an answer that comes after the one that was taken changes nothing', async () => {
  const letSecond = holdSecond()
  const rest = Promise.withResolvers<void>()
  first.reply({ content: ['one ', 'two'], gate: { opened: rest.promise, after: 2 } })
  const { data, response } = await client.chat.completions
    .create({ ...question('slow loser'), stream: true, metadata: { losers: 'finish' } })
    .withResponse()
  let text = ''
  for await (const chunk of data) {
    text += chunk.choices[0]?.delta.content ?? ''
    if (text !== 'one ') continue
    letSecond()
    await second.last().closed
    rest.resolve()
  }
  expect([text, (await traceOf(response)).provider]).toEqual(['one two', 'first'])
})

test('a limit in USD goes by the price of the attempt that answers', async () => {
  await gateway.module('idlekill', { config: { max_spend_usd: 0.001 } })
  const letGo = holdSecond()
  first.reply({ content: Array.from({ length: 60 }, (_, n) => `word${n} `) })
  let text = ''
  for await (const chunk of await client.chat.completions.create({ ...question('long'), stream: true }))
    text += chunk.choices[0]?.delta.content ?? ''
  letGo()
  expect(text).toContain('word59')
  await gateway.module('idlekill', { config: { max_spend_usd: null } })
})

test('a call that failed names the provider whose failure it ended with', async () => {
  for (const id of ['retrypilot', 'fallbackrouter']) await gateway.module(id, { enabled: false })
  const gate = Promise.withResolvers<void>()
  first.reply({ status: 500 })
  second.reply({ status: 503, gate: { opened: gate.promise } })
  const asked = client.chat.completions.create({ ...question('both fail'), metadata: { take: 'first' } })
  const refused = await asked.catch((error) => error)
  gate.resolve()
  expect((await traceOf(refused)).provider).toBe('first')
})
