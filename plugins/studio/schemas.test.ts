import { expect, test } from 'vitest'
import { answeredDuring, largeSchema } from '../../test/answered-during.ts'
import { startStudio } from '../../test/studio.ts'

const { parts, api } = startStudio()

/** Waiting for a schema to be read leaves time for many. */
const many = 10

const benchmark = (schema: object) => ({
  name: 'large',
  models: ['gpt-4o-mini'],
  prompts: [{ name: 'which', prompt: 'Which?', assertions: [{ type: 'json_schema', schema }] }],
})

test('while the large schema of a benchmark is read, other requests are answered, and answers are held to it', async () => {
  const made = api('POST', '/benchmarks', benchmark(largeSchema(400)))
  const { result, answered } = await answeredDuring(parts.gateway, made)
  expect([result.status, result.body.error]).toEqual([201, undefined])
  expect(answered).toBeGreaterThan(many)
  for (const [content, score] of [
    ['{"field_0": 3}', 1],
    ['{"field_0": "three"}', 0],
  ] as const) {
    parts.upstream.reply({ content })
    const asked = { benchmark_id: result.body.id, wait_ms: 60_000 }
    const { body } = await api('POST', '/benchmarks/run', asked)
    expect(body).toMatchObject({ status: 'completed', leaderboard: [{ score }] })
  }
})

test('while the large schema of a snapshot is read, other requests are answered, and answers are held to it', async () => {
  const schema = largeSchema(401)
  const snapshot = { name: 'large', model: 'gpt-4o-mini', prompt: 'Which?', expected_output: 'any' }
  const made = api('POST', '/snapshots', { ...snapshot, match: { method: 'schema', schema } })
  const { result, answered } = await answeredDuring(parts.gateway, made)
  expect([result.status, result.body.error]).toEqual([201, undefined])
  expect(answered).toBeGreaterThan(many)
  for (const [answer, status] of [
    ['{"field_0": 3}', 'passing'],
    ['{"field_0": "three"}', 'failing'],
  ] as const) {
    parts.upstream.reply({ content: answer })
    expect((await api('POST', `/snapshots/${result.body.id}/run`, {})).body.status).toBe(status)
  }
})

test('a large schema that is wrong is refused by its field', async () => {
  const { status, body } = await api('POST', '/benchmarks', benchmark({ ...largeSchema(200), type: 'thing' }))
  expect([status, body.error.param]).toEqual([400, 'prompts.0.assertions.0.schema'])
})
