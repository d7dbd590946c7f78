import type { Completion, Message, ModelRequest } from '#kernel'

/** Characters of each side that a span holds; texts beyond them are cut, and later ones left out. */
const longest = 32_768
/** Characters that a part takes beside its texts. */
const partSize = 64

type Part = Readonly<Record<string, unknown>>

/** Collects parts until the allowed characters are used up. */
class Allowance {
  #left = longest

  get isUsedUp(): boolean {
    return this.#left <= 0
  }

  take(text: unknown): string {
    const taken = String(text ?? '').slice(0, Math.max(0, this.#left))
    this.#left -= taken.length
    return taken
  }

  /** What `make` gives for each value, as far as there is room. */
  map<T, R>(values: Iterable<T>, make: (value: T) => R): R[] {
    const made: R[] = []
    for (const value of values) {
      if (this.isUsedUp) break
      this.#left -= partSize
      made.push(make(value))
    }
    return made
  }
}

/** The messages of a request as `gen_ai.input.messages` has them, as JSON; images and other media are named and not sent. */
export function inputMessages({ messages, prompt, input }: ModelRequest): string | undefined {
  const all = new Allowance()
  if (messages) return JSON.stringify(all.map(messages, (message) => described(message, all)))
  const said = prompt ?? input
  const texts = (Array.isArray(said) ? said : [said]).filter((text) => typeof text === 'string')
  if (texts.length === 0) return undefined
  return JSON.stringify(all.map(texts, (text) => ({ role: 'user', parts: [textPart(text, all)] })))
}

/** The choices of an answer as `gen_ai.output.messages` has them, as JSON. */
export function outputMessages({ choices }: Completion): string | undefined {
  if (!choices?.length) return undefined
  const all = new Allowance()
  const messages = all.map(choices, ({ message, text, finish_reason }) => ({
    ...(message ? described(message, all) : { role: 'assistant', parts: [textPart(text, all)] }),
    ...(finish_reason && { finish_reason: all.take(finish_reason) }),
  }))
  return JSON.stringify(messages)
}

function described(message: Message, all: Allowance): { role: string; parts: Part[] } {
  const { role, content, reasoning_content, refusal, tool_calls, tool_call_id } = message
  const parts: Part[] = []
  if (reasoning_content) parts.push({ type: 'reasoning', content: all.take(reasoning_content) })
  const texts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  parts.push(
    ...all.map(texts, (part): Part => {
      if (typeof part.text !== 'string') return { type: all.take(part.type) }
      if (role !== 'tool') return textPart(part.text, all)
      return { type: 'tool_call_response', id: all.take(tool_call_id), response: all.take(part.text) }
    }),
  )
  if (refusal) parts.push(textPart(refusal, all))
  parts.push(
    ...all.map(tool_calls ?? [], ({ id, function: called }) => ({
      type: 'tool_call',
      id: all.take(id),
      name: all.take(called?.name),
      arguments: all.take(called?.arguments),
    })),
  )
  return { role, parts }
}

const textPart = (text: unknown, all: Allowance): Part => ({ type: 'text', content: all.take(text) })
