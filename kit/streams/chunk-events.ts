import { Chunk, type EventReader } from '../canonical/chunk.ts'
import type { CompletionChunk } from '../canonical/forms.ts'

/** The events of a chunk, each a chunk of its own, for what counts them one by one; itself where they are not known apart. */
export function eventsOf(chunk: Chunk): readonly Chunk[] {
  const { events, reader } = chunk
  if (events === 1 || !reader?.split) return [chunk]
  return reader.split(chunk.raw!).map((event) => Chunk.unread(event, reader))
}

/** The data of chunks in order. Neighbours of one reader that nothing has looked at are parsed together, and come as one. */
export function* readChunks(chunks: readonly Chunk[]): Generator<CompletionChunk> {
  for (let at = 0, end = 1; at < chunks.length; at = end, end += 1) {
    const first = chunks[at]!
    const reader = readerOf(first)
    while (reader && end < chunks.length && readerOf(chunks[end]!) === reader) end += 1
    if (end === at + 1) yield first.data
    else yield reader!.read(Buffer.concat(chunks.slice(at, end).map(({ raw }) => raw!)))
  }
}

const readerOf = ({ seen, reader }: Chunk): EventReader | undefined => (seen ? undefined : reader)
