import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { claudeReasoning, inPlace, markedSignature, signatureIn } from './reasoning.ts'

const formats = [claudeReasoning, 'google-gemini-v1', 'amazon-bedrock-v1']
const signature = fc.base64String({ minLength: 4 })

describe('a signature', () => {
  test('comes back bare to those who made it, whatever a wire says of its format, and to nobody else', () => {
    fc.assert(
      fc.property(signature, fc.constantFrom(...formats.slice(1)), (bare, format) => {
        // As a wire carries it that knows of no format but Claude's.
        const detail = { signature: markedSignature(format, bare), format: claudeReasoning }
        for (const reader of formats)
          expect(signatureIn(detail, reader)).toBe(reader === format ? bare : undefined)
      }),
    )
  })

  test('of Claude stays as it was, and is nobody else’s', () => {
    fc.assert(
      fc.property(signature, (bare) => {
        const detail = { signature: markedSignature(claudeReasoning, bare), format: claudeReasoning }
        expect(detail.signature).toBe(bare)
        expect(signatureIn(detail, claudeReasoning)).toBe(bare)
        expect(signatureIn(detail, 'google-gemini-v1')).toBeUndefined()
      }),
    )
  })

  test('that is none is nobody’s', () => {
    expect(signatureIn({}, claudeReasoning)).toBeUndefined()
    expect(signatureIn({ signature: '' }, claudeReasoning)).toBeUndefined()
  })
})

test('blocks whose place is known stand there, as far as there are others before them', () => {
  const placed = [
    { index: 3, blocks: ['d'] },
    { index: 0, blocks: ['a'] },
  ]
  expect(inPlace(placed, ['b', 'c', 'e'])).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(inPlace(placed, [])).toEqual(['a', 'd'])
})
