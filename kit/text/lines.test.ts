import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { linesOf } from './lines.ts'

async function linesIn(pieces: readonly Uint8Array[]): Promise<string[]> {
  async function* bytes() {
    yield* pieces
  }
  return (await Array.fromAsync(linesOf(bytes()))).map(String)
}

test('however bytes are cut, lines end at line feeds alone', async () => {
  const texts = fc.array(fc.constantFrom('', 'a', 'ä€', '\u2028', '\u2029\r', '😀\v\f'), { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 1, max: 7 }), fc.boolean(), async (lines, size, isEnded) => {
      const bytes = Buffer.from(lines.join('\n') + (isEnded ? '\n' : ''))
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        bytes.subarray(n * size, (n + 1) * size),
      )
      const expected = isEnded || lines.at(-1) !== '' ? lines : lines.slice(0, -1)
      expect(await linesIn(pieces)).toEqual(expected)
    }),
    runs(200),
  )
})
