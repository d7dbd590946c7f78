import { expect, test } from 'vitest'
import { callWith, entryOf } from '../../test/chain.ts'
import { detectionOf } from '../../test/detection.ts'
import type { Call } from '../call/call.ts'
import { WholeReply } from '../call/reply.ts'
import type { Detection } from '../detect/detect.ts'
import { type ChainHooks, looksElsewhere } from './batches.ts'
import { Chain } from './chain.ts'
import type { Entry } from './entry.ts'
import type { Hooks } from './hooks.ts'

const mail = { pattern: /\w+@\w+/, replacement: '[mail]' }
const guard = (id: string, request: Detection, more: Partial<Entry> = {}): Entry =>
  entryOf(id, { detect: { request } }, { stage: 'inspect', ...more })

/** What a module of a later stage gets back for texts, in a chain with these guards; it is handed the call as `seen` makes it. */
async function brought(
  guards: readonly Entry[],
  texts: readonly string[],
  seen: (call: Call) => Call = (call) => call,
  call = callWith(),
): Promise<readonly string[]> {
  let passed: readonly string[] = []
  const brings = entryOf(
    'handbook',
    {
      async request(call) {
        const own = seen(call)
        const all = texts.map((text) => ({ role: 'system', text }))
        passed = await own.trace.inspectBrought(own, all, 'handbook')
        return undefined
      },
    },
    { stage: 'shape', failure: 'closed' },
  )
  await new Chain([...guards, brings], async () => WholeReply.of({ choices: [] })).run(call)
  return passed
}

test.each([
  ['itself', (call: Call) => call],
  ['in its form that cannot be written to', (call: Call) => call.readOnly],
])('texts come back as the guards let them pass, to a module that has the call %s', async (_, seen) => {
  const call = callWith()
  const guards = [
    guard('first', detectionOf([mail], { reach: 20 })),
    guard('second', detectionOf([{ pattern: /\[mail\]/, replacement: '[none]' }], { reach: 20 })),
  ]
  expect(await brought(guards, ['ask a@b', 'plain', 'or c@d'], seen, call)).toEqual([
    'ask [none]',
    'plain',
    'or [none]',
  ])
  expect(call.trace.findings).toMatchObject([
    { module: 'first', count: 2, spans: [{ origin: 'handbook', role: 'system' }, { origin: 'handbook' }] },
    { module: 'second', count: 2 },
  ])
})

test('a guard may put something around a text, behind its findings; later guards see it', async () => {
  const framing = guard('framing', {
    ...detectionOf([mail], { reach: 20 }),
    frame: (text, { origin }) => `<${origin}>${text}</>`,
  })
  const later = guard('later', detectionOf([{ pattern: /<\w+>/, replacement: '<seen>' }], { reach: 20 }))
  expect(await brought([framing, later], ['ask a@b'])).toEqual(['<seen>ask [mail]</>'])
})

test('a frame that fails refuses the call, or leaves the text, as its module fails', async () => {
  const broken: Detection = {
    ...detectionOf([mail], { reach: 20 }),
    frame: () => {
      throw new Error('no frame')
    },
  }
  await expect(brought([guard('closed', broken, { failure: 'closed' })], ['a'])).rejects.toThrow()
  expect(await brought([guard('open', broken, { failure: 'open' })], ['ask a@b'])).toEqual(['ask [mail]'])
})

test('a guard that blocks refuses the call in its own name, and the request that may be recorded stays', async () => {
  const call = callWith({ messages: [{ role: 'user', content: 'hello' }] })
  const blocks = guard(
    'strict',
    detectionOf([{ ...mail, action: 'block' } as never], { reach: 20, action: 'block' }),
  )
  await expect(brought([blocks], ['ask a@b'], undefined, call)).rejects.toMatchObject({
    module: 'strict',
    status: 400,
  })
  expect(call.trace.request).toEqual(call.request)
})

test('guards that the call does not meet are not asked, and without guards texts are not looked at', async () => {
  const apart = guard('apart', detectionOf([mail], { reach: 20 }), { when: () => 'users' })
  expect(await brought([apart], ['ask a@b'])).toEqual(['ask a@b'])
  expect(await brought([], ['ask a@b'])).toEqual(['ask a@b'])
})

test('a module that brings texts is not asked about them itself', async () => {
  const own = guard('handbook', detectionOf([mail], { reach: 20 }))
  const other = guard('other', detectionOf([{ pattern: /\d+/, replacement: '[number]' }], { reach: 20 }))
  expect(await brought([own, other], ['ask a@b or 12'])).toEqual(['ask a@b or [number]'])
})

test('a guard that fails lets texts pass when it is open, and refuses the call when it is closed', async () => {
  const broken: Detection = {
    reach: 1,
    scan() {
      throw new Error('out of order')
    },
  }
  expect(await brought([guard('open', broken, { failure: 'open' })], ['ask a@b'])).toEqual(['ask a@b'])
  const closed = brought([guard('closed', broken, { failure: 'closed' })], ['ask a@b'])
  await expect(closed).rejects.toMatchObject({ module: 'closed', status: 500 })
})

/** A guard that looks in another thread, by the messages of a request. */
const farGuard = (request: Hooks['request'], more: Partial<Entry> = {}): Entry =>
  entryOf('far', { request, [looksElsewhere]: true } as ChainHooks, { stage: 'inspect', ...more })

test('a guard in another thread gets the texts as the messages of a request, and nothing else of the call', async () => {
  const seen: unknown[] = []
  const far = farGuard((call) => {
    const { messages = [], prompt, input } = call.request
    if (messages[0]?.content === 'ask a@b') seen.push(messages, prompt, input)
    const masked = messages.map((one) => ({
      ...one,
      content: String(one.content).replace(/\w@\w/, '[mail]'),
    }))
    return Promise.resolve(call.withRequest({ messages: masked }))
  })
  const call = callWith({ messages: [{ role: 'user', content: 'own' }], prompt: 'p', input: 'i' })
  expect(await brought([far], ['ask a@b', 'plain'], undefined, call)).toEqual(['ask [mail]', 'plain'])
  expect(seen).toEqual([
    [
      { role: 'system', content: 'ask a@b' },
      { role: 'system', content: 'plain' },
    ],
    undefined,
    undefined,
  ])
  expect(await brought([farGuard(async () => undefined)], ['plain'])).toEqual(['plain'])
})

test('what such a guard takes away is gone, and an answer of its own is its failure', async () => {
  const emptying = farGuard(async (call) => call.withRequest({ messages: [] }))
  expect(await brought([emptying], ['a', 'b'])).toEqual(['', ''])
  const losing = farGuard(async (call) => call.withRequest({ messages: undefined }))
  expect(await brought([losing], ['a'])).toEqual([''])
  let asked = 0
  const answering = farGuard(async () => (asked++ === 0 ? undefined : WholeReply.of({ choices: [] })))
  await expect(brought([answering], ['a'])).rejects.toMatchObject({ code: 'internal_error' })
})

test('the time that a guard looks at texts is a run of it', async () => {
  const call = callWith()
  await brought([guard('first', detectionOf([mail], { reach: 20 }))], ['a@b', 'c@d'], undefined, call)
  expect(call.trace.timings.filter(({ hook }) => hook === 'detect').map(({ module }) => module)).toEqual([
    'first',
  ])
})
