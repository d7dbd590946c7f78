import { expect } from 'vitest'
import type { Cell } from '../cell.ts'

const more = 'data: {"choices":[{"index":0,"delta":{"content":" more"},"finish_reason":null}]}\n\n'

/** A stream ends with its end mark, though the provider goes on: it is not read any further. */
export async function end(cell: Cell): Promise<void> {
  cell.reply({ content: ['Well', ' then.'], endless: more.repeat(50) })
  const answer = await cell.ask({ stream: true })
  expect(answer).toMatchObject({ text: 'Well then.', stop: 'stop' })
  await cell.sent.closed
  expect(cell.sent.aborted).toBe(true)
  expect(await cell.trace(answer.headers)).toMatchObject({ status: 'ok' })
}

const text = 'A text that is longer than what is left of it. '.repeat(4)

/** Half of an answer, whatever made it half of one, though it came under a good status. */
const halves = [
  { content: text, headers: { 'content-length': '60' } },
  { content: text, splitBytes: 60, cutAfter: 1 },
  { content: text, splitBytes: 60, endAfter: 1, headers: { 'content-length': null } },
]

/** What is JSON, and no answer of anybody. */
const nothings = [{}, [], 'null', 0, 'x', [{}], { id: 'x' }]

/** A plain answer that was cut off, or is none, is the provider's failure and no answer. */
export async function brokenOff(cell: Cell): Promise<void> {
  const { nonsense } = cell.provider
  const bodies = [
    ...nothings,
    ...(cell.wire.operation === 'completion' ? nonsense.completion! : nonsense.chat),
  ]
  for (const script of [...halves, ...bodies.map((body) => ({ body }))]) {
    cell.reply(script)
    const problem = await cell.problem(cell.ask())
    expect([script, problem.status]).toEqual([script, 502])
    expect(problem.message).toContain(cell.provider.name)
  }
}
