import type { Message } from '#kernel'
import { type MessageContent, messageTexts, roughTokens, type SealedJson, summaryMessage } from '#kit'
import type { MessageRow, SessionRow, Summary } from './rows.ts'
import type { SessionStore } from './store.ts'

/** Has a model make a shorter text of a longer one, of so many tokens at the most. */
export type Summarise = (text: string, tokens: number) => Promise<string>

interface Remembered {
  readonly row: MessageRow
  readonly message: Message
}

/** About how many tokens a message has. */
export const sizeOf = (content: MessageContent): number =>
  roughTokens({ messages: [{ role: 'user', content } as Message] })

/** What the model gets of earlier messages. Those that got no answer are left out. */
export class Memory {
  readonly #store: SessionStore
  readonly #json: SealedJson

  constructor(store: SessionStore, json: SealedJson) {
    this.#store = store
    this.#json = json
  }

  /** The earlier messages for the next call of a session. With a summary, `summarise` is asked when they are too many. */
  async recall(session: SessionRow, summarise: Summarise): Promise<Message[]> {
    const { strategy, max_tokens: room } = session.memory
    if (strategy === 'none') return []
    const summary = strategy === 'summary' ? await this.#summaryOf(session) : undefined
    const { kept, older } = await this.#newest(session, summary?.upTo ?? 0, room)
    if (strategy === 'window' || older.length === 0)
      return [...told(summary), ...kept.map(({ message }) => message)]
    const next = await this.#fold(session, summary, older, summarise)
    return [...told(next), ...kept.map(({ message }) => message)]
  }

  /** The newest messages that fit, the oldest of them first, and those before them that a summary does not have yet. */
  async #newest(session: SessionRow, after: number, room: number) {
    const kept: Remembered[] = []
    const older: Remembered[] = []
    let left = room
    for await (const row of this.#store.newest(session.id, after)) {
      if (row.status !== 'complete' && row.status !== 'partial') continue
      left -= row.size
      if (left < 0 && session.memory.strategy === 'window') break
      const opened = await this.#json.read(row.content)
      if (!opened) continue
      const message = { role: row.role, content: opened.value } as Message
      const place = left < 0 ? older : kept
      place.push({ row, message })
    }
    // An answer without its question is of no use.
    while (kept.at(-1)?.row.role === 'assistant') older.unshift(kept.pop()!)
    return { kept: kept.reverse(), older: older.reverse() }
  }

  async #fold(
    session: SessionRow,
    before: Summary | undefined,
    older: readonly Remembered[],
    summarise: Summarise,
  ): Promise<Summary> {
    const lines = older.map(({ message }) => `${message.role}: ${messageTexts(message).join('\n')}`)
    const text = [...(before ? [before.text] : []), ...lines].join('\n')
    const tokens = Math.max(50, Math.floor(session.memory.max_tokens / 4))
    const summary = { text: await summarise(text, tokens), upTo: older.at(-1)!.row.seq }
    const stored = await this.#json.write(session, summary)
    await this.#store.change(session.id, (row) => ({ ...row, summary: stored }))
    return summary
  }

  async #summaryOf({ summary }: SessionRow): Promise<Summary | undefined> {
    const opened = summary === undefined ? undefined : await this.#json.read(summary)
    return opened?.value as Summary | undefined
  }
}

const told = (summary: Summary | undefined): Message[] => (summary ? [summaryMessage(summary.text)] : [])
