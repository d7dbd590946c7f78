import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Chunk, type CompletionChunk } from '#kernel'
import { Assembler, EventSplitter, encodeEvent } from '#kit'
import { runs } from '../../test/suite/runs.ts'
import { KeptStream } from './kept-stream.ts'

const content = fc.string({ unit: fc.constantFrom('a', 'é', '"', '\n'), maxLength: 3 })
const data = fc.oneof(
  { weight: 4, arbitrary: content.map((text) => choiceOf({ content: text })) },
  content.map((text) => choiceOf({ reasoning_content: text })),
  fc.constant<CompletionChunk>({ id: 'a', choices: [], usage: { prompt_tokens: 1, total_tokens: 2 } }),
)

const choiceOf = (delta: Record<string, string>): CompletionChunk => ({
  id: 'a',
  choices: [{ index: 0, delta, finish_reason: null }],
})

test('the answer is the same whichever chunks were parsed, changed or asked about before', () => {
  const kind = fc.constantFrom('unread', 'unread', 'read', 'made')
  fc.assert(
    fc.property(fc.array(fc.tuple(data, kind, fc.boolean()), { maxLength: 12 }), (chunks) => {
      const events = new EventSplitter().push(Buffer.from(chunks.map(([one]) => encodeEvent(one)).join('')))
      const kept = new KeptStream()
      const whole = new Assembler()
      for (const [i, [one, how, asked]] of chunks.entries()) {
        const parsed = how === 'read' ? one : undefined
        kept.add(how === 'made' ? Chunk.of(one) : Chunk.fromBytes(events[i]!, parsed))
        whole.add(one)
        if (asked) expect(kept.completion()).toEqual(whole.completion())
      }
      expect(kept.completion()).toEqual(chunks.length === 0 ? undefined : whole.completion())
    }),
    runs(300),
  )
})

test('a stream with an event that cannot be read has no answer, however often it is asked for', () => {
  const kept = new KeptStream()
  kept.add(Chunk.fromBytes(Buffer.from(encodeEvent(choiceOf({ content: 'a' })))))
  kept.add(Chunk.fromBytes(Buffer.from('data: {oops\n\n')))
  expect(() => kept.completion()).toThrow(/not JSON/)
  expect(() => kept.completion()).toThrow(/not JSON/)
})
