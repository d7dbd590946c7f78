import type { ToolCall, ToolCallDelta } from '#kernel'
import { GrowingJson } from '../json.ts'
import { callProblem } from './candidate.ts'
import { type AnswerPart, callPart } from './parts.ts'

/** A call, and its other fields. */
interface Open {
  readonly own: Record<string, unknown>
  id: string
  name: string
  readonly json: GrowingJson
}

/** The calls of a streamed answer that have not been sent: on this wire a call comes whole. */
export class OpenCalls {
  readonly #open = new Map<number, Open>()
  readonly #told = new Set<number>()

  add({ index, id, function: fn, type: _, ...own }: ToolCallDelta): void {
    if (this.#told.has(index)) return
    const call = this.#open.get(index) ?? { own: {}, id: '', name: '', json: new GrowingJson() }
    this.#open.set(index, call)
    Object.assign(call.own, own)
    call.id ||= id ?? ''
    call.name ||= fn?.name ?? ''
    call.json.add(fn?.arguments ?? '')
  }

  /** Those that are complete, in order, up to the first that is not; whose names have not come are not. */
  take(): AnswerPart[] {
    const parts: AnswerPart[] = []
    for (const [index, call] of this.#open) {
      const part = call.name === '' || !call.json.isComplete ? undefined : callPart(callOf(call))
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
      problem: broken && callProblem(broken.name, broken.json.text),
    }
  }
}

const callOf = ({ own, id, name, json }: Open): ToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: json.text },
  ...own,
})
