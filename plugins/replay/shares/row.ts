import { z } from 'zod'

export const shareKinds = ['comparison', 'playground'] as const
export type ShareKind = (typeof shareKinds)[number]

/** A share without what it shows. Its id in the store is the hash of its link, which is kept nowhere. */
export const shareRow = z.object({
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
