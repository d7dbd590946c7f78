import type { CompletionChunk } from '../call/canonical.ts'
import { Chunk } from '../stream/chunk.ts'

/** A chunk as it crosses: a provider's event is parsed over there, unless somebody did it before. */
export interface ChunkView {
  /** The event's bytes, one a character: so they cross as one copy, whatever buffer they are a part of. */
  readonly raw?: string
  readonly data?: CompletionChunk
}

/** Chunks that follow each other, and the number of the first. */
export interface ChunkBatch {
  readonly first: number
  readonly chunks: readonly ChunkView[]
}

export function viewOfChunk({ raw, seen }: Chunk): ChunkView {
  return {
    ...(raw && { raw: raw.toString('latin1') }),
    ...(seen && { data: seen }),
  }
}

export function chunkOf({ raw, data }: ChunkView): Chunk {
  return raw === undefined ? Chunk.of(data!) : Chunk.fromBytes(Buffer.from(raw, 'latin1'), data)
}
