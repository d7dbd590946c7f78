import { hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '#kit'
import { bytesOf, DraftBytes } from './draft-bytes.ts'
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

test('a draft whose details have one name once they are repaired is dropped, and those beside it are entered', () => {
  const drafts = new DraftBytes(1000)
  drafts.add(recordedOf(draft({ n: 1 }, {}), 'gateway'))
  drafts.add(recordedOf(draft({ '\ufffd': 'replaced', '\ud800': 'half' }, { '\ufffd': '{}' }), 'gateway'))
  drafts.add(recordedOf(draft({ n: 3 }, { of: '{}' }), 'gateway'))
  const { entries, dropped } = link(drafts.bytes, newLedger())
  expect(dropped).toEqual([1])
  const made = entriesOf(entries!)
  expect(made.map(({ seq, detail }) => [seq, detail.n])).toEqual([
    [1, 1],
    [2, 3],
  ])
  for (const entry of made) expect(hashOf(entry)).toBe(entry.hash)
})

test('the name of a hash that has half a character is refused, as its place among the others would be another one', () =>
  expect(() => recordedOf(draft({}, { '\ud800': '1', '\ue000': '2' }), 'gateway')).toThrow(
    'half a character',
  ))
