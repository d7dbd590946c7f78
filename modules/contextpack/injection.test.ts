import fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import type { Message } from '#kernel'
import { type Approved, fitted, messageOf, placed } from './injection.ts'

const tokensOf = async (message: Message): Promise<number> => countTokens(String(message.content)) + 4

const passages = fc
  .array(
    fc.array(fc.constantFrom('rain', 'Niederschlag', '猫', '<|end|>', '12.5', '\n'), {
      minLength: 1,
      maxLength: 80,
    }),
    {
      maxLength: 8,
    },
  )
  .map((all) => all.map((words, chunk): Approved => ({ document: 'doc_1', chunk, text: words.join(' ') })))

test('the budget is never exceeded, and the best passages that fit are there in their order', async () => {
  await fc.assert(
    fc.asyncProperty(passages, fc.integer({ min: 50, max: 600 }), async (all, most) => {
      const found = await fitted(all, 'system', most, tokensOf)
      const taken = found?.passages.length ?? 0
      if (found) {
        expect(await tokensOf(found.message)).toBe(found.tokens)
        expect(found.tokens).toBeLessThanOrEqual(most)
        expect(found.message).toEqual(messageOf(all.slice(0, taken), 'system'))
      }
      if (taken < all.length) {
        expect(await tokensOf(messageOf(all.slice(0, taken + 1), 'system'))).toBeGreaterThan(most)
      }
    }),
  )
})

test('each passage has its number', () => {
  const { content } = messageOf(
    [1, 2].map((chunk) => ({ document: 'd', chunk, text: `text ${chunk}` })),
    'user',
  )
  expect(content).toMatch(/\n\n\[1\] text 1\n\n\[2\] text 2$/)
})

const [system, developer, user, assistant, tool] = (
  ['system', 'developer', 'user', 'assistant', 'tool'] as const
).map((role): Message => ({ role, content: role })) as [Message, Message, Message, Message, Message]
const added: Message = { role: 'system', content: 'added' }

test.each([
  ['system', [system, developer, user], [system, developer, added, user]],
  ['system', [user, system], [added, user, system]],
  ['user', [system, user, assistant, user], [system, user, assistant, added, user]],
  ['user', [user, assistant, tool], [added, user, assistant, tool]],
] as const)('as %s it stands where it belongs', (position, messages, wanted) => {
  expect(placed({ model: 'm', messages }, added, position)).toEqual(wanted)
})
