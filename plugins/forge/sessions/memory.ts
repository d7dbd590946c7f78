import type { Message } from '#kernel'
import { type MessageContent, messageTexts, roughTokens, type SealedJson, summaryMessage } from '#kit'
import type { MessageRow, SessionRow, Summary } from './rows.ts'
import type { SessionStore } from './store.ts'

/** Has a model make a shorter text of a longer one, of so many tokens at the most; undefined where that fails. */
export type Summarise = (text: string, tokens: number) => Promise<string | undefined>

/** Bounds of a summary: tokens of messages that one call is given, which every model has room for; its own; calls for one message. */
const roomOfPart = 12_000
const mostOfSummary = 4000
const mostParts = 8

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

  /**
   * The earlier messages for the next call of a session. With a summary, `summarise` is asked when they are too many; where that
   * fails, those that it would have stood for are left out, and it is asked again for the next message.
   */
  async recall(session: SessionRow, summarise: Summarise): Promise<Message[]> {
    const { strategy, max_tokens: room } = session.memory
    if (strategy === 'none') return []
    const before = strategy === 'summary' ? await this.#summaryOf(session) : undefined
    const kept = await this.#newest(session, before?.upTo ?? 0, room)
    const end = kept[0]?.row.seq ?? Number.POSITIVE_INFINITY
    const summary = strategy === 'summary' ? await this.#fold(session, before, end, summarise) : undefined
    return [...told(summary), ...kept.map(({ message }) => message)]
  }

  /** The newest messages that fit, the oldest of them first. */
  async #newest(session: SessionRow, after: number, room: number): Promise<Remembered[]> {
    const kept: Remembered[] = []
    let left = room
    for await (const row of this.#store.newest(session.id, after)) {
      if (!isAnswered(row)) continue
      left -= row.size
      if (left < 0) break
      const remembered = await this.#opened(row)
      if (remembered) kept.push(remembered)
    }
    // An answer without its question is of no use.
    while (kept.at(-1)?.row.role === 'assistant') kept.pop()
    return kept.reverse()
  }

  /** A summary of the messages before `end`. Each part of them that went into it is stored, and not read again. */
  async #fold(
    session: SessionRow,
    before: Summary | undefined,
    end: number,
    summarise: Summarise,
  ): Promise<Summary | undefined> {
    const tokens = Math.min(mostOfSummary, Math.max(50, Math.floor(session.memory.max_tokens / 4)))
    let summary = before
    for (let parts = 0; parts < mostParts; parts += 1) {
      const part = await this.#part(session, summary?.upTo ?? 0, end)
      if (part.length === 0) break
      const lines = part.map(({ message }) => `${message.role}: ${messageTexts(message).join('\n')}`)
      const text = await summarise([...(summary ? [summary.text] : []), ...lines].join('\n'), tokens)
      if (text === undefined) break
      summary = { text, upTo: part.at(-1)!.row.seq }
      const stored = await this.#json.write(session, summary)
      await this.#store.change(session.id, (row) => ({ ...row, summary: stored }))
    }
    return summary
  }

  /** The first of the messages behind `after` and before `end`, as many as a call has room for, and one at least. */
  async #part(session: SessionRow, after: number, end: number): Promise<Remembered[]> {
    const part: Remembered[] = []
    let left = roomOfPart
    for await (const row of this.#store.oldest(session.id, after)) {
      if (row.seq >= end) break
      if (!isAnswered(row)) continue
      left -= row.size
      if (left < 0 && part.length > 0) break
      const remembered = await this.#opened(row)
      if (remembered) part.push(remembered)
    }
    return part
  }

  /** Undefined for what cannot be read any more. */
  async #opened(row: MessageRow): Promise<Remembered | undefined> {
    const opened = await this.#json.read(row.content)
    return opened && { row, message: { role: row.role, content: opened.value } as Message }
  }

  async #summaryOf({ summary }: SessionRow): Promise<Summary | undefined> {
    const opened = summary === undefined ? undefined : await this.#json.read(summary)
    return opened?.value as Summary | undefined
  }
}

const told = (summary: Summary | undefined): Message[] => (summary ? [summaryMessage(summary.text)] : [])

const isAnswered = ({ status }: MessageRow): boolean => status === 'complete' || status === 'partial'
