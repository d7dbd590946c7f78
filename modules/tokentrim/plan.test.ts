import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '#kernel'
import { roughTokens } from '#kit'
import { cutUntilFits, dropUntilFits } from './fit.ts'
import { droppable, type Keeping } from './plan.ts'

const text = fc.string({ maxLength: 300 })
const pin = '[pin]'

/** Ids as clients make them: some begin anew with every turn. */
const step = fc.record({
  ids: fc.uniqueArray(fc.constantFrom('call_0', 'call_1', 'call_2', 'call_3'), {
    minLength: 1,
    maxLength: 3,
  }),
  said: fc.option(text, { nil: null }),
  result: text,
  between: fc.option(fc.constantFrom<Message['role']>('user', 'system'), { nil: undefined, freq: 6 }),
})

const turn = fc.record({
  asked: fc.array(text, { minLength: 1, maxLength: 2 }),
  isPinned: fc.boolean(),
  steps: fc.array(step, { maxLength: 4 }),
  answered: fc.option(text, { nil: undefined }),
})

/** A sound conversation: every result follows its call, and parallel calls may be answered around another message. */
const conversation = fc
  .record({
    system: fc.option(text, { nil: undefined }),
    turns: fc.array(turn, { minLength: 1, maxLength: 8 }),
  })
  .map(({ system, turns }): Message[] => [
    ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
    ...turns.flatMap(({ asked, isPinned, steps, answered }): Message[] => [
      ...asked.map((said) => ({ role: 'user' as const, content: isPinned ? pin + said : said })),
      ...steps.flatMap(({ ids, said, result, between }): Message[] => [
        {
          role: 'assistant',
          content: said,
          tool_calls: ids.map((id) => ({
            id,
            type: 'function',
            function: { name: 'look', arguments: '{}' },
          })),
        },
        ...ids.flatMap((id, n): Message[] => [
          { role: 'tool', tool_call_id: id, content: result },
          ...(between && n === 0 && ids.length > 1 ? [{ role: between, content: 'go on' }] : []),
        ]),
      ]),
      ...(answered === undefined ? [] : [{ role: 'assistant' as const, content: answered }]),
    ]),
  ])

const keeping = fc.record({
  from: fc.constantFrom<Keeping['from']>('oldest', 'middle'),
  turns: fc.integer({ min: 1, max: 3 }),
  isPinned: fc.constant(({ content }: Message) => String(content).startsWith(pin)),
})

/** Results whose call is not before them, and calls whose results are gone. */
function partedIn(messages: readonly Message[]): number {
  let open: string[] = []
  let parted = 0
  for (const { role, tool_calls, tool_call_id } of messages) {
    if (role === 'assistant') {
      parted += open.length
      open = (tool_calls ?? []).map(({ id }) => id)
    } else if (role === 'tool') {
      if (!open.includes(tool_call_id!)) parted += 1
      open = open.filter((id) => id !== tool_call_id)
    }
  }
  return parted + open.length
}

const count = (messages: readonly Message[]) => Promise.resolve(roughTokens({ messages }))

test('no call is parted from its results, what must stay stays, and what is left fits', async () => {
  await fc.assert(
    fc.asyncProperty(
      conversation,
      keeping,
      fc.nat(1500),
      fc.integer({ min: 1, max: 4 }),
      async (messages, how, most, by) => {
        expect(partedIn(messages)).toBe(0)
        const order = droppable(messages, how)
        const fitted = await dropUntilFits(messages, order, { count, most }, by)
        const never = messages.filter((_, at) => !order.flat().includes(at))
        if (!fitted) {
          expect(await count(never)).toBeGreaterThan(most)
          return
        }
        expect(await count(fitted.messages)).toBeLessThanOrEqual(most)
        expect(partedIn(fitted.messages)).toBe(0)
        expect(fitted.messages).toEqual(messages.filter((_, at) => !fitted.dropped.has(at)))
        const must = messages.filter((message) => message.role === 'system' || how.isPinned(message))
        for (const message of [...must, messages.findLast(({ role }) => role !== 'system')!])
          expect(fitted.messages).toContain(message)
      },
    ),
    { numRuns: 300 },
  )
})

test('a result without a call goes first, and all of it with the first message that goes', async () => {
  const messages: Message[] = [
    { role: 'tool', tool_call_id: 'gone', content: 'what?' },
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'two' },
    { role: 'user', content: 'three' },
  ]
  const how: Keeping = { from: 'oldest', turns: 1, isPinned: () => false }
  expect(droppable(messages, how)).toEqual([[0], [1, 2]])
})

test('a message whose calls are null is one that calls nothing', () => {
  const empty = { tool_calls: null, function_call: null } as object
  const messages: Message[] = ['one', 'two'].flatMap((content): Message[] => [
    { role: 'user', content, ...empty },
    { role: 'assistant', content, ...empty },
  ])
  expect(droppable(messages, { from: 'oldest', turns: 1, isPinned: () => false })[0]).toEqual([0, 1])
})

test('what ends the conversation stays, also when its calls stand before a newer question', () => {
  const called = (id: string) => ({
    id,
    type: 'function' as const,
    function: { name: 'look', arguments: '{}' },
  })
  const messages: Message[] = [
    { role: 'user', content: 'find it' },
    { role: 'assistant', content: null, tool_calls: ['a', 'b'].map(called) },
    { role: 'tool', tool_call_id: 'a', content: 'found' },
    { role: 'user', content: 'go on' },
    { role: 'tool', tool_call_id: 'b', content: 'found as well' },
  ]
  expect(droppable(messages, { from: 'oldest', turns: 1, isPinned: () => false })).toEqual([[0]])
})

test('the middle goes before the beginning and the end', () => {
  const messages = Array.from({ length: 5 }, (_, n): Message => ({ role: 'user', content: `${n}` })).flatMap(
    (asked): Message[] => [asked, { role: 'assistant', content: 'yes' }],
  )
  const how: Keeping = { from: 'middle', turns: 1, isPinned: () => false }
  expect(droppable(messages, how).slice(0, 4)).toEqual([
    [2, 3],
    [4, 5],
    [0, 1],
    [6, 7],
  ])
})

test('in a long loop of tools the question and the last results stay, the oldest results go', () => {
  const calls = (id: string): Message[] => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: id, content: 'found' },
  ]
  const messages: Message[] = [{ role: 'user', content: 'find it' }, ...['a', 'b', 'c'].flatMap(calls)]
  expect(droppable(messages, { from: 'oldest', turns: 1, isPinned: () => false })).toEqual([
    [1, 2],
    [3, 4],
  ])
})

test('a long text loses its middle, between whole characters, until it fits', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme', minLength: 0, maxLength: 4000 }), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.integer({ min: 700, max: 3000 }),
      async (texts, most) => {
        const messages = texts.map((content): Message => ({ role: 'user', content }))
        const cut = await cutUntilFits(messages, { count, most }, () => false)
        if (!cut) return
        expect(await count(cut)).toBeLessThanOrEqual(most)
        for (const [at, { content }] of cut.entries()) {
          const said = content as string
          const [head, tail] = said.split(/\n\[… \d+ characters left out …\]\n/)
          expect(texts[at]!.startsWith(head!)).toBe(true)
          if (tail !== undefined) expect(texts[at]!.endsWith(tail)).toBe(true)
          expect(head!.isWellFormed() || !texts[at]!.isWellFormed()).toBe(true)
        }
      },
    ),
    { numRuns: 60 },
  )
})
