import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { runs } from '../../../test/suite/runs.ts'
import { openPieces } from './pieces.ts'
import { readShipped } from './shipped.ts'
import type { VocabularyCount } from './vocabulary.ts'

let mistral: VocabularyCount
let ranks: ReadonlyMap<string, number>

beforeAll(async () => {
  mistral = await openPieces('mistral-32k')
  const pieces = (await readShipped('mistral-32k.pieces.br')).split('\n')
  ranks = new Map(pieces.map((piece, rank) => [piece, rank]))
}, 60_000)

/**
 * What SentencePiece does, as plainly as it can be said: of all neighbours that make a piece, those that make the likeliest
 * become one, the first of them first; characters that are no piece are bytes. Nothing is known of words.
 */
function countPlainly(text: string): number {
  if (text === '') return 0
  const parts = [...`▁${text.replaceAll(' ', '▁')}`]
  for (;;) {
    let best = Number.POSITIVE_INFINITY
    let at = -1
    for (let i = 0; i + 1 < parts.length; i++) {
      const rank = ranks.get(parts[i]! + parts[i + 1]!) ?? Number.POSITIVE_INFINITY
      if (rank < best) {
        best = rank
        at = i
      }
    }
    if (at === -1) break
    parts.splice(at, 2, parts[at]! + parts[at + 1]!)
  }
  return parts.reduce((sum, part) => sum + (ranks.has(part) ? 1 : Buffer.byteLength(part)), 0)
}

describe('a vocabulary of pieces', { timeout: 60_000 }, () => {
  it('counts what its makers’ algorithm counts, of any text', () => {
    const fragments = fc.constantFrom(
      ...[
        'the ',
        ' of',
        'ing',
        '   ',
        '\n\n',
        '\t',
        '\r\n',
        '0123',
        '漢字',
        'かな',
        'Ünï',
        '😀',
        '👩‍👩‍👧',
        '▁',
        '\0',
        '</s>',
        'e\u0301',
      ],
      ...['const x = {};', 'नमस्ते', 'سلام', 'สวัสดี', '안녕', '[INST]', '��', 'aaaa', '----', '    return'],
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.array(fragments, { maxLength: 15 }).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(text, (text) => {
        expect(mistral.count(text)).toBe(countPlainly(text))
      }),
      runs(500),
    )
  })

  it('counts long texts and long runs as it counts short ones', () => {
    const line = 'The quick  brown fox,\n\tjumps über 12 漢字 — and back 😀. '
    expect(mistral.count(line.repeat(20))).toBe(countPlainly(line.repeat(20)))
    for (const run of ['a', ' ', '漢', '=']) {
      expect(mistral.count(run.repeat(300))).toBe(countPlainly(run.repeat(300)))
    }
    const started = performance.now()
    expect(mistral.count(line.repeat(2000))).toBeGreaterThan(20_000)
    expect(performance.now() - started).toBeLessThan(20_000)
  })

  it('of a prompt counts its texts each by itself, and its control tokens as one', () => {
    const { count, countPrompt } = mistral
    expect(countPrompt?.('<s>[INST]hello there[/INST]fine</s>')).toBe(
      4 + count('hello there') + count('fine'),
    )
    expect(count('</s>')).toBeGreaterThan(1)
  })
})
