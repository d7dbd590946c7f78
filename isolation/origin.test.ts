import { afterEach, expect, test } from 'vitest'
import { writeDropins } from '../test/dropins.ts'
import { startGateway, type TestGateway } from '../test/harness.ts'
import { places } from '../test/isolated.ts'
import { startUpstream, type Upstream } from '../test/upstream/index.ts'

let gateway: TestGateway
let upstream: Upstream
let remove: () => Promise<void>

afterEach(async () => {
  await gateway.close()
  await upstream.close()
  await remove()
})

test.each(places)("a module %s sees for whom another one's own call is made", async (place) => {
  const dropins = await writeDropins({
    asker: {
      setup: `return { async request(call) {
        const messages = [{ role: 'user', content: 'what for?' }]
        await ctx.complete({ model: 'gpt-4o-mini', messages }, { on: call })
      } }`,
      manifest: { permissions: ['body:read', 'models:1'] },
    },
    far: {
      setup: `return { request(call) { ctx.report('for', String(call.origin?.principal.type)) } }`,
      manifest: { stage: 'route', isolation: place },
    },
  })
  remove = dropins.remove
  upstream = await startUpstream()
  gateway = await startGateway({ upstream, config: { plugin_dirs: [dropins.folder] } })
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] }),
  })
  expect(response.status).toBe(200)
  const seen = async () => {
    const { body } = await gateway.api('GET', '/api/proxy/modules/far/events')
    return body.events
      .filter(({ kind }: { kind: string }) => kind === 'for')
      .map(({ detail }: { detail: string }) => detail)
      .toReversed()
  }
  await expect.poll(seen).toEqual(['admin', 'undefined'])
})
