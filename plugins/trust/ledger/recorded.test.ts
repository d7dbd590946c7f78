import { hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '#kit'
import { bytesOf } from './draft-bytes.ts'
import { hashOf } from './end.ts'
import { link } from './linking/link.ts'
import { newLedger } from './new-ledger.ts'
import { checkedOf, recordedOf } from './recorded.ts'
import { entriesOf } from './segment.ts'

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
      const made = Object.entries(digests).map(([name, text]) => [
        name,
        hash('sha256', canonicalJson(JSON.parse(text))),
      ])
      for (const recorded of [checkedOf, recordedOf]) {
        const { entries } = link(bytesOf(recorded(draft(detail, digests), 'gateway')), newLedger())
        const [entry] = entriesOf(entries!)
        expect(entry!.detail).toEqual({ ...detail, ...Object.fromEntries(made) })
        expect(hashOf(entry!)).toBe(entry!.hash)
      }
    }),
    {
      examples: [
        [{}, JSON.parse('{"__proto__": "{}"}')],
        [{ a: '\u007f\u007f"\\' }, { a: '"\u007f"' }],
      ],
    },
  )
})
