/** Whether a text is JSON, as arguments of a call that came whole are. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * JSON of an object or a list that comes in pieces, and whether it is all there. Arguments may come in thousands of pieces: to parse
 * all of these so far at each would take the square of their length.
 */
export class GrowingJson {
  text = ''
  /** Up to where it was looked at, each character once. */
  #at = 0
  #level = 0
  #inString = false
  #isEscaped = false
  #state: 'open' | 'closed' | 'broken' = 'open'
  #isSound: boolean | undefined

  add(piece: string): void {
    this.text += piece
  }

  get isComplete(): boolean {
    for (; this.#at < this.text.length && this.#state !== 'broken'; this.#at += 1)
      this.#pass(this.text[this.#at]!)
    if (this.#state !== 'closed') return false
    this.#isSound ??= isJson(this.text)
    return this.#isSound
  }

  #pass(sign: string): void {
    if (this.#state === 'closed') {
      if (sign.trim() !== '') this.#state = 'broken'
    } else if (this.#inString) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (sign === '\\') this.#isEscaped = true
      else if (sign === '"') this.#inString = false
    } else if (sign === '"') this.#inString = true
    else if (sign === '{' || sign === '[') this.#level += 1
    else if (sign === '}' || sign === ']') {
      this.#level -= 1
      if (this.#level === 0) this.#state = 'closed'
      else if (this.#level < 0) this.#state = 'broken'
    }
  }
}
