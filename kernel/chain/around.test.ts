import { expect, test } from 'vitest'
import { Call } from '../call/call.ts'
import { type Reply, WholeReply } from '../call/reply.ts'
import { badRequest, type GatewayError } from '../errors.ts'
import { wrapped } from './around.ts'
import type { Entry } from './entry.ts'
import type { Hooks, Next } from './hooks.ts'
import { Meter } from './meter.ts'

const call = new Call({
  id: 'tr_1',
  operation: 'chat',
  wire: 'chat',
  principal: { type: 'admin', keyId: 'key_1', userId: undefined, plan: 'free' },
  request: { model: 'm' },
  context: {
    project: 'default',
    tags: {},
    sessionId: undefined,
    ip: '127.0.0.1',
    provider: undefined,
    headers: {},
    source: 'proxy',
    generation: 1,
  },
})

const entryOf = (around: NonNullable<Hooks['around']>, failure: Entry['failure'] = 'open'): Entry => ({
  id: 'test',
  stage: 'deliver',
  hooks: { around },
  failure,
  when: undefined,
  meter: new Meter(),
})

const answer: Reply = WholeReply.of({ choices: [] })
const answers: Next = async () => answer

/** Fails with these, one after the other. */
function failing(...errors: Error[]): Next {
  return async () => {
    throw errors.shift()!
  }
}

test('an error from inside passes as it is, and is not the failure of the module', async () => {
  const first = badRequest('first')
  const entry = entryOf(async (call, next) => {
    const errors: unknown[] = []
    for (let n = 0; n < 2; n += 1) await next(call).catch((error) => errors.push(error))
    throw errors[0]
  }, 'closed')
  await expect(wrapped(entry, call, failing(first, badRequest('second')))).rejects.toBe(first)
  expect(first.module).toBeUndefined()
  expect([entry.meter.errors, entry.meter.refusals]).toEqual([0, 0])
})

test('what a module that may fail breaks on leaves the answer that was there', async () => {
  const entry = entryOf(async (call, next) => {
    await next(call)
    throw new Error('broken')
  })
  expect(await wrapped(entry, call, answers)).toBe(answer)
  expect(entry.meter.errors).toBe(1)
})

test('what a module that may fail breaks on before it went inside is passed over', async () => {
  const entry = entryOf(async () => {
    throw new Error('broken')
  })
  expect(await wrapped(entry, call, answers)).toBe(answer)
})

test('what it breaks on after a failure inside leaves that failure', async () => {
  const inside = badRequest('inside')
  const entry = entryOf(async (call, next) => {
    await next(call).catch(() => {})
    throw new Error('broken')
  })
  await expect(wrapped(entry, call, failing(inside))).rejects.toBe(inside)
})

test('a module that must not fail refuses the call when it does', async () => {
  const entry = entryOf(async () => {
    throw new Error('broken')
  }, 'closed')
  await expect(wrapped(entry, call, answers)).rejects.toMatchObject({
    code: 'internal_error',
    module: 'test',
  })
})

test('a refusal of its own goes out in the name of the module', async () => {
  const entry = entryOf(async () => {
    throw badRequest('no')
  })
  const error = (await wrapped(entry, call, answers).catch((reason: unknown) => reason)) as GatewayError
  expect(error).toMatchObject({ code: 'bad_request', module: 'test' })
  expect(entry.meter.refusals).toBe(1)
})
