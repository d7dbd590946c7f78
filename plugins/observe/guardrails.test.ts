import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import type { TraceDetail } from './shapes.ts'

/** What the gateway's own guards find is in the trace, whichever way it came, and never the text of it. */

const mail = 'ada.lovelace@example.com'
const token = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  await gateway.module('maskmode', { enabled: true, config: { mode: 'redact', entities: ['email'] } })
  await gateway.module('secretscan', { enabled: true, config: { request: 'warn' } })
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

async function traceOf(content: string, more: object = {}): Promise<TraceDetail> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }], ...more }),
  })
  await response.text()
  const { body } = await gateway.api('GET', `/api/observe/traces/${response.headers.get('x-trace-id')}`)
  return body
}

const span = (role: string, kind: string, start: number, found: string) => ({
  role,
  kind,
  start,
  end: start + found.length,
})

test('of requests, answers and arguments of tools, plain and streamed', async () => {
  for (const stream of [false, true]) {
    const toolCalls = [{ name: 'send', arguments: `{"key":"${token}","to":"${token}"}` }]
    upstream.reply({ content: ['It is gh', `${token.slice(2)}!`], toolCalls })
    const trace = await traceOf(`Write to ${mail}, with ${token}`, { stream })
    expect(trace.guardrails).toEqual([
      {
        rule_id: null,
        module: 'maskmode',
        type: 'pii',
        severity: 'medium',
        action: 'redact',
        direction: 'request',
        label: 'email',
        count: 1,
        spans: [span('user', 'content', 9, mail)],
        confidence: null,
        shadow: false,
      },
      expect.objectContaining({
        module: 'secretscan',
        type: 'secret',
        severity: 'low',
        action: 'warn',
        direction: 'request',
        label: 'github_token',
      }),
      expect.objectContaining({
        type: 'secret',
        action: 'redact',
        direction: 'response',
        count: 3,
        spans: [
          span('assistant', 'content', 6, token),
          span('assistant', 'arguments', 8, token),
          span('assistant', 'arguments', 56, token),
        ],
      }),
    ])
    expect(JSON.stringify(trace.guardrails)).not.toMatch(/lovelace|ghp_/)
  }
})

test('of a guard in shadow are marked, and lists tell them as well', async () => {
  await gateway.module('secretscan', { config: { request: 'block' }, mode: 'shadow' })
  upstream.reply({ content: 'No.' })
  const { id, guardrails, status } = await traceOf(`Is ${token} mine?`)
  expect(status).toBe('ok')
  expect(guardrails).toMatchObject([
    { module: 'secretscan', action: 'block', severity: 'high', shadow: true },
  ])
  const { body } = await gateway.api('GET', '/api/observe/traces?limit=1')
  expect(body.traces[0]).toMatchObject({ id, guardrails })
  await gateway.module('secretscan', { mode: 'enforce' })
})

test('are none where nothing was found, and none for what is put back for the client', async () => {
  expect((await traceOf('Hello')).guardrails).toEqual([])
  await gateway.module('maskmode', { config: { mode: 'pseudonym', entities: ['email'] } })
  const { guardrails } = await traceOf(`My address is ${mail}`)
  expect(guardrails.map(({ module, direction }) => [module, direction])).toEqual([['maskmode', 'request']])
})
