import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ask, textOf } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream, config: { modules: { toxicfilter: { enabled: true } } } })
})
beforeEach(() => upstream.reset())
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const configure = async (config: object): Promise<void> => {
  await gateway.module('toxicfilter', { config: null })
  await gateway.module('toxicfilter', { config })
}
const chat = (content: string, stream = false) =>
  ask(gateway, { body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }], stream } })

describe.each([false, true])('streamed: %s', (stream) => {
  test('words are taken out of an answer', async () => {
    await configure({})
    upstream.reply({ content: 'Well, s h i t happens in Scunthorpe, you @sshole.', splitBytes: 1 })
    const { body } = await chat('Hi', stream)
    expect(textOf(body)).toBe('Well, [REDACTED:profanity] happens in Scunthorpe, you [REDACTED:profanity].')
  })

  test('an answer with a word is refused before the word has left', async () => {
    await configure({ response: 'block' })
    upstream.reply({ content: 'Some words first, then one: n1gger', splitBytes: 2 })
    const { status, body } = await chat('Hi', stream)
    expect(status).toBe(stream ? 200 : 400)
    expect(body).toMatchObject({ error: { type: 'content_blocked', details: { found: 'slur' } } })
  })

  test('a flagged word passes, and the trace tells of it without the word', async () => {
    await configure({ response: 'flag' })
    upstream.reply({ content: 'Merde!' })
    const { headers, body } = await chat('Hi', stream)
    expect(textOf(body)).toBe('Merde!')
    const path = `/api/observe/traces/${headers.get('x-trace-id')}`
    await expect.poll(async () => (await gateway.api('GET', path)).status).toBe(200)
    const { guardrails } = (await gateway.api('GET', path)).body
    expect(guardrails).toMatchObject([
      { module: 'toxicfilter', type: 'toxic', action: 'warn', label: 'profanity' },
    ])
    expect(JSON.stringify(guardrails)).not.toContain('Merde')
  })
})

test('a request is refused, cleaned or let through, as it is set', async () => {
  await configure({})
  expect((await chat('You wh0re')).status).toBe(400)
  expect(upstream.requests).toEqual([])
  await configure({ request: 'redact' })
  await chat('You wh0re')
  expect(upstream.last().body).toMatchObject({ messages: [{ content: 'You [REDACTED:profanity]' }] })
  await configure({ request: 'off' })
  expect((await chat('You wh0re')).status).toBe(200)
})

test('a category that has no source is refused in the settings', async () => {
  for (const category of ['hate', 'harassment', 'sexual', 'violence', 'self_harm']) {
    const change = { config: { categories: [category] } }
    expect((await gateway.api('PUT', '/api/proxy/modules/toxicfilter', change)).status).toBe(400)
  }
})
