import { sentenceEnd } from '#kit'

/** A part of an answer in Markdown: a sentence of a block, a table, or the place of code that is left out. */
export interface Piece {
  readonly kind: 'text' | 'table' | 'code'
  readonly markdown: string
  /** Whether it begins a block: a paragraph, a heading, an item of a list. */
  readonly isFirst: boolean
}

const fence = /^[ \t>]*(?:[-*+] +|\d{1,9}[.)] +)?(`{3,}|~{3,})/
const row = /^[ \t]*\|/
const blank = /^[ \t]*$/
const heading = /^[ \t]*#{1,6}[ \t]/
const blockStart = /^[ \t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|>|`{3}|~{3}|\|)/
/** The beginning of a line that may become the beginning of a block, of code or of a table. */
const maybeStart = /^[ \t>]*(?:[-*+][ \t]*|\d{1,9}(?:[.)][ \t]*)?|#{1,6})?(?:`{0,2}|~{0,2})$/

/** A longer table is spoken in several parts. */
const longestTable = 20_000

/** Takes an answer apart as it arrives. The pieces are the same however it is cut. */
export class Pieces {
  #rest = ''
  #at: 'start' | 'text' | 'table' | { readonly fence: string } = 'start'
  /** What of the present block is not a piece yet. */
  #open = ''
  #isFirst = true
  #isHeading = false

  push(text: string): Piece[] {
    this.#rest += text
    return [...this.#take(false)]
  }

  end(text: string): Piece[] {
    this.#rest += text
    return [...this.#take(true)]
  }

  *#take(isWhole: boolean): Generator<Piece> {
    for (;;) {
      const [at, rest, open] = [this.#at, this.#rest.length, this.#open.length]
      if (at === 'text') yield* this.#text(isWhole)
      else if (at === 'table') yield* this.#table(isWhole)
      else if (at === 'start') yield* this.#start(isWhole)
      else this.#code(isWhole, at.fence)
      if (at === this.#at && rest === this.#rest.length && open === this.#open.length) return
    }
  }

  /** The first line of what is left; undefined while it may go on. */
  #line(isWhole: boolean): string | undefined {
    const end = this.#rest.indexOf('\n')
    return end >= 0 ? this.#rest.slice(0, end) : isWhole ? this.#rest : undefined
  }

  /** Takes a line away, its end included. */
  #drop(line: string): void {
    this.#rest = this.#rest.slice(line.length + 1)
  }

  *#start(isWhole: boolean): Generator<Piece> {
    if (this.#rest === '') return
    const line = this.#line(isWhole)
    const known = line ?? this.#rest
    const [, mark] = fence.exec(known) ?? []
    if (line === undefined && (mark !== undefined || maybeStart.test(known))) return
    if (line !== undefined && blank.test(line)) this.#drop(line)
    else if (mark !== undefined) {
      this.#drop(line!)
      this.#at = { fence: mark }
      yield { kind: 'code', markdown: '', isFirst: true }
    } else if (row.test(known)) this.#at = 'table'
    else {
      this.#at = 'text'
      this.#isFirst = true
      this.#isHeading = heading.test(known)
      this.#rest = this.#rest.replace(/^[ \t]+/, '')
    }
  }

  #code(isWhole: boolean, fence: string): void {
    const line = this.#line(isWhole)
    if (line === undefined || this.#rest === '') return
    const bare = line.replace(/^[ \t>]*/, '').trimEnd()
    if (bare.length >= fence.length && bare === fence[0]!.repeat(bare.length)) this.#at = 'start'
    this.#drop(line)
  }

  *#table(isWhole: boolean): Generator<Piece> {
    const line = this.#line(isWhole)
    const isRow = line !== undefined && row.test(line) && this.#rest !== ''
    if (isRow) {
      this.#open += `${line}\n`
      this.#drop(line)
    }
    const goesOn = isRow || (line === undefined && (row.test(this.#rest) || blank.test(this.#rest)))
    if (goesOn && this.#open.length < longestTable) return
    yield { kind: 'table', markdown: this.#open, isFirst: true }
    this.#open = ''
    this.#at = 'start'
  }

  *#text(isWhole: boolean): Generator<Piece> {
    const end = this.#rest.indexOf('\n')
    this.#open += end < 0 ? this.#rest : this.#rest.slice(0, end)
    this.#rest = end < 0 ? '' : this.#rest.slice(end)
    const after = this.#after(isWhole)
    if (after === 'joins') {
      this.#rest = this.#rest.replace(/^\n[ \t]*/, '')
      this.#open = `${this.#open.trimEnd()} `
    }
    const isOver = after === 'ends'
    yield* this.#sentences(isOver)
    if (!isOver) return
    this.#rest = this.#rest.slice(1)
    this.#at = 'start'
  }

  /** What the end of a line is to its block; undefined where no line ends, or where that cannot be told yet. */
  #after(isWhole: boolean): 'ends' | 'joins' | undefined {
    if (this.#rest === '') return isWhole ? 'ends' : undefined
    if (this.#isHeading) return 'ends'
    const next = this.#rest.slice(1)
    const end = next.indexOf('\n')
    const line = end < 0 ? next : next.slice(0, end)
    const isKnown = end >= 0 || isWhole
    if (blockStart.test(line)) return 'ends'
    if (!isKnown && maybeStart.test(line)) return undefined
    return blank.test(line) ? 'ends' : 'joins'
  }

  *#sentences(isOver: boolean): Generator<Piece> {
    while (this.#open !== '') {
      const end = sentenceEnd(this.#open, isOver)
      if (end === undefined) return
      yield { kind: 'text', markdown: this.#open.slice(0, end), isFirst: this.#isFirst }
      this.#open = this.#open.slice(end)
      this.#isFirst = false
    }
  }
}
