import { z } from 'zod'
import type { Collection, Principal, Store } from '#kernel'

/** Who may use a collection beside its owner: its tenant, or everyone; the latter only for collections of admins. */
export const shares = ['owner', 'tenant', 'everyone'] as const
export const formats = ['text', 'markdown', 'json', 'html'] as const
export type Format = (typeof formats)[number]

const collection = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  /** The user that owns it; absent for one of an admin. */
  user_id: z.string().optional(),
  tenant: z.string().optional(),
  share: z.enum(shares),
  documents: z.int(),
  characters: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type CollectionRow = z.infer<typeof collection>

const document = z.object({
  id: z.string(),
  collection: z.string(),
  /** Title and content as JSON, sealed where that is asked for. */
  content: z.string(),
  format: z.enum(formats),
  characters: z.int(),
  chunks: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type DocumentRow = z.infer<typeof document>

export const collectionsIn = (store: Store): Collection<CollectionRow> =>
  store.collection('collections', { schema: collection, indexes: { user: ({ user_id }) => user_id } })

export const documentsIn = (store: Store): Collection<DocumentRow> =>
  store.collection('documents', {
    schema: document,
    indexes: { collection: (row) => [[row.collection, row.created_at]] },
  })

type Caller = Pick<Principal, 'type' | 'userId' | 'tenant'>

const isOwn = ({ user_id }: CollectionRow, { type, userId }: Caller): boolean =>
  user_id === undefined ? type === 'admin' : user_id === userId

/** Whether calls of this caller may use a collection. Admins' calls do not use what belongs to users. */
export function mayUse(row: CollectionRow, caller: Caller): boolean {
  if (row.share === 'everyone' || isOwn(row, caller)) return true
  return row.share === 'tenant' && row.tenant !== undefined && row.tenant === caller.tenant
}

export const maySee = (row: CollectionRow, caller: Caller): boolean =>
  caller.type === 'admin' || mayUse(row, caller)

export const mayChange = (row: CollectionRow, caller: Caller): boolean =>
  caller.type === 'admin' || isOwn(row, caller)

/**
 * The collection of a name for a caller's calls. One of an admin comes first: otherwise a user could put texts into the calls of
 * others with a collection of the same name.
 */
export function namedFor(
  rows: Iterable<CollectionRow>,
  name: string,
  caller: Caller,
): CollectionRow | undefined {
  const rank = (row: CollectionRow): number => (row.user_id === undefined ? 0 : isOwn(row, caller) ? 1 : 2)
  let best: CollectionRow | undefined
  for (const row of rows) {
    if (row.name !== name || !mayUse(row, caller)) continue
    const order = best && (rank(row) - rank(best) || (row.created_at < best.created_at ? -1 : 1))
    if (order === undefined || order < 0) best = row
  }
  return best
}
