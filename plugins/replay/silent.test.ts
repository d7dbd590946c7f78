import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openLevel } from '../../storage/level.ts'
import { ask } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream } from '../../test/upstream/index.ts'

const loose = z.looseObject({})

/** Takes out of the store what versions before did not write: whose call a repeat has. */
async function asBefore(dataDir: string): Promise<void> {
  const engine = await openLevel(path.join(dataDir, 'db'))
  const plugins = engine.namespace('plugins')
  for (const name of ['replays', 'feedback']) {
    const store = plugins.namespace('trust')
    const present = store.collection(name, { schema: loose, version: 2 })
    const rows = await Array.fromAsync(present.scan())
    expect(rows).toHaveLength(2)
    await engine.erase(`plugins/trust/${name}`)
    const before = store.collection(name, { schema: loose })
    for (const [id, { source_user_id: _, ...row }] of rows) await before.put(id, row)
  }
  const observe = plugins.namespace('observe')
  const log = observe.log<Record<string, unknown>>('traces', {
    id: ({ id }) => String(id),
    time: ({ at }) => Number(at),
  })
  const rows = await Array.fromAsync(log.scan({ reverse: false }))
  const bodies = await Promise.all(rows.map(({ id }) => log.body(String(id))))
  await log.erase(() => true)
  for (const [at, { source_user_id: _, ...row }] of rows.entries()) log.append(row, () => bodies[at])
  await log.flush()
  await engine.erase('plugins/observe/repeats')
  await engine.close()
}

test('repeats that an earlier version wrote are found by the calls that they repeat, and stay found when these are gone', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-silent-'))
  const upstream = await startUpstream()
  upstream.reply({ content: 'You said tamarind.', times: Number.POSITIVE_INFINITY })
  let gateway = await startGateway({ upstream, dataDir: folder })
  const post = async (at: string, body: object) => (await gateway.api('POST', at, body)).body
  const traces = async (of: TestGateway, text: string) =>
    (await of.api('GET', `/api/observe/traces?q=${text}`)).body.traces.length
  const restart = async (between: () => Promise<void> = async () => {}) => {
    await gateway.close()
    await between()
    gateway = await startGateway({ upstream, dataDir: folder })
  }
  try {
    const users = [await gateway.signUp('ada'), await gateway.signUp('bob')]
    for (const [n, { key }] of users.entries()) {
      const messages = [{ role: 'user', content: `I am tamarind-${n}` }]
      const headers = { authorization: `Bearer ${key}` }
      const { headers: answered } = await ask(gateway, { headers, body: { model: 'gpt-4o', messages } })
      const id = answered.get('x-trace-id')!
      await expect.poll(() => traces(gateway, `tamarind-${n}`)).toBe(1)
      const { trace_id: again } = await post(`/api/replay/${id}`, {})
      await expect.poll(() => traces(gateway, `tamarind-${n}`)).toBe(2)
      await post(`/api/replay/${again}`, {})
      await post('/api/trust/feedback', { trace_id: again, rating: 1 })
      await post('/api/trust/replays', { original_trace_id: again })
      await expect.poll(() => traces(gateway, `tamarind-${n}`)).toBe(4)
    }
    await restart(() => asBefore(folder))
    const { userId } = users[0]!
    const at = `/api/auth/users/${userId}/data`
    const counted = async () => (await gateway.api('GET', at)).body
    expect(await counted()).toMatchObject({ kept: { observe: 4, trust: 2 } })

    // The call itself may be the first to go.
    await restart(async () => {
      const engine = await openLevel(path.join(folder, 'db'))
      const log = engine
        .namespace('plugins')
        .namespace('observe')
        .log<Record<string, unknown>>('traces', {
          id: ({ id }) => String(id),
          time: ({ at }) => Number(at),
        })
      expect(await log.erase(({ user_id }) => user_id === userId)).toBe(1)
      await engine.close()
    })
    expect(await counted()).toMatchObject({ kept: { observe: 3, trust: 2 } })
    expect((await gateway.api('DELETE', at)).status).toBe(200)
    expect([await traces(gateway, 'tamarind-0'), await traces(gateway, 'tamarind-1')]).toEqual([0, 4])
    expect(JSON.stringify(await counted())).not.toContain('observe')
    const { total } = (await gateway.api('GET', '/api/trust/feedback')).body
    expect([total, (await gateway.api('GET', '/api/trust/replays')).body.total]).toEqual([1, 1])
  } finally {
    await gateway.close()
    await upstream.close()
    await rm(folder, { recursive: true, force: true })
  }
}, 60_000)
