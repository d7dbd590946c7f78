import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { adminKey } from '../../test/harness.ts'
import { startProcess } from '../../test/process.ts'
import { startUpstream } from '../../test/upstream/index.ts'

test('a run that a kill interrupts is an error after the next start', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-runs-'))
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
    const trace = headers.get('x-trace-id')
    await expect.poll(async () => (await api('GET', `/api/observe/traces/${trace}`)).body.id).toBe(trace)
    upstream.reply({ hang: true })
    const asked = api('POST', '/api/replay', { trace_id: trace, target_model: 'gpt-4o' }).catch(() => {})
    const run = async () => (await api('GET', '/api/replay/runs')).body.runs[0]
    await upstream.received(2)
    expect((await run()).status).toBe('running')
    await gateway.end('SIGKILL')
    await asked
    gateway = await startProcess({}, folder)
    await expect.poll(async () => (await run()).status, { timeout: 30_000 }).toBe('error')
    expect((await run()).error.message).toContain('ended while')
    expect(upstream.requests).toHaveLength(2)
  } finally {
    await gateway.end('SIGKILL')
    await upstream.close()
    await rm(folder, { recursive: true, force: true })
  }
}, 180_000)
