import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/suite/runs.ts'
import { BlockWriter } from './messages/writer.ts'
import { ItemWriter } from './responses/writer.ts'
import { Waiting } from './waiting.ts'

interface Piece {
  readonly lane: string
  readonly n: number
}

test('the lane that has waited longest comes first, with all of its pieces in order', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.constantFrom('a', 'b', 'c', 'd')), { maxLength: 40 }), (steps) => {
      const waiting = new Waiting<Piece>()
      let listed: Piece[] = []
      for (const [n, lane] of steps.entries()) {
        expect(waiting.isEmpty).toBe(listed.length === 0)
        if (lane !== null) {
          waiting.add({ lane, n })
          listed.push({ lane, n })
        } else if (listed.length > 0) {
          const [first] = listed
          expect(waiting.take()).toEqual(listed.filter((piece) => piece.lane === first!.lane))
          listed = listed.filter((piece) => piece.lane !== first!.lane)
        }
      }
    }),
    runs(500),
  )
})

test('each of very many lanes has its turn without a look at all that wait', () => {
  const waiting = new Waiting<Piece>()
  let looks = 0
  const many = 3000
  for (let n = 0; n < 2 * many; n += 1) {
    const lane = `lane ${n % many}`
    waiting.add({
      n,
      get lane() {
        looks += 1
        return lane
      },
    })
  }
  const taken: number[] = []
  while (!waiting.isEmpty) taken.push(...waiting.take().map(({ n }) => n))
  expect(taken).toEqual(Array.from({ length: many }, (_, n) => [n, n + many]).flat())
  expect(looks).toBeLessThan(5 * 2 * many)
})

test('calls whose parts come mixed are not parsed at each of them', () => {
  const { parse } = JSON
  let parsed = 0
  JSON.parse = (...about: Parameters<typeof parse>) => {
    parsed += 1
    return parse(...about)
  }
  const blocks = new BlockWriter()
  const items = new ItemWriter({ emit() {}, grow() {} }, 'r')
  for (const text of ['{"a":"', ...Array<string>(500).fill('}'), '"}'])
    for (const n of [0, 1]) {
      const lane = `call ${n}`
      const block = { type: 'tool_use', id: `c${n}`, name: 'f', input: {} }
      blocks.write({ lane, block, kind: 'input_json_delta', text })
      items.write({
        lane,
        kind: 'function_call',
        about: { call_id: `c${n}` },
        of: { kind: 'arguments' },
        text,
      })
    }
  JSON.parse = parse
  expect(blocks.end()).toContain('content_block_stop')
  expect(items.end('completed')).toMatchObject(
    [0, 1].map((n) => ({ call_id: `c${n}`, arguments: `{"a":"${'}'.repeat(500)}"}` })),
  )
  expect(parsed).toBeLessThanOrEqual(4)
})
