import { expect, test } from 'vitest'
import { callWith, entryOf } from '../../test/chain.ts'
import { WholeReply } from '../call/reply.ts'
import { Chain } from './chain.ts'
import type { Hooks } from './hooks.ts'

const answer = WholeReply.of({ choices: [] })

function idling() {
  const asked: string[] = []
  const state: { idle: () => boolean } = { idle: () => true }
  const hooks: Hooks = {
    idle: () => state.idle(),
    request: () => void asked.push('request') as undefined,
    attempt: () => void asked.push('attempt'),
    settled: () => void asked.push('settled'),
    reply: () => void asked.push('reply') as undefined,
    stream: 'buffer',
  }
  const entry = entryOf('rules', hooks)
  const chain = new Chain([entry], async () => answer)
  const steps = {
    run: (call: ReturnType<typeof callWith>) => chain.run(call),
    attempt: (call: ReturnType<typeof callWith>) => chain.attempt({ n: 1 } as never, call, {}),
    settled: (call: ReturnType<typeof callWith>) => chain.settled({ ending: 'ok' } as never, call),
  }
  return { asked, state, entry, ...steps }
}

test('calls pass a module by while it is idle, and leave nothing of it in their traces', async () => {
  const { asked, run, attempt, settled } = idling()
  const call = callWith({})
  expect(await run(call)).toBe(answer)
  await attempt(call)
  await settled(call)
  expect([asked, call.trace.timings]).toEqual([[], []])
})

test('a call that met a module has it to its end, although it is idle by then', async () => {
  const { asked, state, run, attempt, settled } = idling()
  state.idle = () => false
  const call = callWith({})
  await run(call)
  state.idle = () => true
  await attempt(call)
  await settled(call)
  expect(asked).toEqual(['request', 'reply', 'attempt', 'settled'])
})

test('a call that began while it was idle may meet its later hooks', async () => {
  const { asked, state, run, settled } = idling()
  const call = callWith({})
  await run(call)
  state.idle = () => false
  await settled(call)
  expect(asked).toEqual(['settled'])
})

test('a module that fails over the question is asked as if it had something to do', async () => {
  const { asked, state, entry, run } = idling()
  state.idle = () => {
    throw new Error('broken')
  }
  await run(callWith({}))
  expect(asked).toContain('request')
  expect(entry.meter.errors).toBeGreaterThan(0)
})
