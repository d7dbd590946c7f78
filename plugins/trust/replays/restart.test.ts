import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { adminKey } from '../../../test/harness.ts'
import { startProcess } from '../../../test/process.ts'
import { startUpstream } from '../../../test/upstream/index.ts'

test('a replay that a kill interrupts is made after the next start, and ends as done', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-replays-'))
  const upstream = await startUpstream()
  const providers = { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } }
  await writeFile(path.join(folder, 'service.yaml'), stringify({ admin_key: adminKey, providers }))
  let gateway = await startProcess({}, folder)
  const api = async (method: string, at: string, body?: object) => {
    const response = await fetch(gateway.url + at, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes
    const answer: any = await response.json()
    return { headers: response.headers, body: answer }
  }
  try {
    const messages = [{ role: 'user', content: 'Hello' }]
    const { headers } = await api('POST', '/v1/chat/completions', { model: 'gpt-4o-mini', messages })
    const original = headers.get('x-trace-id')
    await expect
      .poll(async () => (await api('GET', `/api/observe/traces/${original}`)).body.id)
      .toBe(original)
    upstream.reply({ hang: true })
    const { body: queued } = await api('POST', '/api/trust/replays', { original_trace_id: original })
    const shown = async () => (await api('GET', `/api/trust/replays/${queued.id}`)).body
    await upstream.received(2)
    expect((await shown()).status).toBe('running')
    await gateway.end('SIGKILL')
    gateway = await startProcess({}, folder)
    await expect.poll(async () => (await shown()).status, { timeout: 90_000 }).toBe('done')
    expect(await shown()).toMatchObject({ match_score: 1, error: null })
    expect(upstream.requests).toHaveLength(3)
  } finally {
    await gateway.end('SIGKILL')
    await upstream.close()
    await rm(folder, { recursive: true, force: true })
  }
}, 180_000)
