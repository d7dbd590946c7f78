import type { Awaitable, Collection, OnceContext } from '#kernel'
import { detach } from '#kit'
import { type Settings, type Stop, stopOf } from './bounds.ts'
import {
  begin,
  newSession,
  type SessionFacts,
  type SessionRow,
  type Spent,
  sessionRow,
  spend,
} from './session.ts'
import type { Steps } from './steps.ts'

/** A call that wants to begin, as plain data. */
export interface Entering {
  readonly id: string
  readonly facts: SessionFacts
  readonly steps: Steps
  readonly limits: Settings
  /** Whether it is counted: once, however many configurations it passes. */
  readonly counts: boolean
}

export type Entered =
  | { readonly granted: true }
  /** `isNew`: the session was not stopped before. */
  | ({ readonly granted: false; readonly isNew: boolean; readonly retryMs: number } & Stop)

const writeMs = 1_000
const sweepMs = 60_000
const killedMs = 30 * 24 * 60 * 60_000
/** Of more, the one whose last call is longest ago is forgotten. */
const mostSessions = 20_000

/** The sessions of all threads, which are in the first one, so that their bounds hold exactly, and on disk within a second. */
export class Sessions {
  /** Counts a call that begins, or says why it may not. Undefined where the sessions are gone. */
  readonly enter: (entering: Entering) => Awaitable<Entered | undefined>
  readonly spend: (spent: Spent) => void
  /** Which of these sessions were killed. */
  readonly killedOf: (ids: readonly string[]) => Awaitable<readonly string[] | undefined>
  readonly #rows: Collection<SessionRow>
  readonly #table = new Map<string, SessionRow>()
  readonly #changed = new Set<string>()
  #loading: Promise<void> | undefined
  #isLoaded = false

  constructor({ store, askFirstThread, inFirstThread, every, own }: OnceContext) {
    this.#rows = store.collection('sessions', { schema: sessionRow })
    this.enter = askFirstThread('enter', (entering: Entering) =>
      this.#whenLoaded(() => this.#enter(entering)),
    ) as Sessions['enter']
    this.spend = inFirstThread('spend', (spent: Spent) => this.#spend(spent))
    this.killedOf = askFirstThread('killed', (ids: readonly string[]) =>
      ids.filter((id) => this.#table.get(id)?.killed),
    )
    every(writeMs, () => this.#write())
    every(sweepMs, () => this.#sweep(Date.now()))
    own(() => this.#write())
  }

  /** The sessions, the latest first. In the first thread. */
  async list(): Promise<[id: string, session: SessionRow][]> {
    await this.#load()
    return [...this.#table].reverse()
  }

  async get(id: string): Promise<SessionRow | undefined> {
    await this.#load()
    return this.#table.get(id)
  }

  /** On disk when it resolves. */
  async kill(id: string, by: string, reason: string | undefined): Promise<SessionRow | undefined> {
    const session = await this.get(id)
    if (!session) return undefined
    const now = Date.now()
    session.killed ??= { at: now, by, ...(reason !== undefined && { reason }) }
    session.forget_at = now + killedMs
    await this.#rows.put(id, session)
    return session
  }

  /** Forgets a session, so that it may begin anew; false when there is none. */
  async forget(id: string): Promise<boolean> {
    await this.#load()
    this.#changed.delete(id)
    const isKnown = this.#table.delete(id)
    return (await this.#rows.delete(id)) || isKnown
  }

  async countOf(user: string): Promise<number> {
    return (await this.list()).filter(([, { user_id }]) => user_id === user).length
  }

  /** Returns how many there were. */
  async eraseOf(user: string): Promise<number> {
    let erased = 0
    for (const [id, { user_id }] of await this.list()) {
      if (user_id === user && (await this.forget(id))) erased += 1
    }
    return erased
  }

  #enter({ id, facts, steps, limits, counts }: Entering): Entered {
    const now = Date.now()
    const known = this.#table.get(id)
    const idleMs = limits.idle_minutes * 60_000
    const session = known && known.forget_at > now ? known : newSession(facts, now, idleMs)
    this.#keep(id, session)
    const stop = stopOf(session, steps, limits, now)
    if (!stop) {
      if (counts) begin(session, steps, facts.model, now, idleMs)
      return { granted: true }
    }
    const { bound } = stop
    const isNew = session.stopped?.bound !== bound
    if (isNew) session.stopped = { bound, at: now }
    // Time does not change a history: such a session goes on with the user's next message.
    const retryMs = bound === 'repeated_tool' || bound === 'depth' ? 0 : session.forget_at - now
    return { granted: false, isNew, retryMs, ...stop }
  }

  #spend(spent: Spent): void {
    const session = this.#table.get(spent.id)
    if (!session) return
    spend(session, spent)
    this.#changed.add(spent.id)
  }

  /** As the latest. */
  #keep(id: string, session: SessionRow): void {
    this.#table.delete(id)
    this.#table.set(id, session)
    this.#changed.add(id)
    if (this.#table.size <= mostSessions) return
    for (const [oldest, { killed }] of this.#table) {
      if (killed) continue
      detach('a session that is forgotten', this.forget(oldest))
      return
    }
  }

  #whenLoaded<T>(run: () => T): Awaitable<T> {
    return this.#isLoaded ? run() : this.#load().then(run)
  }

  #load(): Promise<void> {
    this.#loading ??= this.#read().catch((error: unknown) => {
      this.#loading = undefined
      throw error
    })
    return this.#loading
  }

  async #read(): Promise<void> {
    const rows: [string, SessionRow][] = []
    for await (const row of this.#rows.scan()) rows.push(row)
    for (const [id, row] of rows.sort(([, a], [, b]) => a.last_at - b.last_at)) this.#table.set(id, row)
    this.#isLoaded = true
  }

  async #write(): Promise<void> {
    const changed = [...this.#changed]
    this.#changed.clear()
    await Promise.all(
      changed.map(async (id) => {
        const session = this.#table.get(id)
        if (session) await this.#rows.put(id, session)
      }),
    )
  }

  async #sweep(now: number): Promise<void> {
    await this.#load()
    for (const [id, { forget_at }] of this.#table) if (forget_at <= now) await this.forget(id)
  }
}
