import { jsonEnd } from './json.ts'

/** A part of a text: code and JSON as they stand there, or lines of prose without a blank line between them. */
export interface Block {
  readonly kind: 'code' | 'json' | 'prose'
  readonly text: string
  /** Whether blank lines stand before it. */
  readonly isApart: boolean
}

const fence = /^[ \t>]*(`{3,}|~{3,})/
const opensJson = /^[ \t]*[[{]/
const blank = /^\s*$/

/** The parts of a text in their order. A fence that is not closed goes on to the end. JSON is prose unless `findsJson`. */
export function blocksOf(text: string, findsJson: boolean): Block[] {
  const lines = text.split('\n')
  const blocks: Block[] = []
  /** Characters that may be looked at for JSON, so that brackets without an end cost no more than once their length. */
  let budget = findsJson ? 4 * text.length : 0
  let prose: string[] = []
  let isApart = false

  function add(kind: Block['kind'], of: readonly string[]): void {
    blocks.push({ kind, text: of.join('\n'), isApart })
    isApart = false
  }
  function endProse(): void {
    if (prose.length > 0) add('prose', prose)
    prose = []
  }
  function jsonLines(from: number): number {
    if (budget <= 0 || !opensJson.test(lines[from]!)) return 0
    const { end, looked } = jsonEnd(lines, from, budget)
    budget -= looked
    return end === undefined ? 0 : end - from
  }

  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!
    const mark = fence.exec(line)?.[1]
    const count = mark === undefined ? jsonLines(at) : fencedLines(lines, at, mark)
    if (count > 0) {
      endProse()
      add(mark === undefined ? 'json' : 'code', lines.slice(at, at + count))
      at += count
      continue
    }
    if (!blank.test(line)) prose.push(line)
    else {
      endProse()
      isApart = true
    }
    at += 1
  }
  endProse()
  return blocks
}

/** The lines of a fenced block, its fences included. */
function fencedLines(lines: readonly string[], from: number, mark: string): number {
  const closes = (line: string): boolean => {
    const bare = line.replace(/^[ \t>]*/, '').trimEnd()
    return bare.startsWith(mark) && bare === mark[0]!.repeat(bare.length)
  }
  for (let at = from + 1; at < lines.length; at++) if (closes(lines[at]!)) return at + 1 - from
  return lines.length - from
}
