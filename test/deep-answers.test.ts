import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bareChain } from './bare.ts'
import { startGateway, type TestGateway } from './harness.ts'
import { anthropic } from './upstream/anthropic/index.ts'
import { eventFrame } from './upstream/bedrock/index.ts'
import { bedrock, cohere, gemini, startUpstream, type Upstream } from './upstream/index.ts'
import { openai } from './upstream/openai/index.ts'

const wires = { openai, anthropic, bedrock, cohere, gemini }
const models = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-sonnet-4-5',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
  cohere: 'command-a-03-2025',
  gemini: 'gemini-2.5-flash',
}
type Name = keyof typeof wires
const names = Object.keys(wires) as Name[]
const upstreams = new Map<string, Upstream>()
let gateway: TestGateway
let key: string

beforeAll(async () => {
  const providers: Record<string, object> = {}
  for (const name of names) {
    const apiKey = `ABSKkey-of-${name}=`
    const upstream = await startUpstream({ wires: [wires[name]], apiKey })
    upstreams.set(name, upstream)
    providers[name] = { base_url: upstream.baseUrl(), api_key: apiKey }
  }
  gateway = await startGateway({ config: { providers } })
  await bareChain(gateway)
  key = (await gateway.signUp()).key
})

beforeEach(() => {
  for (const upstream of upstreams.values()) upstream.reset()
})

afterAll(async () => {
  await gateway.close()
  for (const upstream of upstreams.values()) await upstream.close()
})

const deep = (levels: number): string => '{"a":'.repeat(levels) + 1 + '}'.repeat(levels)

async function ask(name: Name, at: string, stream: boolean) {
  const response = await fetch(gateway.url + at, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: `${name}/${models[name]}`,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'hi' }],
      stream,
    }),
  })
  return { status: response.status, text: await response.text() }
}

/** A deep event in the provider's own form; the library that makes those of Bedrock cannot write more levels. */
const eventOf = (name: Name): string | Uint8Array =>
  name === 'bedrock' ? eventFrame('contentBlockDelta', JSON.parse(deep(3_000))) : `data: ${deep(20_000)}\n\n`

describe.each(names)('an answer of %s that is nested too deeply', (name) => {
  test.each([
    ['/v1/chat/completions', false],
    ['/v1/chat/completions', true],
    ['/v1/messages', false],
    ['/v1/messages', true],
  ])('on %s, streamed: %s, is its failure, and the next call is served', async (at, stream) => {
    const upstream = upstreams.get(name)!
    if (stream) upstream.reply({ chunks: [eventOf(name)] })
    else upstream.reply({ body: deep(20_000) })
    const { status, text } = await ask(name, at, stream)
    expect(text).toContain('nested too deeply')
    expect(status).toBe(502)
    expect((await ask(name, at, stream)).status).toBe(200)
  })
})

test.each(names)(
  'arguments that %s nests 20,000 levels deep reach no one as an object, and end nothing',
  async (name) => {
    for (const stream of [false, true]) {
      upstreams.get(name)!.reply({ toolCalls: [{ name: 'f', arguments: deep(20_000) }] })
      const { status, text } = await ask(name, '/v1/messages', stream)
      expect([200, 502]).toContain(status)
      expect(text).not.toContain('internal')
      expect((await ask(name, '/v1/messages', stream)).status).toBe(200)
    }
  },
)
