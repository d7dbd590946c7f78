import { expect, test } from 'vitest'
import { WholeReply } from '../../kernel/call/reply.ts'
import type { Entry } from '../../kernel/chain/entry.ts'
import type { Hooks } from '../../kernel/chain/hooks.ts'
import { callWith, entryOf } from '../../test/chain.ts'
import { detectionOf } from '../../test/detection.ts'
import { badRequest } from '../errors.ts'
import { dryRun } from './dry-run.ts'

const named = (name: string): Hooks => ({
  pure: true,
  request: (call) => call.with({ request: { ...call.request, user: `${call.request.user ?? ''}${name}` } }),
})

const outcomes = async (...entries: Entry[]) =>
  (await dryRun(entries, callWith())).map(({ module, outcome, known }) => [module, outcome, known])

test('pure modules run on the call as those before have left it, on a meter that is thrown away', async () => {
  const entries = [entryOf('a', named('a')), entryOf('b', named('b'))]
  const call = callWith()
  const [a, b] = await dryRun(entries, call)
  expect(a).toMatchObject({ module: 'a', outcome: 'runs', known: true, hooks: entries[0]!.hooks })
  expect([a!.before, a!.after.request.user]).toEqual([call, 'a'])
  expect([b!.before, b!.after.request.user]).toEqual([a!.after, 'ab'])
  expect(entries.map(({ meter }) => meter.calls)).toEqual([0, 0])
})

test('of a call that is over nothing is left to be done', async () => {
  const call = callWith()
  const ended: unknown[] = []
  call.cancel.onAbort((reason) => ended.push(reason))
  await dryRun([], call)
  expect(ended).toHaveLength(1)
})

test('what is not pure is not run, and what has nothing for requests changes nothing', async () => {
  const fails = () => {
    throw new Error('must not run')
  }
  expect(
    await outcomes(
      entryOf('asks', { request: fails }),
      entryOf('detects', { detect: { request: detectionOf([], { reach: 1 }) } }),
      entryOf('replies', { reply: fails, stream: 'buffer' }),
      entryOf('looks', { detect: { reply: detectionOf([], { reach: 1 }) } }),
      entryOf('seeks', { pure: true, detect: { request: detectionOf([], { reach: 1 }) } }),
    ),
  ).toEqual([
    ['asks', 'runs', false],
    ['detects', 'runs', false],
    ['replies', 'runs', true],
    ['looks', 'runs', true],
    ['seeks', 'runs', true],
  ])
})

test('a module whose condition is not met is skipped, and that condition told', async () => {
  const [step] = await dryRun([entryOf('a', named('a'), { when: () => 'projects' })], callWith())
  expect(step).toMatchObject({ outcome: 'skipped', condition: 'projects', known: true })
  expect(step!.after).toBe(step!.before)
})

test('a module that is left out is passed by or refuses, as its policy says', async () => {
  const out = (failure: Entry['failure']) => {
    const entry = entryOf(failure, named('a'), { failure })
    entry.meter.circuit.trip('a reason')
    return entry
  }
  expect(await outcomes(out('open'), out('closed'), entryOf('b', named('b')))).toEqual([
    ['open', 'tripped', true],
    ['closed', 'refuses', true],
    ['b', 'not_reached', true],
  ])
})

test('a failure of a module is told, and the call goes on without it or is refused', async () => {
  const broken: Hooks = {
    pure: true,
    request() {
      throw new TypeError('with what a call holds')
    },
  }
  const [open, next] = await dryRun(
    [entryOf('open', broken, { failure: 'open' }), entryOf('b', named('b'))],
    callWith(),
  )
  expect(open).toMatchObject({ outcome: 'fails', known: true, fault: 'request: TypeError' })
  expect(next).toMatchObject({ outcome: 'runs', after: { request: { user: 'b' } } })
  const [closed] = await dryRun([entryOf('closed', broken, { failure: 'closed' })], callWith())
  expect(closed).toMatchObject({ outcome: 'refuses', known: true, error: { code: 'internal_error' } })
})

test('who refuses or answers decides, and the modules behind are not reached', async () => {
  const refuses: Hooks = {
    pure: true,
    request() {
      throw badRequest('no')
    },
  }
  const answers: Hooks = { pure: true, request: () => WholeReply.of({ choices: [] }) }
  const steps = await dryRun([entryOf('a', refuses), entryOf('b', named('b'))], callWith())
  expect(steps).toMatchObject([
    { outcome: 'refuses', known: true, error: { code: 'bad_request' } },
    { outcome: 'not_reached', known: true },
  ])
  expect(steps[1]!.after).toBe(steps[1]!.before)
  expect(await outcomes(entryOf('a', answers), entryOf('b', named('b')))).toEqual([
    ['a', 'answers', true],
    ['b', 'not_reached', true],
  ])
})
