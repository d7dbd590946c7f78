import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Chunk } from '../../kit/canonical/chunk.ts'
import { callWith, entryOf, oneByOne } from '../../test/chain.ts'
import { cut } from '../../test/scanning.ts'
import { runs } from '../../test/suite/runs.ts'
import type { Call } from '../call/call.ts'
import { type Reply, StreamReply, WholeReply } from '../call/reply.ts'
import type { Detection, Span } from '../detect/detect.ts'
import { collect } from '../stream/collect.ts'
import { Chain } from './chain.ts'
import type { Entry } from './entry.ts'
import type { Hooks } from './hooks.ts'

/** A finding that is none is a failure of its module, wherever the text stands and however it comes. */

const text = 'a text of some length, 🦊 included'
const whole = {
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
}

type Odd = Partial<Record<keyof Span, unknown>>

/** One finding that is sound, and what makes it none. */
const sound: Span = { start: 2, end: 6, label: 'odd', action: 'block' }
const odd: readonly (readonly [string, (text: string) => readonly Odd[]])[] = [
  ['ends before it starts', () => [{ ...sound, start: 2, end: 1 }]],
  ['is empty', () => [{ ...sound, end: 2 }]],
  ['begins before the text', () => [{ ...sound, start: -1 }]],
  ['ends behind the text', (text) => [{ ...sound, start: 0, end: text.length + 1 }]],
  ['lies behind the text', (text) => [{ ...sound, start: text.length + 3, end: text.length + 5 }]],
  ['begins at no index', () => [{ ...sound, start: 2.5 }]],
  ['ends at no index', () => [{ ...sound, end: Number.NaN }]],
  ['begins nowhere', () => [{ ...sound, start: undefined }]],
  ['does what is not known', () => [{ ...sound, action: 'explode' }]],
  ['does nothing', () => [{ ...sound, action: undefined }]],
  ['is put in the place of by what is no text', () => [{ ...sound, action: 'replace', replacement: 7 }]],
  ['overlaps the one before', () => [sound, { ...sound, start: 4, end: 8 }]],
  ['comes before the one before', () => [{ ...sound, start: 7, end: 8 }, sound]],
  ['is as severe as none', () => [{ ...sound, severity: 'odd' }]],
  ['is of a type that there is not', () => [{ ...sound, type: 'odd' as never }]],
  ['is of a rule that is no text', () => [{ ...sound, ruleId: 7 }]],
  ['is more than certain', () => [{ ...sound, confidence: 2 }]],
  ['is less than unsure', () => [{ ...sound, confidence: -0.5 }]],
  ['is nothing', () => [null as never]],
]

const detectionOf = (find: (text: string, from: number) => unknown): Detection => ({
  // Some of the text has left by then where it is streamed.
  reach: 12,
  scan: (text, _, __, from) => find(text, from) as readonly Span[],
})

const hooksOf: Record<string, (detection: Detection) => Hooks> = {
  request: (request) => ({ detect: { request } }),
  reply: (reply) => ({ detect: { reply } }),
  reveal: (reveal) => ({ reveal }),
}

const replyOf = (stream: boolean, parts: readonly string[]): Reply =>
  stream
    ? new StreamReply(
        '',
        oneByOne(
          parts.map((content) =>
            Chunk.of({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
          ),
        ),
      )
    : WholeReply.of(whole as never)

/** What a call comes to at the client: its text, or the code it failed with. */
async function outcome(entry: Entry, stream: boolean, parts = [text]): Promise<string> {
  const asked: Call[] = []
  const chain = new Chain([entry], async (call) => {
    asked.push(call)
    return replyOf(stream, parts)
  })
  const call = callWith({ messages: [{ role: 'user', content: text }], stream })
  try {
    const body = await collect(await chain.reveal(await chain.run(call), call))
    expect(asked[0]?.request).toBe(call.request)
    return String(body.choices?.[0]?.message?.content)
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe.each(Object.keys(hooksOf))('a finding in a text of %s', (hook) => {
  const guard = (find: Parameters<typeof detectionOf>[0], failure: Entry['failure']): Entry =>
    entryOf('guard', hooksOf[hook]!(detectionOf(find)), { failure })

  test.each(odd)('that %s: a closed guard refuses, an open one finds nothing more', async (_, find) => {
    for (const stream of [false, true]) {
      const parts = stream ? cut(text, [4, 16, 30]) : [text]
      const closed = guard(find, 'closed')
      expect(await outcome(closed, stream, parts)).toBe('internal_error')
      expect(closed.meter.errors).toBe(1)
      const open = guard(find, 'open')
      expect(await outcome(open, stream, parts)).toBe(text)
      expect(open.meter.errors).toBe(1)
    }
  })

  test.skipIf(hook === 'request')('that begins in what has left is none', async () => {
    const find = (_: string, from: number) => (from > 0 ? [{ ...sound, start: from - 1, end: from + 1 }] : [])
    expect(await outcome(guard(find, 'closed'), true, cut(text, [4, 16, 30]))).toBe('internal_error')
  })

  test('is taken as it is when it is sound', async () => {
    for (const stream of [false, true]) {
      const find = (seen: string, from: number) => (from === 0 && seen.length > 6 ? [sound] : [])
      expect(await outcome(guard(find, 'open'), stream)).toBe('bad_request')
    }
  })
})

test('however findings come, they are taken or are a failure: nothing is lost, nothing said twice', async () => {
  const span = fc.record({
    start: fc.integer({ min: -2, max: text.length + 2 }),
    end: fc.integer({ min: -2, max: text.length + 2 }),
    label: fc.constant('odd'),
    action: fc.constantFrom('replace', 'note', 'block', 'explode'),
    replacement: fc.constantFrom('', 'other', 'much longer than it was'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(span, { maxLength: 4 }), fc.boolean(), async (spans, stream) => {
      const isSound = spans.every(
        ({ start, end, action }, i) =>
          start >= (spans[i - 1]?.end ?? 0) && end > start && end <= text.length && action !== 'explode',
      )
      const find = (_: string, from: number) => spans.filter(({ start }) => from === 0 || start >= from)
      const entry = entryOf('guard', hooksOf.reply!(detectionOf(find)))
      const replaced = spans.toReversed().reduce((seen, { start, end, action, replacement }) => {
        return action === 'replace' ? seen.slice(0, start) + replacement + seen.slice(end) : seen
      }, text)
      const isBlocked = spans.some(({ action }) => action === 'block')
      expect(await outcome(entry, stream)).toBe(
        isSound ? (isBlocked ? 'bad_request' : replaced) : 'internal_error',
      )
    }),
    runs(300),
  )
})

test.each([0, 1])('a finding may be as certain as %i', async (confidence) => {
  const entry = entryOf('m', { detect: { request: detectionOf(() => [{ ...sound, confidence }]) } })
  const call = callWith({ messages: [{ role: 'user', content: text }] })
  await expect(new Chain([entry], async () => replyOf(false, [text])).run(call)).rejects.toMatchObject({
    code: 'bad_request',
    module: 'm',
  })
})
