import { z } from 'zod'
import type { Collection, Store } from '#kernel'

export const shareKinds = ['comparison', 'playground'] as const
export type ShareKind = (typeof shareKinds)[number]

/** A share without what it shows. Its id in the store is the hash of its link, which is kept nowhere. */
const shareRow = z.object({
  /** To manage it by; knowing it opens nothing. */
  id: z.string(),
  hash: z.string(),
  kind: z.enum(shareKinds),
  /** Who shares; absent for an admin. */
  user_id: z.string().optional(),
  /** The owner's. */
  tenant: z.string().optional(),
  /** Whose call it shows. */
  source_user_id: z.string().optional(),
  /** As JSON, sealed where that is asked for. */
  title: z.string().optional(),
  views: z.int(),
  created_at: z.string(),
  expires_at: z.string(),
})
export type ShareRow = z.infer<typeof shareRow>

/** Stands in the index for the shares of all. */
export const everybody = ''
/** Stands in the index for those of admins. */
export const admins = 'admins'

/** Shares by the hashes of their links. */
export const sharesIn = (store: Store): Collection<ShareRow> =>
  store.collection('shares', {
    schema: shareRow,
    indexes: {
      owner: ({ user_id, id }) => [
        [everybody, id],
        [user_id ?? admins, id],
      ],
      id: ({ id }) => id,
      user: ({ user_id, source_user_id }) => [...new Set([user_id, source_user_id])],
      expires: ({ expires_at }) => expires_at,
    },
  })

/** What shares show, as JSON that is sealed where that is asked for, by the same hashes. */
export const contentsIn = (store: Store): Collection<{ body: string }> =>
  store.collection('contents', { schema: z.object({ body: z.string() }) })

const time = z.string().meta({ format: 'date-time' })

/** A share as its owner sees it. The link is shown only when it is made. */
export const shareItem = z.object({
  id: z.string(),
  kind: z.enum(shareKinds),
  user_id: z.string().nullable(),
  title: z.string().nullable(),
  views: z.int(),
  created_at: time,
  expires_at: time,
})

/** What a new share is reached by. */
export const newShare = z.object({
  id: z.string().meta({ description: 'The secret part of the link: who has it can read the share.' }),
  share_id: z.string().meta({ description: 'To delete it by; it opens nothing.' }),
  url: z.string(),
  full_url: z.string(),
  expires_at: time,
})

/** What every reader of a share sees beside its content. */
export const sharedFields = {
  id: z.string(),
  title: z.string().nullable(),
  views: z.int(),
  created_at: time,
  expires_at: time,
}

export const title = z.string().min(1).max(200)

/** How many characters a text of a share may have. */
export const longestText = 100_000
