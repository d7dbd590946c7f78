import { hash } from 'node:crypto'
import type { Call, Context, Message } from '#kernel'
import { circleOf, messageTexts, type Summarising, summarise } from '#kit'
import type { KeptSummaries } from './kept-summaries.ts'

/** Characters of a conversation that are given to the model: its middle goes first. */
const mostCharacters = 200_000

/** Has a model summarise messages, and uses a summary again for the user whose conversation it is, in whichever thread. */
export class Summaries {
  readonly #complete: Context<unknown>['complete']
  readonly #options: Summarising
  readonly #kept: KeptSummaries
  /** Those that are being made in this thread. */
  readonly #making = new Map<string, Promise<string>>()

  constructor(complete: Context<unknown>['complete'], options: Summarising, kept: KeptSummaries) {
    this.#complete = complete
    this.#options = options
    this.#kept = kept
  }

  /** Rejects when the model fails or says nothing. The caller pays, with its own keys. */
  of(messages: readonly Message[], call: Call): Promise<string> {
    const text = transcriptOf(messages)
    const { model, tokens } = this.#options
    const key = hash('sha256', JSON.stringify([circleOf(call, 'user'), model, tokens, text]))
    const making =
      this.#making.get(key) ?? this.#find(key, text, call).finally(() => this.#making.delete(key))
    this.#making.set(key, making)
    return making
  }

  async #find(key: string, transcript: string, call: Call): Promise<string> {
    const known = await this.#kept.get(key)
    if (known !== undefined) return known
    const options = { on: call, as: 'caller' } as const
    const text = await summarise(this.#complete, this.#options, transcript, options)
    this.#kept.put({ key, user: call.principal.userId, text })
    return text
  }
}

function transcriptOf(messages: readonly Message[]): string {
  const text = messages.map(lineOf).join('\n')
  const half = mostCharacters / 2
  return text.length <= mostCharacters ? text : `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`
}

function lineOf(message: Message): string {
  const { role, tool_calls } = message
  // A tool that takes free text is called without a function.
  const calls = (tool_calls ?? []).map(({ function: called, ...custom }) =>
    called ? `${called.name}(${called.arguments})` : JSON.stringify(custom),
  )
  return `${role}: ${[...messageTexts(message), ...calls].join(' ')}`
}
