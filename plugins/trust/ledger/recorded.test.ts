import { hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '#kit'
import { newLedger, placed } from './facts.ts'
import { factsIn, recordedOf } from './recorded.ts'

const draft = (detail: Record<string, unknown>, digests: Record<string, string>) => ({
  event_type: 'test.done',
  actor: { type: 'module', id: 'tester' } as const,
  action: 'do',
  detail,
  digests,
})

test('an entry has all details and the hashes of all texts, whatever they are', () => {
  const word = fc.string({ unit: 'grapheme' })
  const json = fc.jsonValue().map((value) => JSON.stringify(value))
  fc.assert(
    fc.property(fc.dictionary(word, word), fc.dictionary(word, json), (detail, digests) => {
      const recorded = recordedOf(draft(detail, digests), 'gateway')
      const made = Object.entries(digests).map(([name, text]) => [
        name,
        hash('sha256', canonicalJson(JSON.parse(text))),
      ])
      const { line } = placed(factsIn(recorded), newLedger())
      expect(JSON.parse(line).detail).toEqual({ ...detail, ...Object.fromEntries(made) })
    }),
    { examples: [[{}, JSON.parse('{"__proto__": "{}"}')]] },
  )
})

test.each(['"\u0000"', '[1]\u0001'])(
  'a text that would part what is recorded is no JSON, and refused: %j',
  (text) => {
    expect(() => recordedOf(draft({}, { text }), 'gateway')).toThrow('digests.text: must be JSON')
  },
)
