import { type Collection, newId, type OnceContext, type Store } from '#kernel'
import { Forgetting } from './forgetting.ts'
import { type SessionRow, sessionsIn, type TurnRow, turnsIn, turnsOf } from './rows.ts'
import type { Session } from './session.ts'
import { Texts } from './texts.ts'
import { type Turn, tokensOf, turn } from './turn.ts'

const sweepMs = 60_000
const hourMs = 3_600_000

/** A turn as it is stored. */
export interface Remembered extends Turn {
  readonly id: string
  readonly tokens: number
}

/** What is remembered of a session, the oldest first. */
export interface Recollection {
  readonly summary: string | undefined
  readonly turns: readonly Remembered[]
}

/** Whose session it is, and for how long it is remembered. */
export type Keeping = Pick<SessionRow, 'user_id' | 'tenant' | 'key_id' | 'project'> & {
  readonly ttlHours: number
}

/** The sessions and their turns, on disk. All threads see what one has written. */
export class Memory {
  readonly #store: Store
  readonly sessions: Collection<SessionRow>
  readonly forgetting: Forgetting
  readonly #turns: Collection<TurnRow>
  readonly #texts: Texts

  constructor(context: Pick<OnceContext, 'id' | 'store' | 'find' | 'use' | 'every'>) {
    this.#store = context.store
    this.sessions = sessionsIn(context.store)
    this.#turns = turnsIn(context.store)
    this.#texts = new Texts(context)
    this.forgetting = new Forgetting(this.sessions, this.#turns)
    context.every(sweepMs, () => this.forgetting.sweep(Date.now()))
  }

  /** Undefined where there is nothing, or nothing any more. What cannot be opened, as after an erasure, is left out. */
  async recall(id: string): Promise<Recollection | undefined> {
    const row = await this.sessions.get(id)
    if (!row || row.forget_at <= Date.now()) return undefined
    const summary = row.summary === undefined ? undefined : await this.#texts.read(row.summary)
    const turns: Remembered[] = []
    for await (const [key, { said, tokens }] of this.#turns.scan(turnsOf(id))) {
      const read = await this.#texts.read(said)
      if (read !== undefined) turns.push({ id: key, tokens, ...turn.parse(read) })
    }
    return { summary: summary as string | undefined, turns }
  }

  /** The name that the client gives a session; undefined where it cannot be told any more. */
  async nameOf({ name }: SessionRow): Promise<string | undefined> {
    return (await this.#texts.read(name)) as string | undefined
  }

  /** Adds a turn; on disk when it resolves, with its session as it is then. */
  async add(
    { id, name, owner }: Session,
    said: Turn,
    { ttlHours, ...keeping }: Keeping,
  ): Promise<SessionRow> {
    const write = await this.#texts.writerFor(keeping)
    const now = Date.now()
    const known = await this.sessions.get(id)
    if (known && known.forget_at <= now) await this.forgetting.forget(id)
    const tokens = tokensOf(said)
    const [stored, title] = [write(said), write(name)]
    const key = newId(`${id}/`)
    let isNew = false
    const row = await this.#store.transaction((tx) => {
      const earlier = tx.get(this.sessions, id)
      isNew = !earlier
      const next: SessionRow = {
        ...(earlier ?? { turns: 0, tokens: 0, started_at: now }),
        ...keeping,
        id,
        owner,
        name: title,
        turns: (earlier?.turns ?? 0) + 1,
        tokens: (earlier?.tokens ?? 0) + tokens,
        last_at: now,
        forget_at: now + ttlHours * hourMs,
      }
      tx.put(this.sessions, id, next)
      tx.put(this.#turns, key, { said: stored, tokens })
      return next
    })
    if (isNew) await this.forgetting.makeRoom(owner)
    return row
  }

  /** Puts a summary in the place of the session's oldest turns; nothing changes if somebody else has done so meanwhile. */
  async fold(id: string, turns: readonly Remembered[], summary: string): Promise<void> {
    const row = await this.sessions.get(id)
    if (!row) return
    const stored = (await this.#texts.writerFor(row))(summary)
    const tokens = turns.reduce((sum, { tokens }) => sum + tokens, 0)
    await this.#store.transaction((tx) => {
      const known = tx.get(this.sessions, id)
      if (!known || turns.some(({ id }) => !tx.get(this.#turns, id))) return
      for (const { id } of turns) tx.delete(this.#turns, id)
      const left = { turns: known.turns - turns.length, tokens: known.tokens - tokens }
      tx.put(this.sessions, id, { ...known, ...left, summary: stored })
    })
  }

  countOf(user: string): Promise<number> {
    return this.sessions.count({ index: 'user', equals: [user] })
  }
}
