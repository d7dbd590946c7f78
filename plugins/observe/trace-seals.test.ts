import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AesSecrets } from '../../gateway/secrets/aes-secrets.ts'
import type { TraceRow } from './row.ts'
import { openedRow, sealedRow } from './trace-seals.ts'

const secrets = new AesSecrets(randomBytes(32))
const seal = (text: string) => secrets.encrypt(text)
const seals = {
  namesOf: (text: string) => secrets.names(text),
  tryOpen: async (text: string) => secrets.decrypt(text),
}
const erased = { tryOpen: async () => undefined }

/** Long enough that no two are within each other by chance. */
const word = fc.string({ unit: 'binary', minLength: 8, maxLength: 40 })
const maybe = fc.option(word, { nil: undefined })
const row = fc.record({
  id: fc.constant('tr_1'),
  request_id: maybe,
  session_id: maybe,
  error: fc.option(
    word.map((message) => ({ code: 'bad_request', message, provider_status: undefined, retryable: false })),
    { nil: undefined },
  ),
  attempts: fc.array(fc.record({ n: fc.nat(), provider: fc.constant('openai'), error: maybe }), {
    maxLength: 4,
  }),
}) as unknown as fc.Arbitrary<TraceRow>

const wordsOf = ({ request_id, session_id, error, attempts }: TraceRow): string[] =>
  [request_id, session_id, error?.message, ...attempts.map(({ error }) => error)].filter(
    (one) => one !== undefined,
  )

test('a row comes back as it was, and shows none of its words until then', async () => {
  await fc.assert(
    fc.asyncProperty(row, async (given) => {
      const sealed = sealedRow(given, seals, seal)
      const stored = JSON.stringify(sealed)
      for (const one of wordsOf(given)) expect(stored).not.toContain(JSON.stringify(one).slice(1, -1))
      expect(await openedRow(JSON.parse(stored), seals)).toEqual(JSON.parse(JSON.stringify(given)))
    }),
  )
})

test('without a key, or after an erasure, a row has its facts and none of its words', async () => {
  await fc.assert(
    fc.asyncProperty(row, async (given) => {
      const rows = [sealedRow(given, seals), await openedRow(sealedRow(given, seals, seal), erased)]
      for (const left of rows) {
        expect(left).toMatchObject({ id: given.id, request_id: undefined })
        expect(left.error?.code).toBe(given.error?.code)
        expect(left.attempts.map(({ provider }) => provider)).toEqual(given.attempts.map(() => 'openai'))
        for (const one of wordsOf(given))
          expect(JSON.stringify(left)).not.toContain(JSON.stringify(one).slice(1, -1))
      }
    }),
  )
})

test('rows of one session have one name, and a row without words is left alone', () => {
  const at = (session_id?: string) => ({ id: 'tr_1', session_id, attempts: [] }) as unknown as TraceRow
  const names = ['a', 'a', 'b'].map((session) => sealedRow(at(session), seals, seal).session_id)
  expect([names[0] === names[1], names[0] === names[2]]).toEqual([true, false])
  const plain = at()
  expect(sealedRow(plain, seals, seal)).toBe(plain)
})
