import { describe, expect, test } from 'vitest'
import { defaultLimits } from '../../config/circuit-limits.ts'
import { ClientGone } from '../../kit/errors.ts'
import { over } from '../../kit/work/cancel.ts'
import { callWith, entryOf } from '../../test/chain.ts'
import { WholeReply } from '../call/reply.ts'
import { Chain } from './chain.ts'
import type { Entry } from './entry.ts'
import type { Hooks } from './hooks.ts'
import { Meter } from './meter.ts'
import { ModuleCircuit } from './module-circuit.ts'

/** What calls get while a module is left out that keeps failing. */

const answer = WholeReply.of({ choices: [] })

function leftOut(more: Partial<Entry> = {}, openMs = 60_000) {
  const asked: string[] = []
  const hooks: Hooks = {
    request(call) {
      asked.push(`request ${call.id}`)
      return undefined
    },
    attempted: (_, call) => void asked.push(`attempted ${call.id}`),
    settled: (_, call) => void asked.push(`settled ${call.id}`),
  }
  const meter = new Meter(new ModuleCircuit({ ...defaultLimits, open: openMs }))
  const entry = entryOf('bad', hooks, { failure: 'open', meter, ...more })
  const chain = new Chain([entry], async () => answer)
  const call = async (id = 'tr_1') => {
    const made = callWith({}, { id })
    const reply = await chain.run(made).catch((error: unknown) => error)
    await chain.attempted({ n: 1 } as never, made)
    await chain.settled({ ending: 'ok' } as never, made)
    return { made, reply }
  }
  return { entry, asked, call }
}

test('calls pass without it, with a note why, and none of its hooks sees them', async () => {
  const { entry, asked, call } = leftOut()
  entry.meter.circuit.trip('a reason')
  const { made, reply } = await call()
  expect(reply).toBe(answer)
  expect(asked).toEqual([])
  expect(made.trace.notes).toEqual([{ module: 'bad', verdict: 'tripped', detail: { reason: 'a reason' } }])
})

test('calls are refused where that is its policy', async () => {
  const { entry, call } = leftOut({ failure: 'closed' })
  entry.meter.circuit.trip('a reason')
  const { made, reply } = await call()
  expect(reply).toMatchObject({
    code: 'circuit_open',
    type: 'module_tripped',
    module: 'bad',
    status: 503,
    retryAfterS: 60,
  })
  expect(entry.meter.refusals).toBe(1)
  expect(made.trace.notes).toContainEqual({
    module: 'bad',
    verdict: 'refused',
    detail: { code: 'circuit_open', status: 503 },
  })
})

test('a call keeps what was decided for it, whatever happens to the module meanwhile', async () => {
  const { entry, asked } = leftOut()
  entry.meter.circuit.trip('a reason')
  const chain = new Chain([entry], async () => answer)
  const call = callWith()
  await chain.run(call)
  entry.meter.circuit.renew({ kind: 'area' } as never)
  await chain.settled({ ending: 'ok' } as never, call)
  expect(asked).toEqual([])
})

describe('when its time is up, one call tries it', () => {
  test.each([
    ['comes to its end', over, 'closed'],
    ['is left by its client', new ClientGone(), 'open'],
  ] as const)('and that %s', async (_, reason, state) => {
    const { entry, asked, call } = leftOut({}, 0)
    entry.meter.circuit.trip('a reason')
    const { made } = await call('tr_probe')
    expect(entry.meter.circuit.state).toBe('half_open')
    await call('tr_other')
    expect(asked).toEqual(['request', 'attempted', 'settled'].map((hook) => `${hook} tr_probe`))
    made.cancel.abort(reason)
    expect(entry.meter.circuit.state).toBe(state)
  })
})

test('a module whose conditions a call does not meet is not left out of it, and told so', async () => {
  const { entry, asked, call } = leftOut({ when: (made) => (made.id === 'tr_1' ? 'users' : undefined) })
  expect((await call('tr_1')).made.trace.skips).toEqual([{ module: 'bad', condition: 'users' }])
  expect((await call('tr_2')).made.trace.skips).toEqual([])
  expect(asked).toEqual(['request', 'attempted', 'settled'].map((hook) => `${hook} tr_2`))
  entry.meter.circuit.trip('a reason')
  expect((await call('tr_1')).made.trace.notes).toEqual([])
})
