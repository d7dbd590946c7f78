import {
  type Choice,
  type ChoiceDelta,
  type CompletionChunk,
  type Delta,
  type FinishReason,
  newId,
  type ToolCall,
} from '#kernel'
import { argumentsText, StreamedCalls } from '#provider'

/** What tells of a tool call more than the next piece of its arguments; found without parsing. */
const odd = /"tool_calls"[ :]*\[.*"(?:id|name)"[ :]*"[^"]|"arguments"[ :]*[^ :"]/s

/** The tool calls of a streamed answer, as all clients understand them: see StreamedCalls. */
export class CallReader {
  readonly #choices = new Map<number, StreamedCalls>()

  /** Whether an event that has parts of calls must be read for them. */
  concerns(event: string): boolean {
    return odd.test(event) || [...this.#choices.values()].some(({ isWatching }) => isWatching)
  }

  /** The event with its calls as they should have been; the same object where they were. */
  read(data: CompletionChunk): CompletionChunk {
    const choices = mapped(data.choices, (choice) => this.#choice(choice))
    return choices === data.choices ? data : { ...data, choices }
  }

  #choice(choice: ChoiceDelta): ChoiceDelta {
    const { delta, finish_reason: reason, index } = choice
    const given = delta?.tool_calls
    let calls = this.#choices.get(index)
    if (!calls && !given) return choice
    calls ??= new StreamedCalls()
    this.#choices.set(index, calls)
    const read = given && mapped(given, (part, i) => calls.take(part, i))
    const silent = reason && !isCut(reason) ? calls.end() : []
    if (read === given && silent.length === 0) return choice
    return { ...choice, delta: { ...(delta as Delta), tool_calls: [...(read ?? []), ...silent] } }
  }
}

/**
 * A choice of a plain answer whose calls have ids, and arguments as texts; the same object where they had. A value that is no
 * choice stays, for the kernel to refuse.
 */
export function withSoundCalls(choice: Choice): Choice {
  const given = (choice as Choice | null)?.message?.tool_calls
  if (!Array.isArray(given)) return choice
  const { message, finish_reason: reason } = choice
  const calls = mapped(given as readonly ToolCall[], (call) => soundCall(call, isCut(reason)))
  return calls === given ? choice : { ...choice, message: { ...message!, tool_calls: calls } }
}

function soundCall(call: ToolCall, isCut: boolean): ToolCall {
  if (!call?.function) return call
  const { id, function: fn } = call
  const text = argumentsText(fn.arguments, { isCut })
  if (id && text === fn.arguments) return call
  return { ...call, id: id || newId('call_'), function: { ...fn, arguments: text } }
}

/** Whether an answer was cut off: what is missing at its end was never said. */
const isCut = (reason: FinishReason | null): boolean => reason === 'length' || reason === 'content_filter'

/** The list with each of its items changed; the same list where none was. */
export function mapped<T>(list: readonly T[], change: (item: T, i: number) => T): readonly T[] {
  const changed = list.map(change)
  return changed.every((item, i) => item === list[i]) ? list : changed
}
