import { expect, test } from 'vitest'
import { answeredDuring, largeSchema } from '../../test/answered-during.ts'
import { llm, startForge } from '../../test/forge.ts'

const forge = startForge()
const { api } = forge
const output = { id: 'out', type: 'transform', config: { value: '{{input}}' } }
const handler = { url: 'https://example.com' }

/** Waiting for a schema to be read leaves time for many. */
const many = 10

test.each([
  ['a workflow is', '/workflows', { steps: [output], input_schema: largeSchema(400) }],
  ['a step is', '/workflows', { steps: [{ ...output, output_schema: largeSchema(401) }] }],
  ['a tool is', '/tools', { schema: largeSchema(402), handler }],
])('while the large schema of %s read, other requests are answered', async (_, at, thing) => {
  const name = `large-${Object.values(thing).length}-${at.length}`
  const made = api('POST', `/api/forge${at}`, { name, ...thing })
  const { result, answered } = await answeredDuring(forge.parts.gateway, made)
  expect([result.status, result.body.error]).toEqual([201, undefined])
  expect(answered).toBeGreaterThan(many)
})

test('an input is held to a large schema while other requests are answered, also in batches', async () => {
  await forge.make('typed', [output], { input_schema: largeSchema(300) })
  const begin = (input: object) => forge.run('typed', input)
  expect((await answeredDuring(forge.parts.gateway, begin({ field_0: 3 }))).result.body).toMatchObject({
    status: 'completed',
    output: { field_0: 3 },
  })
  const wrong = await begin({ field_0: 'three' })
  expect([wrong.status, wrong.body.error.param]).toEqual([400, 'input'])
  expect(wrong.body.error.message).toContain('/field_0 must be integer')
  const batch = { type: 'workflow', workflow: 'typed', input: [{ field_0: 1 }, { field_0: 'one' }] }
  const { body } = await api('POST', '/api/forge/batch', batch)
  expect([body.error.param, body.error.message]).toEqual(['input.1', expect.stringContaining('/field_0')])
})

test('an output is held to a large schema, and a large schema that is wrong is refused by its field', async () => {
  const output_schema = largeSchema(200)
  await forge.make('held', [{ ...output, output_schema }])
  expect((await forge.run('held', { field_0: 1 })).body.status).toBe('completed')
  const { body } = await forge.run('held', { field_0: 'one' })
  expect(body).toMatchObject({ status: 'failed', error: { code: 'output_invalid' } })
  const schema = { ...largeSchema(200), type: 'thing' }
  const { status, body: refused } = await forge.save('wrong', [llm('a', 'A', { output_schema: schema })])
  expect([status, refused.error.param]).toEqual([400, 'steps.0.output_schema'])
})
