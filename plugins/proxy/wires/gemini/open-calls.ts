import type { ToolCall, ToolCallDelta } from '#kernel'
import { callProblem } from './candidate.ts'
import { type AnswerPart, callPart } from './parts.ts'

/** A call with its other fields, and whether its arguments can be an object by now. */
interface Open {
  readonly own: Record<string, unknown>
  id: string
  name: string
  json: string
  readonly end: ObjectEnd
}

/** The calls of a streamed answer that have not been sent: on this wire a call comes whole. */
export class OpenCalls {
  readonly #open = new Map<number, Open>()
  readonly #told = new Set<number>()

  add({ index, id, function: fn, type: _, ...own }: ToolCallDelta): void {
    if (this.#told.has(index)) return
    const call = this.#open.get(index) ?? { own: {}, id: '', name: '', json: '', end: new ObjectEnd() }
    this.#open.set(index, call)
    Object.assign(call.own, own)
    call.id ||= id ?? ''
    call.name ||= fn?.name ?? ''
    const more = fn?.arguments ?? ''
    call.json += more
    call.end.add(more)
  }

  /** Those that are complete, in order, up to the first that is not; whose names have not come are not. */
  take(): AnswerPart[] {
    const parts: AnswerPart[] = []
    for (const [index, call] of this.#open) {
      const part = call.name === '' || !call.end.isThere ? undefined : callPart(callOf(call))
      if (!part) break
      this.#open.delete(index)
      this.#told.add(index)
      parts.push(part)
    }
    return parts
  }

  /** All that are left, and what is wrong with one that is no call. */
  end(): { readonly parts: AnswerPart[]; readonly problem: string | undefined } {
    const left = [...this.#open.values()].map((call) => ({ call, part: callPart(callOf(call)) }))
    this.#open.clear()
    const broken = left.find(({ part }) => !part)?.call
    return {
      parts: left.flatMap(({ part }) => (part ? [part] : [])),
      problem: broken && callProblem(broken.name, broken.json),
    }
  }
}

const callOf = ({ own, id, name, json }: Open): ToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: json },
  ...own,
})

/**
 * Whether JSON that comes in pieces may have come to the end of its object. Arguments come in thousands of them, and to parse
 * all of these so far at each would take the square of their length.
 */
class ObjectEnd {
  #level = 0
  #inText = false
  #isEscaped = false
  #hasBegun = false
  isThere = false

  add(piece: string): void {
    for (let at = 0; at < piece.length; at += 1) {
      const sign = piece[at]!
      if (this.#isEscaped) this.#isEscaped = false
      else if (this.#inText && sign === '\\') this.#isEscaped = true
      else if (sign === '"') this.#inText = !this.#inText
      else if (!this.#inText) this.#pass(sign)
    }
    this.isThere = this.#hasBegun && this.#level === 0
  }

  #pass(sign: string): void {
    if (sign === '{' || sign === '[') {
      this.#hasBegun = true
      this.#level += 1
    } else if (sign === '}' || sign === ']') this.#level -= 1
  }
}
