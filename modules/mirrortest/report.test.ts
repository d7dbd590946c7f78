import { expect, test } from 'vitest'
import { mostSummed, summarise } from './report.ts'
import type { Row } from './row.ts'

test('a report has a bound, however many calls were copied', async () => {
  const side = { provider: 'main', model: 'gpt-4o', latency_ms: 10, output_tokens: 1 }
  let read = 0
  async function* endless(): AsyncGenerator<Row> {
    while (read < 2 * mostSummed) {
      read += 1
      yield {
        id: `mir_${read}`,
        trace_id: `tr_${read}`,
        at: read,
        by: 'mirrortest',
        target: 'rival',
        source: side,
        mirror: side,
        similarity: 1,
      }
    }
  }
  expect(await summarise(endless())).toMatchObject([{ compared: mostSummed, failed: 0 }])
  expect(read).toBeLessThan(2 * mostSummed)
})
