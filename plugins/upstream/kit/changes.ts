import type { Call, Message } from '#kernel'

/** The changes that a request needed, for the caller to know: `a->b`, `-a`. Each change is reported once. */
export class Changes {
  readonly #trace: Call['trace']

  constructor({ trace }: Pick<Call, 'trace'>) {
    this.#trace = trace
  }

  add(change: string): void {
    this.#trace.changeParam(change)
  }

  /** Tells which of these fields a message, or one of its tool calls, has something in: it is not carried. */
  lose(message: Message, fields: readonly string[], fieldsOfCalls: readonly string[]): void {
    for (const field of fields) if (says(message[field])) this.add(`-messages.${field}`)
    for (const call of message.tool_calls ?? []) {
      for (const field of fieldsOfCalls)
        if (Object.hasOwn(call, field)) this.add(`-messages.tool_calls.${field}`)
    }
  }
}

const says = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
