import { expect, vi } from 'vitest'
import type { Cell } from '../cell.ts'

/** A trace is written when the call is over, and the machine may be busy. */
const slowly = { timeout: 10_000 }

/** What the provider answers, and what the client gets. */
const statuses = [
  [400, 400],
  [401, 502],
  [429, 429],
  [500, 502],
] as const

/** Errors of the provider, in the client's own form, before anything was said. */
export async function errors(cell: Cell): Promise<void> {
  for (const stream of [false, true]) {
    for (const [given, gets] of statuses) {
      cell.reply({
        status: given,
        error: { message: 'It said so.' },
        ...(given === 429 && { retryAfter: 7 }),
      })
      const problem = await cell.problem(cell.ask({ stream }))
      expect(problem).toMatchObject({ status: gets, type: expect.any(String) })
      expect(problem.message).toContain(given === 401 ? 'refused' : 'It said so.')
      if (given === 429) expect(problem.headers?.get('retry-after')).toBe('7')
    }
  }
}

/** A stream that breaks after its first words is an error to the client, never a normal end. */
export async function midStreamError(cell: Cell): Promise<void> {
  const { broken } = cell.provider
  const chunks = cell.wire.operation === 'completion' ? broken.completion! : broken.chat
  for (const script of [{ chunks }, { content: ['Well', ' it', ' is', ' as', ' it', ' was'], cutAfter: 5 }]) {
    cell.reply({ ...script, gapMs: 10 })
    let pieces = 0
    const onPiece = (): void => {
      pieces += 1
    }
    const problem = await cell.problem(cell.ask({ stream: true, onPiece }))
    expect(pieces).toBeGreaterThan(0)
    expect(problem.status).toBeUndefined()
    expect(problem.type).toEqual(expect.any(String))
  }
}

/** A client that leaves takes the provider's work with it, and pays for what was done. */
export async function abort(cell: Cell): Promise<void> {
  cell.reply({ hang: true })
  const plain = new AbortController()
  const waiting = cell.ask({ signal: plain.signal })
  const request = await cell.upstream.received(1)
  plain.abort()
  await expect(waiting).rejects.toThrow()
  await request.closed
  expect(request.aborted).toBe(true)

  const usage = cell.provider.usage({ input: 4321, output: 600, cached: 0 })
  cell.reply({ content: Array.from({ length: 200 }, (_, n) => `w${n} `), gapMs: 5, usage })
  const streamed = new AbortController()
  const onPiece = (): void => streamed.abort()
  await cell.ask({ stream: true, signal: streamed.signal, onPiece }).catch(() => undefined)
  await cell.sent.closed
  expect(cell.sent.aborted).toBe(true)
  const trace = await vi.waitFor(async () => {
    const { body } = await cell.gateway.api('GET', '/api/observe/traces?limit=1')
    expect(body.traces[0]).toMatchObject({ status: 'client_abort', stream: true })
    return body.traces[0]
  }, slowly)
  expect(trace.usage).toMatchObject({
    input: cell.provider.countsEarly ? 4321 : expect.any(Number),
    source: 'estimated',
  })
  expect(trace.usage.input).toBeGreaterThan(0)
}
