import { describe, expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { startGateway } from '../../test/harness.ts'
import { shared } from '../../test/shared.ts'
import { startUpstream } from '../../test/upstream/index.ts'

const running = shared(async () => {
  const upstream = await startUpstream()
  upstream.reply({ content: 'Hi', times: Number.POSITIVE_INFINITY })
  const gateway = await startGateway({ upstream })
  return {
    gateway,
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
})

async function factOf(headers: Record<string, string>): Promise<unknown> {
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] })
  const answer = await ask(running.gateway, { path: '/v1/chat/completions', headers, body })
  const trace = () => running.gateway.api('GET', `/api/observe/traces/${answer.headers.get('x-trace-id')}`)
  await expect.poll(async () => (await trace()).status, { timeout: 10_000 }).toBe(200)
  return (await trace()).body.facts.alerts
}

describe('calls that are ignored', () => {
  test('are those of a project, or with one of the tags, and no others', async () => {
    const ignore = { projects: ['bench'], tags: { env: 'loadtest', probe: 'yes' } }
    await running.gateway.module('alertpulse', { config: { ignore } })
    expect(await factOf({ 'X-Project': 'bench' })).toBe('left out')
    expect(await factOf({ 'X-Service-Tags': 'probe=yes' })).toBe('left out')
    expect(await factOf({ 'X-Project': 'shop', 'X-Service-Tags': 'env=prod' })).toBeUndefined()
    await running.gateway.module('alertpulse', { config: null })
    expect(await factOf({ 'X-Project': 'bench' })).toBeUndefined()
  })
})
