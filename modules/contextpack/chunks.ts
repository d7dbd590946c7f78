import { type Chunk, pack } from './chunk.ts'
import { htmlPieces } from './formats/html.ts'
import { jsonPieces } from './formats/json.ts'
import { markdownPieces } from './formats/markdown.ts'
import type { Format } from './library/rows.ts'

const pieces: Readonly<Record<Format, (content: string) => Iterable<Chunk>>> = {
  text: (content) => content.split(/\n[^\S\n]*\n/).map((text) => ({ path: [], text })),
  markdown: markdownPieces,
  json: jsonPieces,
  html: htmlPieces,
}

/** The chunks of a document in their order, each of a bounded length. Throws a bad request for what is not of its format. */
export const chunksOf = (content: string, format: Format): readonly Chunk[] => pack(pieces[format](content))
