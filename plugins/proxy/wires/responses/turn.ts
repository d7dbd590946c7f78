import type { ContentPart, Message, ToolCall } from '#kernel'
import { Assembler } from '#kit'
import type { Fields } from './schema.ts'
import { opened, type State, stateOf } from './state.ts'

/** An assistant's consecutive thoughts, texts and calls, joined into one message. */
export class AssistantTurn {
  readonly #state = new Assembler()
  readonly #thoughts: string[] = []
  readonly #parts: ContentPart[] = []
  readonly #calls: ToolCall[] = []
  readonly #extras: Record<string, Fields> = {}

  /** Adds reasoning. False when its sealed state is another's, and was left out. */
  think(text: string, sealedState: string | undefined): boolean {
    const state: State | undefined = sealedState === undefined ? undefined : opened(sealedState)
    if (state?.message) this.#state.add({ choices: [{ index: 0, delta: state.message }] })
    Object.assign(this.#extras, state?.calls)
    if (text !== '' && !state?.message?.reasoning_details) this.#thoughts.push(text)
    return sealedState === undefined || state !== undefined
  }

  say(content: string | readonly ContentPart[]): void {
    for (const part of typeof content === 'string' ? [{ type: 'text', text: content }] : content) {
      const last = this.#parts.at(-1)
      // A text that guards held back may have come in two messages; it is one all the same.
      if (part.type === 'text' && last?.type === 'text')
        this.#parts[this.#parts.length - 1] = { type: 'text', text: `${last.text}${part.text}` }
      else this.#parts.push(part)
    }
  }

  call(id: string, name: string, json: string): void {
    this.#calls.push({ id, type: 'function', function: { name, arguments: json } })
  }

  /** The message; undefined when nothing was said or called: no provider takes bare thoughts. */
  message(): Message | undefined {
    const state = stateOf(this.#state.completion().choices?.[0]?.message)
    const calls = this.#calls.map((call) => ({ ...call, ...this.#extras[call.id] }))
    const content = this.#content()
    if (content === null && calls.length === 0) return undefined
    return {
      role: 'assistant',
      content,
      ...(this.#thoughts.length > 0 && { reasoning_content: this.#thoughts.join('\n\n') }),
      ...state,
      ...(calls.length > 0 && { tool_calls: calls }),
    }
  }

  #content(): string | readonly ContentPart[] | null {
    const [only] = this.#parts
    if (only === undefined) return null
    return this.#parts.length === 1 && only.type === 'text' ? String(only.text) : this.#parts
  }
}
