import { type Chunk, nameOf, pathOf } from '../chunk.ts'

const heading = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/
const fence = /^ {0,3}(```+|~~~+)/

/** The paragraphs of a Markdown document under their headings. What looks like a heading in fenced code is code. */
export function* markdownPieces(content: string): Generator<Chunk> {
  const headings: string[] = []
  let lines: string[] = []
  let open: string | undefined
  const piece = (): Chunk => ({
    path: pathOf(headings.filter((name) => name !== undefined)),
    text: lines.join('\n'),
  })
  for (const line of content.split(/\r?\n/)) {
    const [, mark] = fence.exec(line) ?? []
    if (mark !== undefined && open === undefined) open = mark
    else if (mark?.startsWith(open!) && line.trim() === mark) open = undefined
    const found = open === undefined ? heading.exec(line) : null
    if (found) {
      yield piece()
      lines = []
      headings.length = Math.min(headings.length, found[1]!.length - 1)
      headings[found[1]!.length - 1] = nameOf(found[2]!.replace(/[ \t]#+[ \t]*$/, ''))
    } else if (line.trim() === '' && open === undefined) {
      yield piece()
      lines = []
    } else lines.push(line)
  }
  yield piece()
}
