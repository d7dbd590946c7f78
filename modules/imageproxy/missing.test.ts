import { expect, test, vi } from 'vitest'
import { ask, textOf } from '../../test/ask.ts'
import { startGateway } from '../../test/harness.ts'
import { startUpstream } from '../../test/upstream/index.ts'

vi.mock('sharp', () => {
  throw new Error("Cannot find package 'sharp'")
})

test('without its package a gateway starts, says what is missing, and refuses images only', async () => {
  const upstream = await startUpstream()
  const gateway = await startGateway({ upstream, config: { modules: { imageproxy: { enabled: true } } } })
  const { body: shown } = await gateway.api('GET', '/api/proxy/modules/imageproxy')
  const missing = expect.stringContaining('npm install sharp')
  expect(shown).toMatchObject({ state: 'active', problem: missing, warnings: [missing] })
  expect(gateway.logged.join()).toContain('npm install sharp')

  const say = (content: unknown, stream: boolean) =>
    ask(gateway, { body: { model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content }] } })
  for (const stream of [false, true]) {
    upstream.reply({ content: 'Yes.' })
    expect(textOf((await say('Is it?', stream)).body)).toBe('Yes.')
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    const { status, body } = await say([{ type: 'text', text: 'What is it?' }, image], stream)
    expect(status).toBe(503)
    expect(body.error).toMatchObject({
      code: 'internal_error',
      type: 'unavailable',
      module: 'imageproxy',
      param: 'messages.0.content.1',
      message: missing,
    })
  }
  expect(upstream.requests).toHaveLength(2)
  await gateway.close()
  await upstream.close()
})
