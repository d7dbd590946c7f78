import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WholeReply } from '../../../kernel/call/reply.ts'
import type { ModelRequest } from '../../../kit/canonical/forms.ts'
import { translation } from '../../../test/translation.ts'
import openai from '../../openai/manifest.json' with { type: 'json' }
import { forEachPart, joined, partsOf } from './parts.ts'

const callOf = (input: NonNullable<ModelRequest['input']>) =>
  translation(openai as Parameters<typeof translation>[0], { model: 'm', input }, { operation: 'embedding' })
    .call

test('the parts of a list have all of its inputs in order, and none has too many', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), fc.integer({ min: 1, max: 9 }), (input, most) => {
      const parts = partsOf(callOf(input), most)
      expect(parts === undefined).toBe(input.length <= most)
      const lists = (parts ?? []).map(({ request }) => request.input as string[])
      if (parts) expect(lists.flat()).toEqual(input)
      expect(lists.every((list) => list.length > 0 && list.length <= most)).toBe(true)
    }),
  )
})

test('a text, and the tokens of one, are no list', () => {
  expect(partsOf(callOf('a long text'), 1)).toBeUndefined()
  expect(partsOf(callOf([1, 2, 3]), 1)).toBeUndefined()
  expect(partsOf(callOf([[1], [2, 3]]), 1)).toHaveLength(2)
  expect(partsOf(callOf(['a', 'b']), undefined)).toBeUndefined()
})

test('answers are put together in the order of the parts, whichever came first', async () => {
  const replies = await forEachPart([30, 1, 15], async (ms) => {
    await new Promise((done) => setTimeout(done, ms))
    return WholeReply.of({
      model: 'm',
      data: [{ index: 0, embedding: [ms] }],
      usage: { prompt_tokens: ms, total_tokens: ms, billed_units: { input_tokens: ms } },
    })
  })
  expect(joined(replies).body).toEqual({
    model: 'm',
    data: [30, 1, 15].map((ms, index) => ({ index, embedding: [ms] })),
    usage: { prompt_tokens: 46, total_tokens: 46, billed_units: { input_tokens: 46 } },
  })
})

test('after a failure no part is begun', async () => {
  let begun = 0
  const failing = forEachPart(
    Array.from({ length: 20 }, (_, i) => i),
    async (i) => {
      begun += 1
      await Promise.resolve()
      if (i === 0) throw new Error('no')
    },
  )
  await expect(failing).rejects.toThrow('no')
  expect(begun).toBeLessThan(20)
})
