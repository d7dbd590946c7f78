import { describe, expect, test } from 'vitest'
import { ChunkReader } from '../streams/chunk-reader.ts'
import { Chunk, envelopeOf, finishChunk } from './chunk.ts'
import type { CompletionChunk } from './forms.ts'

const data: CompletionChunk = { id: 'c', choices: [{ index: 0, delta: { content: 'a' } }] }
const bytes = (): Buffer => Buffer.from(`data: ${JSON.stringify(data)}\n\n`)

/** Writes into the data, as a module might. */
const write = ({ choices }: CompletionChunk): void => void Object.assign(choices[0]!, { index: 7 })

const chunks: Record<string, () => Chunk> = {
  made: () => Chunk.of(structuredClone(data)),
  'of bytes': () => Chunk.fromBytes(bytes()),
  'parsed already': () => Chunk.fromBytes(bytes(), structuredClone(data)),
  'left to a reader': () => Chunk.unread(bytes(), new ChunkReader()),
}

describe.each(Object.entries(chunks))('a chunk, %s,', (name, make) => {
  test('has its data, the same each time it is asked', () => {
    const chunk = make()
    expect(chunk.seen).toEqual(['made', 'parsed already'].includes(name) ? data : undefined)
    expect(chunk.data).toEqual(data)
    expect(chunk.data).toBe(chunk.data)
    expect(chunk.seen).toBe(chunk.data)
  })

  test('can be written to until it is sealed, before it was read or after', () => {
    const chunk = make()
    write(chunk.data)
    expect(chunk.data.choices[0]!.index).toBe(7)
    for (const isRead of [false, true]) {
      const sealed = make()
      if (isRead) expect(sealed.data).toEqual(data)
      expect(sealed.seal()).toBe(sealed)
      expect(sealed.seal()).toBe(sealed)
      expect(() => write(sealed.data)).toThrow(TypeError)
      expect(() => Object.assign(sealed, { events: 7 })).toThrow(TypeError)
      expect(sealed.data).toEqual(data)
    }
  })

  test('gives its bytes as they came, and copies of them once it is sealed', () => {
    const chunk = make()
    const raw = chunk.raw
    expect(raw).toEqual(name === 'made' ? undefined : bytes())
    expect(chunk.raw).toBe(raw)
    chunk.seal().raw?.fill(0)
    expect(chunk.raw).toEqual(name === 'made' ? undefined : bytes())
  })
})

test('with other data it stands for the same events, and has no bytes', () => {
  const counted = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  const other = { ...data, id: 'd' }
  const { raw, events, seen, counted: kept } = Chunk.fromBytes(bytes(), data, counted, 3).with(other)
  expect([raw, events, seen, kept]).toEqual([undefined, 3, other, counted])
})

test('what the provider had counted goes with it', () => {
  const counted = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  expect(Chunk.of(data, counted).counted).toBe(counted)
  expect(Chunk.fromBytes(bytes(), data, counted).counted).toBe(counted)
  expect(Chunk.of(data).counted).toBeUndefined()
})

test('bytes that are no JSON are refused when somebody looks, and not before', () => {
  for (const chunk of [
    Chunk.fromBytes(Buffer.from('data: {\n\n')),
    Chunk.unread(Buffer.from('data: {\n\n'), new ChunkReader()),
  ]) {
    expect(chunk.seal().raw).toHaveLength(9)
    expect(() => chunk.data).toThrow(/not JSON/)
  }
})

test('the end of choices is in the likeness of the chunk before', () => {
  const like = { id: 'c', model: 'm', usage: null, choices: [] }
  expect(envelopeOf(like)).toEqual({ id: 'c', model: 'm' })
  expect(finishChunk(like, [0, 2], 'length').data).toEqual({
    id: 'c',
    model: 'm',
    choices: [
      { index: 0, delta: {}, finish_reason: 'length' },
      { index: 2, delta: {}, finish_reason: 'length' },
    ],
  })
  expect(finishChunk({ ...like, object: 'text_completion' }, [0], 'stop').data.choices).toEqual([
    { index: 0, text: '', finish_reason: 'stop' },
  ])
})
