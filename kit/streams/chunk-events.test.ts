import { expect, test } from 'vitest'
import { Chunk } from '../canonical/chunk.ts'
import type { CompletionChunk } from '../canonical/forms.ts'
import { eventsOf, readChunks } from './chunk-events.ts'
import { EventTemplate } from './event-template.ts'

const chunkOf = (content: string): CompletionChunk => ({
  id: 'c',
  choices: [{ index: 0, delta: { content } }],
})
const event = (content: string): Buffer => Buffer.from(`data: ${JSON.stringify(chunkOf(content))}\n\n`)
const template = EventTemplate.of(event('x').toString())!
const make = (...words: string[]): Chunk =>
  Chunk.unread(Buffer.concat(words.map(event)), template, words.length)
const textOf = ({ choices }: CompletionChunk): unknown => choices[0]!.delta?.content

test('a chunk of several events adds what they add, and is each of them where these are counted', () => {
  const chunk = make('a', 'b', 'c')
  expect([chunk.events, textOf(chunk.data)]).toEqual([3, 'abc'])
  expect(chunk.raw).toEqual(Buffer.concat(['a', 'b', 'c'].map(event)))
  const events = eventsOf(make('a', 'b', 'c').seal())
  expect(events.map(({ raw, events, data }) => [raw, events, textOf(data)])).toEqual(
    ['a', 'b', 'c'].map((word) => [event(word), 1, word]),
  )
})

test.each([
  ['made', Chunk.of(chunkOf('a'))],
  ['of one event', Chunk.fromBytes(event('a'))],
  ['of events that were parsed elsewhere', Chunk.fromBytes(event('a'), chunkOf('a'), undefined, 3)],
  ['of a reader that cannot part them', Chunk.unread(event('a'), { read: () => chunkOf('a') }, 3)],
])('a chunk %s stays one', (_, chunk) => {
  expect(eventsOf(chunk)).toEqual([chunk])
})

test('neighbours are parsed together that one template reads and nothing has looked at', () => {
  const seen = make('c', 'd')
  expect(textOf(seen.data)).toBe('cd')
  const other = Chunk.unread(event('h'), EventTemplate.of(event('y').toString())!)
  const chunks = [make('a'), make('b', 'b'), seen, make('e'), Chunk.fromBytes(event('f')), make('g'), other]
  expect([...readChunks(chunks)].map(textOf)).toEqual(['abb', 'cd', 'e', 'f', 'g', 'h'])
  expect([...readChunks([])]).toEqual([])
})
