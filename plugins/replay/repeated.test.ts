import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.reply({ content: 'You said tamarind.', times: Number.POSITIVE_INFINITY })
  gateway = await startGateway({ upstream })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const post = async (at: string, body: object, key?: string) => {
  const answer = await gateway.api('POST', at, body, key)
  expect([at, answer.status]).toEqual([at, expect.toSatisfy((status: number) => status < 300)])
  return answer.body
}

/** The stored traces in which this was said. */
const saying = async (text: string): Promise<{ id: string; user_id: string | null }[]> =>
  (await gateway.api('GET', `/api/observe/traces?q=${text}`)).body.traces

test('what admins made of the calls of a user goes with the data of that user, and nothing else of theirs does', async () => {
  const users = await Promise.all([gateway.signUp('ada'), gateway.signUp('bob')])
  const [ada, bob] = users as [(typeof users)[0], (typeof users)[0]]
  const replays: string[] = []
  for (const [n, { key }] of users.entries()) {
    const messages = [{ role: 'user', content: `I am tamarind-${n}` }]
    const headers = { authorization: `Bearer ${key}` }
    const { headers: answered } = await ask(gateway, { headers, body: { model: 'gpt-4o', messages } })
    const id = answered.get('x-trace-id')!
    await expect.poll(async () => (await saying(`tamarind-${n}`)).length).toBe(1)
    await post('/api/replay', { trace_id: id, target_model: 'gpt-4o-mini' })
    const { trace_id: again } = await post(`/api/replay/${id}`, {})
    await post('/api/trust/feedback', { trace_id: id, rating: 1, comment: `tamarind-${n} wrote` })
    replays.push((await post('/api/trust/replays', { original_trace_id: id })).id)
    await expect.poll(async () => (await saying(`tamarind-${n}`)).length).toBe(4)
    // A replay of a replay still has the words of the user.
    await post(`/api/replay/${again}`, {})
    await expect.poll(async () => (await saying(`tamarind-${n}`)).length).toBe(5)
  }
  expect((await gateway.api('GET', '/api/trust/feedback', undefined, ada.key)).body.total).toBe(0)
  expect((await gateway.api('GET', '/api/trust/replays', undefined, ada.key)).body.total).toBe(0)

  const at = `/api/auth/users/${ada.userId}/data`
  const counted = JSON.stringify((await gateway.api('GET', at)).body)
  expect(counted).toContain('"observe":5')
  expect(counted).toContain('"trust":2')
  expect((await gateway.api('DELETE', at)).status).toBe(200)
  expect(await saying('tamarind-0')).toEqual([])
  expect((await saying('tamarind-1')).map(({ user_id }) => user_id)).toEqual([
    null,
    null,
    null,
    null,
    bob.userId,
  ])
  const { body } = await gateway.api('GET', '/api/trust/feedback')
  expect(body.feedback.map(({ comment }: { comment: string }) => comment)).toEqual(['tamarind-1 wrote'])
  const status = async (id: string) => (await gateway.api('GET', `/api/trust/replays/${id}`)).status
  expect(await Promise.all(replays.map(status))).toEqual([404, 200])
}, 60_000)
