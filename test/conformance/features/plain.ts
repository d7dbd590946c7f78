import { expect } from 'vitest'
import type { Cell } from '../cell.ts'

/** A question and its answer in one piece. */
export async function plain(cell: Cell): Promise<void> {
  cell.reply({ content: 'Grüezi, 世界 👋' })
  const answer = await cell.ask({ turns: [{ text: 'Hello, Bern' }] })
  expect(answer).toMatchObject({ text: 'Grüezi, 世界 👋', stop: 'stop', calls: [] })
  expect(JSON.stringify(cell.sent.body)).toContain('Hello, Bern')
  cell.expectWhole(answer)
}

/** The same answer in the pieces that the provider sends, cut anywhere; those that come at once may leave as one. */
export async function stream(cell: Cell): Promise<void> {
  const content = ['Grü', 'ezi, ', '世界', ' 👋', ' and so', ' on']
  for (const splitBytes of [undefined, 1, 7]) {
    cell.reply({ content, ...(splitBytes && { splitBytes }) })
    const answer = await cell.ask({ stream: true })
    expect(answer).toMatchObject({ text: content.join(''), stop: 'stop' })
    expect(answer.pieces).toBeGreaterThan(1)
    expect(answer.pieces).toBeLessThanOrEqual(content.length)
    cell.expectWhole(answer)
  }
}
