import { z } from 'zod'
import type { Context, Principal } from '#kernel'
import { type Links, linkParams } from './links.ts'
import type { ShareKind, ShareRow, sharedFields } from './row.ts'
import { nothingThere, type Shares } from './shares.ts'

/** What is shared by links of one kind. */
interface Linked<Content extends object> {
  readonly kind: ShareKind
  readonly path: string
  /** As summaries call it. */
  readonly noun: string
  readonly content: z.ZodType<Content>
  readonly shown: z.ZodType<Content & z.infer<z.ZodObject<typeof sharedFields>>>
}

/** To read what a link shows, and to revoke it: the same for every kind. */
export function addLinkRoutes<Content extends object>(
  { route }: Pick<Context<unknown>, 'route'>,
  shares: Shares,
  links: Links,
  { kind, path, noun, content, shown }: Linked<Content>,
): void {
  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'public',
    summary: `What a link of a ${noun} shows`,
    params: linkParams,
    returns: shown,
    throws: [404, 429],
    async handle({ params: { id }, ip, header }) {
      links.admit(ip, header)
      const { row, title, content: body } = await shares.open(kind, id, content)
      const { views, created_at, expires_at } = row
      return { ...body, id, title, views, created_at, expires_at }
    },
  })

  route({
    method: 'delete',
    path: `${path}/{id}`,
    access: 'any',
    summary: `Revoke the link of a ${noun}, by its share_id or by the link itself`,
    params: linkParams,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [404],
    async handle({ params, principal }) {
      const row = ownShare(await shares.find(kind, params.id), principal!)
      await shares.delete(row)
      return { deleted: true as const, id: row.id }
    },
  })
}

/** The share, if the caller may manage it: its owner and admins. Throws the not found of links for any other. */
function ownShare(row: ShareRow | undefined, { type, userId }: Principal): ShareRow {
  if (row && (type === 'admin' || (userId !== undefined && row.user_id === userId))) return row
  throw nothingThere()
}
