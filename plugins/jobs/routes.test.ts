import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ plugins: ['test/fixtures/modules/scribe'] })
})

afterAll(() => gateway.close())

const idOf = (name: string): string => `scribe.line:${name}`
const at = (name: string): string => `/api/jobs/${encodeURIComponent(idOf(name))}`

async function add(name: string): Promise<void> {
  const messages = [{ role: 'user', content: 'Hello' }]
  const answer = await ask(gateway, { body: { model: 'mock/echo', user: name, messages } })
  expect(answer.status).toBe(200)
}

const become = (name: string, status: string) =>
  expect
    .poll(async () => (await gateway.api('GET', at(name))).body, { interval: 10 })
    .toMatchObject({ id: idOf(name), status })

test('admins see jobs page by page, by kind and status, and nobody else does', async () => {
  await gateway.api('POST', '/api/jobs/pause', { kind: 'scribe.line' })
  for (const name of ['1/a?', '2', '3']) await add(name)
  const { body } = await gateway.api('GET', '/api/jobs?kind=scribe.line&status=waiting&limit=2')
  expect(body).toMatchObject({ jobs: [{ id: idOf('3') }, { id: idOf('2') }], total: 3, has_more: true })
  expect(body.jobs[0]).not.toHaveProperty('input')
  const next = await gateway.api(
    'GET',
    `/api/jobs?kind=scribe.line&status=waiting&cursor=${body.next_cursor}`,
  )
  expect(next.body.jobs).toMatchObject([{ id: idOf('1/a?') }])
  for (const query of ['kind=scribe.line', 'kind=scribe.line&status=waiting', 'kind=scribe.line&limit=1'])
    expect((await gateway.api('GET', `/api/jobs?${query}`)).body.total).toBe(3)
  for (const query of ['status=waiting', 'limit=200']) {
    const { jobs } = (await gateway.api('GET', `/api/jobs?${query}`)).body
    expect(jobs.filter(({ kind }: { kind: string }) => kind === 'scribe.line')).toHaveLength(3)
  }
  expect((await gateway.api('GET', '/api/jobs?status=lost')).status).toBe(400)
  const { key } = await gateway.signUp()
  expect((await gateway.api('GET', '/api/jobs', undefined, key)).status).toBe(403)
  const { kinds } = (await gateway.api('GET', '/api/jobs/kinds')).body
  expect(kinds).toContainEqual(
    expect.objectContaining({ kind: 'scribe.line', paused: true, defined: true, waiting: 3 }),
  )

  await gateway.api('POST', '/api/jobs/resume', { kind: 'scribe.line' })
  await become('1/a?', 'completed')
  expect((await gateway.api('GET', at('1/a?'))).body).toMatchObject({
    input: { name: '1/a?' },
    result: 'one',
  })
})

test('a job is cancelled and tried again, and what cannot be is refused', async () => {
  await add('waits')
  await expect
    .poll(async () => (await gateway.api('GET', at('waits'))).body)
    .toMatchObject({ waits_for: 'go', status: 'waiting' })
  expect((await gateway.api('POST', `${at('waits')}/cancel`)).body.status).toBe('cancelled')
  expect((await gateway.api('POST', `${at('waits')}/retry`)).body.status).toBe('waiting')
  await expect.poll(async () => (await gateway.api('GET', at('waits'))).body.waits_for).toBe('go')
  await become('3', 'completed')
  expect((await gateway.api('POST', `${at('3')}/cancel`)).status).toBe(409)
  expect((await gateway.api('POST', `${at('none')}/cancel`)).status).toBe(404)
  expect((await gateway.api('GET', at('none'))).status).toBe(404)
  expect((await gateway.api('POST', '/api/jobs/pause', { kind: 'scribe.none' })).status).toBe(404)
})

test('a kind goes on when its plugin is set up anew, and waits while it is off', async () => {
  await gateway.module('scribe', { config: { word: 'another' } })
  await add('after')
  await become('after', 'completed')
  expect((await gateway.api('GET', at('after'))).body.result).toBe('another')
  await gateway.module('scribe', { enabled: false })
  await gateway.api('POST', `${at('waits')}/cancel`)
  await gateway.api('POST', `${at('waits')}/retry`)
  expect((await gateway.api('GET', '/api/jobs/kinds')).body.kinds).toContainEqual(
    expect.objectContaining({ kind: 'scribe.line', defined: false, waiting: 1 }),
  )
  await gateway.module('scribe', { enabled: true })
  await expect.poll(async () => (await gateway.api('GET', at('waits'))).body.waits_for).toBe('go')
})
