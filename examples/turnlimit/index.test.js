import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, startGateway, startUpstream } from 'switchyard/testing'

test('only conversations within the limit reach the provider', async () => {
  await using upstream = await startUpstream()
  const gateway = await startGateway({ upstream, plugins: [import.meta.dirname] })
  try {
    await gateway.module('turnlimit', { enabled: true, config: { most: 2 } })
    const turns = (count) => Array.from({ length: count }, () => ({ role: 'user', content: 'again' }))
    const statusOf = async (count) =>
      (await ask(gateway, { body: { model: 'gpt-4o-mini', messages: turns(count) } })).status
    assert.deepEqual([await statusOf(2), await statusOf(3)], [200, 400])
    assert.equal(upstream.requests.length, 1)
  } finally {
    await gateway.close()
  }
})
