import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message, Tool } from '#kernel'
import { arranged } from './arrange.ts'
import { marksOf } from './marks.ts'
import { Seen } from './seen.ts'

const system = (content: string): Message => ({ role: 'system', content })
const user = (content: string): Message => ({ role: 'user', content })
const tool = (name: string): Tool => ({ type: 'function', function: { name } })
const arrange = (
  messages: readonly Message[],
  seen = new Seen(),
  tools: readonly Tool[] = [],
  sorts = true,
) => arranged({ model: 'm', messages, tools }, { circle: 'c', seen, sorts })

test('nothing is lost or doubled, instructions stay first, and what follows them stays as it is', () => {
  const message = fc.record({
    role: fc.constantFrom('system', 'developer', 'user', 'assistant'),
    content: fc.constantFrom('a', 'b', 'c'),
  }) as fc.Arbitrary<Message>
  const calls = fc.array(fc.tuple(fc.array(message), fc.array(fc.constantFrom('x', 'y', 'z'))), {
    maxLength: 5,
  })
  fc.assert(
    fc.property(calls, fc.boolean(), (asked, sorts) => {
      const seen = new Seen()
      for (const [messages, names] of asked) {
        const tools = names.map(tool)
        const { changes } = arrange(messages, seen, tools, sorts)
        const after = changes.messages ?? messages
        const begun = messages.findIndex(({ role }) => role === 'user' || role === 'assistant')
        const from = begun < 0 ? messages.length : begun
        expect(after.slice(from)).toEqual(messages.slice(from))
        expect(new Set(after)).toEqual(new Set(messages))
        expect(after).toHaveLength(messages.length)
        expect(new Set(changes.tools ?? tools)).toEqual(new Set(tools))
        if (!sorts) expect(changes).toEqual({})
      }
    }),
  )
})

test('what changes from call to call goes behind what does not, from the second call on', () => {
  const seen = new Seen()
  const first = arrange([system('It is Monday.'), system('Be brief.'), user('Hi')], seen)
  expect([first.changes, first.stable.length]).toEqual([{}, 2])
  const second = arrange([system('It is Tuesday.'), system('Be brief.'), user('Hi')], seen)
  expect(second.changes.messages).toEqual([system('Be brief.'), system('It is Tuesday.'), user('Hi')])
  expect([second.stable, second.isWhole]).toEqual([[system('Be brief.')], false])
})

test('without sorting, what stands before the first change is stable', () => {
  const seen = new Seen()
  arrange([system('Be brief.'), system('It is Monday.'), system('Be kind.')], seen)
  const { stable } = arrange([system('Be brief.'), system('Tuesday.'), system('Be kind.')], seen, [], false)
  expect(stable).toEqual([system('Be brief.')])
})

test('callers of two tenants learn nothing from each other', () => {
  const seen = new Seen()
  arrange([system('Be brief.')], seen)
  const messages = [system('New.'), system('Be brief.')]
  expect(arranged({ model: 'm', messages }, { circle: 'other', seen, sorts: true }).changes).toEqual({})
})

test.each([
  ['never', true, ['system']],
  ['continued', false, ['system']],
  ['continued', true, ['system', 'messages']],
  ['always', false, ['system', 'messages']],
] as const)('the end of a conversation: %s, continued %s', (conversation, isContinued, at) => {
  const said: Message[] = isContinued ? [{ role: 'assistant', content: 'Hello.' }, user('And?')] : []
  const messages = [system('Be brief.'), user('Hi'), ...said]
  expect(marksOf(arrange(messages), { model: 'm', messages }, { ttl: '5m', conversation }).at).toEqual(at)
})

test('nothing is marked behind instructions that change', () => {
  const seen = new Seen()
  arrange([system('Be brief.'), system('Monday.')], seen)
  const messages = [system('Be brief.'), system('Tuesday.'), user('Hi')]
  const marks = marksOf(
    arrange(messages, seen),
    { model: 'm', messages },
    { ttl: '1h', conversation: 'always' },
  )
  expect(marks).toEqual({ at: ['system'], ttl: '1h', system_blocks: 1 })
})
