import { z } from 'zod'
import {
  type Collection,
  type Context,
  type Feedback,
  type FeedbackRecord,
  newId,
  type Page,
  type PageOptions,
} from '#kernel'
import { type KeptOfUser, rowsOfUsers } from '#kit'
import { tellingSourceUser } from '../source-user.ts'
import { scale } from './rating.ts'

const text = z.string().optional()

const row = z.object({
  id: z.string(),
  trace_id: z.string(),
  /** The user or the admin key that said it: each has one opinion of a call. */
  author: z.string(),
  user_id: text,
  /** Of the user that said it. */
  tenant: text,
  /** The user whose call it is about. */
  source_user_id: text,
  rating: z.number().optional(),
  scale: scale.optional(),
  score: z.number().optional(),
  label: text,
  comment: text,
  tags: z.array(z.string()),
  correction: text,
  end_user: text,
  /** The texts above, sealed. */
  words: text,
  provider: text,
  model: z.string(),
  template: text,
  variant: text,
  created_at: z.string(),
  updated_at: z.string(),
})

export type FeedbackRow = z.infer<typeof row>
/** What is said, and of which call. */
export type Said = Omit<FeedbackRow, 'id' | 'created_at' | 'updated_at'>

interface Filter {
  readonly user?: string | undefined
  readonly trace?: string | undefined
}

/** What was said of answers. */
export class FeedbackStore implements Feedback {
  readonly #rows: Collection<FeedbackRow>

  constructor(context: Pick<Context<unknown>, 'store' | 'use'>) {
    this.#rows = context.store.collection('feedback', {
      schema: row,
      ...tellingSourceUser(context, 'trace_id'),
      indexes: {
        id: ({ id }) => id,
        said_by: ({ user_id }) => user_id,
        user: ({ user_id, source_user_id }) => [...new Set([user_id, source_user_id])],
        trace: ({ trace_id }) => trace_id,
        score: ({ score }) => score,
        updated: ({ updated_at }) => updated_at,
      },
    })
  }

  async get(id: string): Promise<FeedbackRow | undefined> {
    const { items } = await this.#rows.list({ index: 'id', equals: id, limit: 1 })
    return items[0]
  }

  /** Keeps what an author says of a call, in place of what the same author said of it before. */
  async say(said: Said): Promise<FeedbackRow> {
    const id = newId('fb_')
    const at = new Date().toISOString()
    const kept = await this.#rows.update(keyOf(said), (before) => ({
      ...said,
      id: before?.id ?? id,
      created_at: before?.created_at ?? at,
      updated_at: before ? timeAfter(before.updated_at) : at,
    }))
    return kept!
  }

  /** Has it say something else; undefined where it is another one by now, or gone. */
  change({ id, created_at, updated_at: known }: FeedbackRow, said: Said): Promise<FeedbackRow | undefined> {
    return this.#rows.update(keyOf(said), (row) =>
      row?.id === id && row.updated_at === known
        ? { ...said, id, created_at, updated_at: timeAfter(known) }
        : undefined,
    )
  }

  async delete(row: FeedbackRow): Promise<void> {
    await this.#rows.delete(keyOf(row))
  }

  /** Newest first; of one user, or of one call, or of one user about one call. */
  async list({ user, trace }: Filter, page: PageOptions): Promise<Page<FeedbackRow>> {
    if (user !== undefined && trace !== undefined) {
      const row = await this.#rows.get(`${trace}/${user}`)
      const { offset = 0, limit = 1, after } = page
      const isShown = row && offset === 0 && limit > 0 && after === undefined
      return { items: isShown ? [row] : [], total: row ? 1 : 0 }
    }
    const where =
      user !== undefined
        ? { index: 'said_by', equals: user }
        : trace !== undefined
          ? { index: 'trace', equals: trace }
          : { index: 'updated' }
    return this.#rows.list({ ...where, ...page, reverse: true })
  }

  async *scan(from: number): AsyncIterable<FeedbackRecord> {
    const since = { index: 'updated', from: new Date(from).toISOString() }
    for await (const [, row] of this.#rows.scan(since)) yield recordOf(row)
  }

  async low(score: number, page: PageOptions): Promise<Page<FeedbackRecord>> {
    const { items, ...rest } = await this.#rows.list({
      index: 'score',
      to: score + tiny,
      ...page,
      reverse: true,
    })
    return { ...rest, items: items.map(recordOf) }
  }

  async of(traceId: string): ReturnType<Feedback['of']> {
    const scores: number[] = []
    for await (const [, { score }] of this.#rows.scan({ index: 'trace', equals: traceId }))
      if (score !== undefined) scores.push(score)
    const sum = scores.reduce((a, b) => a + b, 0)
    return { count: scores.length, avg_rating: scores.length === 0 ? null : sum / scores.length }
  }

  /** Forgets what was last said so many days ago. */
  async prune(days: number): Promise<void> {
    const to = new Date(Date.now() - days * dayMs).toISOString()
    for await (const [id] of this.#rows.scan({ index: 'updated', to })) await this.#rows.delete(id)
  }

  /** Its rows, as personal data of users: of those who said it, and of those whose calls it is about. */
  get ofUsers(): KeptOfUser {
    return rowsOfUsers(this.#rows)
  }
}

const dayMs = 86_400_000

/** Now, or a millisecond after the last change, so that no two changes have one time. */
const timeAfter = (last: string): string => new Date(Math.max(Date.now(), Date.parse(last) + 1)).toISOString()

/** Each author has one opinion of a call. */
const keyOf = ({ trace_id, author }: Pick<FeedbackRow, 'trace_id' | 'author'>): string =>
  `${trace_id}/${author}`

/** The end of a range is not part of it. */
const tiny = 1e-9

const recordOf = ({
  id,
  trace_id,
  user_id,
  score,
  label,
  provider,
  model,
  template,
  variant,
  updated_at,
}: FeedbackRow) => ({
  id,
  trace_id,
  user_id,
  score,
  label,
  provider,
  model,
  template,
  variant,
  updated_at,
})
