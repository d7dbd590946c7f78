import { afterAll, beforeAll, expect, test } from 'vitest'
import { RetentionDue } from '#kernel'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { agesOf } from './ages.ts'

const dayMs = 86_400_000

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      modules: {
        retentionwipe: {
          config: {
            traces_days: 100,
            bodies_days: 3,
            projects: { brief: { traces_days: 10, events_days: 1 } },
          },
        },
      },
    },
  })
  for (const project of ['brief', 'usual'])
    for (const days of [1, 5, 9]) {
      const timestamp = new Date(Date.now() - days * dayMs).toISOString()
      const body = { model: 'm', project, timestamp, request: { said: `in ${project}` } }
      expect((await gateway.api('POST', '/api/observe/traces', body)).status).toBe(201)
    }
})

afterAll(() => gateway.close())

const ids = async (project: string): Promise<string[]> =>
  (await gateway.api('GET', `/api/observe/traces?project=${project}`)).body.traces.map(
    ({ id }: { id: string }) => id,
  )

const withBodies = async (project: string): Promise<number> => {
  const found = await Promise.all(
    (await ids(project)).map((id) => gateway.api('GET', `/api/observe/traces/${id}`)),
  )
  return found.filter(({ body }) => body.request !== null).length
}

const sweep = () => gateway.kernel.events.emit(RetentionDue, {})

test('records are deleted by the ages of their classes and projects, and a change of these holds at once', async () => {
  expect((await gateway.api('GET', '/api/observe/status')).body.retention_days).toEqual({
    rows: 100,
    bodies: 3,
  })
  sweep()
  await expect.poll(() => withBodies('usual')).toBe(1)
  expect([await ids('brief'), await ids('usual')].map(({ length }) => length)).toEqual([3, 3])

  await gateway.module('retentionwipe', { config: { projects: { brief: { traces_days: 4 } } } })
  sweep()
  await expect.poll(async () => (await ids('brief')).length).toBe(1)
  expect((await ids('usual')).length).toBe(3)
  const old = { model: 'm', project: 'brief', timestamp: new Date(Date.now() - 5 * dayMs).toISOString() }
  const refused = await gateway.api('POST', '/api/observe/traces', { ...old, request: {} })
  expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining('4 days')])
})

test('what observe says of itself holds in place of the ages of all, and its own where the module is off', async () => {
  const days = async () => (await gateway.api('GET', '/api/observe/status')).body.retention_days
  await gateway.module('retentionwipe', { enabled: false })
  expect(await days()).toEqual({ rows: 30, bodies: 30 })
  await gateway.module('retentionwipe', { enabled: true })
  expect(await days()).toEqual({ rows: 100, bodies: 3 })
  const config = { retention_days: { rows: 7 } }
  expect((await gateway.api('PUT', '/api/plugins/observe', { config })).status).toBe(200)
  expect(await days()).toEqual({ rows: 7, bodies: 3 })
})

test('sweeps are a schedule of jobs', async () => {
  const next = async () => {
    const { body } = await gateway.api('GET', '/api/jobs?kind=retentionwipe.sweep&status=waiting')
    return body.jobs.map(({ due_at }: { due_at: string }) => due_at)
  }
  await expect.poll(next).toEqual([expect.stringMatching(/:17:00.000Z$/)])
  await gateway.module('retentionwipe', { config: { sweep: 'daily' } })
  await expect.poll(next).toEqual([expect.stringMatching(/T03:17:00.000Z$/)])
})

test('a project has ages of its own only where it says so', () => {
  const days = { traces_days: 30, bodies_days: 20, events_days: 90 }
  expect(agesOf({ ...days, projects: { a: { bodies_days: 2 }, b: { traces_days: 40 } } })).toEqual({
    traces: { days: 30, projects: { b: 40 } },
    bodies: { days: 20, projects: { a: 2 } },
    events: { days: 90, projects: {} },
  })
})
