import { type ReadableSpan, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'
import { createLog } from '../../gateway/log.ts'
import { Queue } from './queue.ts'

const log = createLog({ level: 'silent' })
const span = { attributes: { 'gen_ai.request.model': 'gpt-4o' } }
const spans = (count: number, text = '') =>
  Array.from({ length: count }, () => ({ attributes: { ...span.attributes, text } }))

/** An exporter that is done when it is told to be. */
function heldExporter() {
  const done: ((error?: Error) => void)[] = []
  const exporter: SpanExporter = {
    export: (_, tell) => done.push((error) => tell(error ? { code: 1, error } : { code: 0 })),
    shutdown: async () => {},
  }
  return { exporter, done }
}

const readable = (attributes: Record<string, string>): ReadableSpan =>
  new TracerProvider().getTracer('test').startSpan('test', { attributes }) as unknown as ReadableSpan

test('2048 spans wait at the most, and a call that does not fit is dropped whole', () => {
  const queue = new Queue({ count: 0 }, log)
  expect(queue.take(spans(2047))).toBe(true)
  expect(queue.take(spans(2))).toBe(false)
  expect(queue.take(spans(1))).toBe(true)
  expect(queue.take(spans(1))).toBe(false)
  expect(queue.status).toMatchObject({ depth: 2048, dropped: 3 })
})

test('texts take 16 MB at the most', () => {
  const queue = new Queue({ count: 0 }, log)
  const texts = 'x'.repeat(65_536)
  let taken = 0
  while (queue.take(spans(1, texts))) taken += 1
  expect(taken * (65_536 + 1024)).toBeLessThanOrEqual(16 * 1024 * 1024)
  expect(taken).toBeGreaterThan(240)
  expect(queue.status.bytes).toBeLessThanOrEqual(16 * 1024 * 1024)
})

test('what was sent makes room, and what failed makes room and is counted', () => {
  const queue = new Queue({ count: 0 }, log)
  const { exporter, done } = heldExporter()
  const watched = queue.watched(exporter)
  const attributes = { text: 'x'.repeat(100) }
  expect(queue.take([{ attributes }, { attributes }])).toBe(true)
  const results: number[] = []
  for (let n = 0; n < 2; n += 1) watched.export([readable(attributes)], ({ code }) => results.push(code))
  expect(queue.status).toMatchObject({ depth: 2, dropped: 0 })
  done[0]!()
  done[1]!(new Error('no'))
  expect(results).toEqual([0, 1])
  expect(queue.status).toEqual({ depth: 0, bytes: 0, dropped: 1 })
})
