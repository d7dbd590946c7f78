import { sentenceEnd } from '#kit'

/** A part of a text, with the white space behind it: a sentence or the end of a line, or a line of fenced code. */
export interface Passage {
  readonly kind: 'prose' | 'code'
  readonly text: string
}

const fence = /^[ \t>]*(?:[-*+] +|\d{1,9}[.)] +)?(`{3,}|~{3,})/
const maybeFence = /^[ \t>]*(?:[-*+] *|\d{1,9}(?:[.)] *)?)?(?:`{0,2}|~{0,2})$/

/** Takes a text apart as it arrives. The passages are the same however it is cut, and together they are the text. */
export class Passages {
  #rest = ''
  /** The fence of the code that the text is in. */
  #fence: string | undefined
  #isLineStart = true

  /** The passages that this much more of the text completes. */
  push(text: string): Passage[] {
    this.#rest += text
    return [...this.#take(false)]
  }

  /** All that is left when the text ends with this. */
  end(text: string): Passage[] {
    this.#rest += text
    return [...this.#take(true)]
  }

  *#take(isWhole: boolean): Generator<Passage> {
    for (let found = this.#next(isWhole); found; found = this.#next(isWhole)) {
      this.#rest = this.#rest.slice(found.text.length)
      this.#isLineStart = found.text.endsWith('\n')
      yield found
    }
  }

  #next(isWhole: boolean): Passage | undefined {
    const rest = this.#rest
    if (rest === '') return undefined
    const newline = rest.indexOf('\n')
    const hasLine = newline >= 0 || isWhole
    const line = newline >= 0 ? rest.slice(0, newline) : rest
    const whole = newline >= 0 ? rest.slice(0, newline + 1) : rest
    if (this.#fence !== undefined) {
      if (!hasLine) return undefined
      if (closes(line, this.#fence)) this.#fence = undefined
      return { kind: 'code', text: whole }
    }
    if (this.#isLineStart) {
      const [, mark] = fence.exec(line) ?? []
      if (!hasLine && (mark !== undefined || maybeFence.test(line))) return undefined
      if (mark !== undefined) {
        this.#fence = mark
        return { kind: 'code', text: whole }
      }
    }
    const end = line === '' ? 0 : sentenceEnd(line, hasLine)
    if (end === undefined) return undefined
    return { kind: 'prose', text: end === line.length && newline >= 0 ? whole : rest.slice(0, end) }
  }
}

function closes(line: string, fence: string): boolean {
  const bare = line.replace(/^[ \t>]*/, '').trimEnd()
  return bare.length >= fence.length && bare === fence[0]!.repeat(bare.length)
}
