import { expect } from 'vitest'
import type { Cell } from '../cell.ts'
import { verdict } from './asked.ts'

/** A model that declines, or is stopped, where JSON was wanted: that is the answer, and nobody is asked again. */
export async function refusal(cell: Cell): Promise<void> {
  for (const stream of [false, true]) {
    for (const script of cell.provider.refusals) {
      cell.upstream.reset()
      cell.reply(script)
      const answer = await cell.ask({ schema: verdict, stream })
      expect(answer.stop).toBe('refusal')
      expect(cell.calls).toHaveLength(1)
    }
  }
}

/** JSON that the length limit cut off comes as far as it came, and says so. */
export async function cutOff(cell: Cell): Promise<void> {
  for (const stream of [false, true]) {
    cell.upstream.reset()
    cell.reply({ content: '{"verdict":"ye', finishReason: cell.provider.cut })
    const answer = await cell.ask({ schema: verdict, stream })
    expect(answer).toMatchObject({ text: '{"verdict":"ye', stop: 'length' })
    expect(cell.calls).toHaveLength(1)
  }
}

/** A stream that the service itself holds to a schema is not held up: its pieces come while it goes on. */
export async function structuredStream(cell: Cell): Promise<void> {
  const content = ['{"', 'ver', 'dict', '"', ':', '"y', 'es', '"}']
  cell.reply({ content, hangAfter: 6 })
  const left = new AbortController()
  let pieces = 0
  const onPiece = (): void => {
    pieces += 1
    left.abort()
  }
  await cell.ask({ schema: verdict, stream: true, signal: left.signal, onPiece }).catch(() => undefined)
  await cell.sent.closed
  expect(pieces).toBeGreaterThan(0)

  cell.reply({ content })
  const answer = await cell.ask({ schema: verdict, stream: true })
  expect(answer).toMatchObject({ text: content.join(''), stop: 'stop' })
  expect(answer.pieces).toBeGreaterThan(1)
  expect(answer.headers.get('x-params-changed') ?? '').not.toContain('response_format')
}
