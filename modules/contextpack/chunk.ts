/** A part of a document that is found and given as one. */
export interface Chunk {
  /** The headings or fields above it, outermost first. */
  readonly path: readonly string[]
  readonly text: string
}

/** Characters of a chunk, of its path, and chunks of a document, at the most. */
export const longest = { chunk: 1200, path: 200 }

/** Puts neighbouring pieces under one path together up to the length of a chunk, and cuts those that are longer. */
export function pack(pieces: Iterable<Chunk>): Chunk[] {
  const chunks: Chunk[] = []
  let open: { path: readonly string[]; text: string } | undefined
  const close = (): void => {
    if (open && open.text.trim() !== '') chunks.push({ path: open.path, text: open.text.trim() })
    open = undefined
  }
  for (const { path, text } of pieces) {
    const isSame =
      open && open.path.length === path.length && open.path.every((name, at) => name === path[at])
    if (!isSame) close()
    for (const part of cut(text)) {
      if (open && open.text.length + part.length + 2 > longest.chunk) close()
      open = open ? { path, text: `${open.text}\n\n${part}` } : { path, text: part }
    }
  }
  close()
  return chunks
}

/** A text in parts of at most a chunk, at the ends of paragraphs, lines, sentences or words where there are some. */
export function cut(text: string): string[] {
  const parts: string[] = []
  let rest = text.trim()
  while (rest.length > longest.chunk) {
    const at = placeToCut(rest)
    parts.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at).trimStart()
  }
  return rest === '' ? parts : [...parts, rest]
}

const ends = ['\n\n', '\n', '. ', '。', '? ', '! ', ' ']

function placeToCut(text: string): number {
  const window = text.slice(0, longest.chunk)
  for (const end of ends) {
    const at = window.lastIndexOf(end)
    if (at >= longest.chunk / 3) return at + end.length
  }
  const isPair = /[\uD800-\uDBFF]$/.test(window)
  return isPair ? window.length - 1 : window.length
}

/** The name of a heading or field in a path, of bounded length: of a long one the beginning is kept. */
export const nameOf = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, longest.path / 4)

/** A path of bounded length: the innermost names. */
export const pathOf = (names: readonly string[]): readonly string[] => names.slice(-4)
