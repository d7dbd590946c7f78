import {
  type Collection,
  type Context,
  conflict,
  notFound,
  type Page,
  type PageOptions,
  type Store,
} from '#kernel'
import { mergedPage } from '#kit'
import { type MessageRow, messageRow, type SessionRow, sessionRow } from './rows.ts'

/** Bounds: sessions of one user, and of all admins together; messages of a session. */
const most = { sessions: 1000, messages: 10_000 }

const admins = 'admins'

/** Stands in the index for what is shared. No id is it. */
const sharedPlace = 'shared'

const ownerOf = ({ user_id }: Pick<SessionRow, 'user_id'>): string => user_id ?? admins

const placesOf = (row: SessionRow): string[] =>
  row.visibility === 'shared' ? [ownerOf(row), sharedPlace] : [ownerOf(row)]

/** Sessions and their messages in the store. */
export class SessionStore {
  readonly #store: Store
  readonly #sessions: Collection<SessionRow>
  readonly #messages: Collection<MessageRow>

  constructor({ store }: Pick<Context<unknown>, 'store'>) {
    this.#store = store
    this.#sessions = store.collection('sessions', {
      schema: sessionRow,
      indexes: {
        created: ({ created_at }) => created_at,
        owner: (row) => placesOf(row).map((place) => [place, row.created_at]),
        user: ({ user_id }) => user_id,
        last: ({ last_message_at, created_at }) => last_message_at ?? created_at,
      },
    })
    this.#messages = store.collection('messages', {
      schema: messageRow,
      indexes: { session: ({ session, seq }) => [[session, seq]] },
    })
  }

  async create(row: SessionRow): Promise<void> {
    if ((await this.#sessions.count({ index: 'owner', equals: [ownerOf(row)] })) >= most.sessions)
      throw conflict(`There are ${most.sessions} sessions already. Delete one first.`)
    await this.#sessions.put(row.id, row)
  }

  get(id: string): Promise<SessionRow | undefined> {
    return this.#sessions.get(id)
  }

  /** Newest first; those that one user sees, or all. */
  list(user: string | undefined, page: PageOptions): Promise<Page<SessionRow>> {
    if (user === undefined) return this.#sessions.list({ index: 'created', ...page, reverse: true })
    const ranges = [user, sharedPlace].map((place) => ({ index: 'owner', equals: [place] }))
    return mergedPage(this.#sessions, ranges, ({ created_at }) => created_at, page)
  }

  count(user?: string): Promise<number> {
    return user === undefined ? this.#sessions.count() : this.#sessions.count({ index: 'user', equals: user })
  }

  /** Throws a not found where the session is gone. */
  async change(id: string, change: (row: SessionRow) => SessionRow): Promise<SessionRow> {
    const changed = await this.#sessions.update(id, (row) => row && change(row))
    if (!changed) throw unknownSession(id)
    return changed
  }

  /** Adds a message behind the others; returns it with its number. */
  ask(id: string, message: Omit<MessageRow, 'seq'>): Promise<MessageRow> {
    return this.#store.transaction((tx) => {
      const row = tx.get(this.#sessions, id)
      if (!row) throw unknownSession(id)
      if (row.message_count >= most.messages)
        throw conflict(`A session takes ${most.messages} messages. Make another one.`, { param: 'id' })
      const asked = { ...message, seq: row.message_count + 1 }
      tx.put(this.#messages, keyOf(asked), asked)
      tx.put(this.#sessions, id, {
        ...row,
        message_count: asked.seq,
        last_message_at: message.created_at,
      })
      return asked
    })
  }

  /** Stores what became of a message: itself, the answer if there is one, and what they cost. Undefined where the session or the answer is gone. */
  settle(asked: MessageRow, answer: Omit<MessageRow, 'seq'> | undefined): Promise<MessageRow | undefined> {
    return this.#store.transaction((tx) => {
      const row = tx.get(this.#sessions, asked.session)
      if (!row) return undefined
      tx.put(this.#messages, keyOf(asked), asked)
      if (!answer) {
        tx.put(this.#sessions, row.id, withCostOf(asked, row))
        return undefined
      }
      const said = { ...answer, seq: row.message_count + 1 }
      tx.put(this.#messages, keyOf(said), said)
      tx.put(this.#sessions, row.id, {
        ...withCostOf(said, row),
        message_count: said.seq,
        last_message_at: said.created_at,
      })
      return said
    })
  }

  /** The messages of a session, the oldest first. */
  messages(session: string, page: PageOptions): Promise<Page<MessageRow>> {
    return this.#messages.list({ ...page, index: 'session', equals: [session] })
  }

  /** The messages behind a number, the newest first. */
  async *newest(session: string, after: number): AsyncIterable<MessageRow> {
    const range = { index: 'session', equals: [session], from: after + 1, reverse: true }
    for await (const [, row] of this.#messages.scan(range)) yield row
  }

  /** The same, the oldest first. */
  async *oldest(session: string, after: number): AsyncIterable<MessageRow> {
    const range = { index: 'session', equals: [session], from: after + 1 }
    for await (const [, row] of this.#messages.scan(range)) yield row
  }

  /** Deletes a session with its messages; false when there is none. */
  async delete(id: string): Promise<boolean> {
    if (!(await this.#sessions.delete(id))) return false
    for await (const [key] of this.#messages.scan({ index: 'session', equals: [id] }))
      await this.#messages.delete(key)
    return true
  }

  async eraseOf(user: string): Promise<number> {
    let erased = 0
    for await (const [id] of this.#sessions.scan({ index: 'user', equals: user }))
      if (await this.delete(id)) erased += 1
    return erased
  }

  /** Deletes the sessions without a message since that time. */
  async prune(to: string): Promise<void> {
    for await (const [id] of this.#sessions.scan({ index: 'last', to })) await this.delete(id)
  }
}

const withCostOf = ({ tokens_in, tokens_out, cost_nano }: MessageRow, row: SessionRow): SessionRow => ({
  ...row,
  token_count: row.token_count + tokens_in + tokens_out,
  cost_nano: row.cost_nano + cost_nano,
})

const keyOf = ({ session, seq }: Pick<MessageRow, 'session' | 'seq'>): string =>
  `${session}/${String(seq).padStart(6, '0')}`

export const unknownSession = (id: string) => notFound(`There is no session ${id}.`, { param: 'id' })
