/** A block of code in a text. */
export interface Block {
  /** The first word behind the opening fence, in lower case; empty where there is none. */
  readonly label: string
  /** Behind the line of the opening fence. */
  readonly start: number
  /** Before the line of the closing fence, or where the text ends, or where the block is too long. */
  readonly end: number
  readonly isClosed: boolean
}

/** Characters of the longest block that is examined: parsing them takes some tens of milliseconds. */
export const longestBlock = 20_000
/** A longer line opens no block. */
const longestLine = 500
/** How far back is read to know whether a place is in a block. */
export const blockContext = longestBlock + longestLine

interface Fence {
  /** Where its line begins and ends, the line break included. */
  readonly start: number
  readonly end: number
  readonly mark: string
  readonly info: string
}

/**
 * The blocks that end at `from` or later, by the rules of CommonMark, also in lists and quotations. Of what stands more than
 * `blockContext` before `from` nothing is read, so in a longer text without a labelled block nearby, a fence without a label
 * counts as an opening one.
 */
export function blocksIn(text: string, from: number): Block[] {
  const blocks: Block[] = []
  let open: Fence | undefined
  const close = (end: number, isClosed: boolean): void => {
    const { end: start, info } = open!
    open = undefined
    if (end < from) return
    const cut = Math.min(end, start + longestBlock + 1)
    blocks.push({ label: labelOf(info), start, end: Math.max(cut, start), isClosed: isClosed || cut < end })
  }
  for (const fence of fencesIn(text, Math.max(0, from - blockContext))) {
    if (!open) open = fence
    else if (fence.mark.startsWith(open.mark) && fence.info === '') close(fence.start, true)
    else if (fence.mark.startsWith(open.mark)) {
      // The closing fence of the block before is missing, or stands where nothing was read.
      close(fence.start, true)
      open = fence
    }
  }
  if (open) close(text.length, false)
  return blocks
}

/** Where the part of a text begins that text to come can still make a block of, at `from` or later. */
export function openFrom(text: string, from: number): number {
  const line = text.lastIndexOf('\n') + 1
  const isFence = line >= text.length - longestLine && partOfFence.test(text.slice(line))
  // A fence whose line is not over yet neither opens nor closes.
  const known = isFence ? text.slice(0, line) : text
  const last = blocksIn(known, from).at(-1)
  if (last && !last.isClosed) return Math.max(from, last.start)
  return isFence ? Math.max(from, line) : text.length
}

const lead = '[ \\t>]*(?:(?:[-*+]|\\d{1,9}[.)])[ \\t]+)?'
const fenceLine = new RegExp(`^${lead}(\`{3,}(?!.*\`)|~{3,})[ \\t]*(.*?)[ \\t\\r]*$`)
const partOfFence = new RegExp(
  `^(?:${lead}(?:\`{0,2}|\`{3,}[^\`]*|~{0,2}|~{3,}.*)|[ \\t>]*(?:[-*+]|\\d{1,9}[.)]?))$`,
)

function* fencesIn(text: string, from: number): Generator<Fence> {
  let ticks = text.indexOf('```', from)
  let tildes = text.indexOf('~~~', from)
  while (ticks !== -1 || tildes !== -1) {
    const at = ticks === -1 || (tildes !== -1 && tildes < ticks) ? tildes : ticks
    const start = text.lastIndexOf('\n', at) + 1
    const lineEnd = text.indexOf('\n', at)
    const end = lineEnd === -1 ? text.length : lineEnd + 1
    if (end - start <= longestLine && start >= from) {
      const [, mark, info] = fenceLine.exec(text.slice(start, lineEnd === -1 ? end : lineEnd)) ?? []
      if (mark !== undefined) yield { start, end, mark, info: info! }
    }
    if (ticks !== -1 && ticks < end) ticks = text.indexOf('```', end)
    if (tildes !== -1 && tildes < end) tildes = text.indexOf('~~~', end)
  }
}

/** `js`, `{.python}`, `c++`, `bash title="x"`. */
const labelOf = (info: string): string => /[\w+#-]+/.exec(info)?.[0].toLowerCase() ?? ''
