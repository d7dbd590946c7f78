import { expect, test } from 'vitest'
import { llm, startForge } from '../../../test/forge.ts'

const forge = startForge()
const { api, run, read, steps } = forge

const gate = (id: string, more: object = {}) => ({
  id,
  type: 'human',
  ...more,
  config: { message: 'Send {{draft.output}}?' },
})
const decide = (id: string, body: object, key?: string) =>
  api('POST', `/api/forge/runs/${id}/approve`, body, key)
const end = (id: string) =>
  expect.poll(async () => (await read(id)).finished_at, { timeout: 20_000 }).not.toBeNull()

test('a person decides, other steps go on meanwhile, and what was done before is not done again', async () => {
  await forge.make('letter', [
    llm('draft', 'Draft'),
    gate('ok'),
    gate('also'),
    llm('other', 'Other'),
    llm('send', 'Send {{ok.output.data.to}}', { depends_on: ['also'] }),
  ])
  forge.parts.upstream.reply({ content: 'Hi', times: 3 })
  const { status, body } = await run('letter')
  expect([status, body.status]).toEqual([200, 'waiting_human'])
  expect(forge.said().sort()).toEqual(['Draft', 'Other'])
  const log = await steps(body.id)
  expect(log.find(({ step_id }: { step_id: string }) => step_id === 'ok')).toMatchObject({
    status: 'pending',
    input: { message: 'Send Hi?' },
  })
  const refused = await decide(body.id, { step_id: 'draft' })
  expect([refused.status, refused.body.error.param]).toEqual([409, 'step_id'])
  expect((await decide(body.id, { step_id: 'none' })).status).toBe(404)
  const stranger = await forge.parts.gateway.signUp('stranger')
  expect((await decide(body.id, { step_id: 'ok' }, stranger.key)).status).toBe(404)
  const both = await Promise.all([
    decide(body.id, { step_id: 'also' }),
    decide(body.id, { step_id: 'ok', data: { to: 'Ada' }, comment: 'Fine.' }),
  ])
  expect(both.map(({ status }) => status)).toEqual([200, 200])
  await end(body.id)
  expect(await read(body.id)).toMatchObject({ status: 'completed', steps_completed: 5, output: 'Hi' })
  expect(forge.said().sort()).toEqual(['Draft', 'Other', 'Send Ada'])
  expect((await decide(body.id, { step_id: 'ok' })).status).toBe(409)
})

test('a refusal fails the step, and the run unless the step says otherwise', async () => {
  await forge.make('strict', [llm('draft', 'Draft'), gate('ok')])
  await forge.make('lenient', [
    llm('draft', 'Draft'),
    gate('ok', { on_error: { action: 'continue' } }),
    { id: 'why', type: 'transform', config: { value: '{{ok.error.code}}' } },
  ])
  forge.parts.upstream.reply({ content: 'Hi', times: 2 })
  const strict = (await run('strict')).body
  await decide(strict.id, { step_id: 'ok', approved: false })
  await end(strict.id)
  expect(await read(strict.id)).toMatchObject({
    status: 'failed',
    error: { step_id: 'ok', code: 'rejected' },
  })
  const lenient = (await run('lenient')).body
  await decide(lenient.id, { step_id: 'ok', approved: false })
  await end(lenient.id)
  expect(await read(lenient.id)).toMatchObject({ status: 'completed', output: 'rejected' })
})

test('who does not decide in time lets the step fail', async () => {
  await forge.make('hasty', [
    { id: 'ok', type: 'human', config: { timeout_s: 1 }, on_error: { action: 'continue' } },
    { id: 'later', type: 'human', config: { timeout_s: 2 } },
    { id: 'why', type: 'transform', config: { value: '{{ok.error.code}}' } },
  ])
  const { body } = await run('hasty')
  expect(body.status).toBe('waiting_human')
  await end(body.id)
  expect(await read(body.id)).toMatchObject({
    status: 'failed',
    error: { step_id: 'later', code: 'timeout' },
  })
  expect((await steps(body.id)).map(({ status }: { status: string }) => status)).toEqual([
    'failed',
    'failed',
    'completed',
  ])
})

test('a run that waits can be cancelled', async () => {
  await forge.make('waits', [{ id: 'ok', type: 'human', config: {} }])
  const { body } = await run('waits')
  expect((await api('POST', `/api/forge/runs/${body.id}/cancel`)).body.status).toBe('cancelled')
  expect((await decide(body.id, { step_id: 'ok' })).status).toBe(409)
})
