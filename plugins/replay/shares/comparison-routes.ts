import { z } from 'zod'
import { badRequest, type Context } from '#kernel'
import { listed, listOf, listQuery, pageAnswer, scopeOf, storedPage } from '#kit'
import { demandReplays } from '../runs/caller.ts'
import type { ShownRuns } from '../runs/shown.ts'
import { comparison, comparisonOf, customComparison, customInput, sharedComparison } from './comparison.ts'
import { addLinkRoutes } from './link-routes.ts'
import { type Links, linkParams } from './links.ts'
import { comparisonPage } from './page.ts'
import { newShare, shareItem, title } from './row.ts'
import type { SecretGate } from './secrets.ts'
import type { Draft, Shares } from './shares.ts'

const path = '/api/replayshare/share'
const pagePath = '/compare'

/** Comparisons by link: made and revoked by users and admins, read by anybody who has the link. */
export function addComparisonShareRoutes(
  { route, find }: Pick<Context<unknown>, 'route' | 'find'>,
  shares: Shares,
  links: Links,
  secrets: SecretGate,
  shownRuns: ShownRuns,
): void {
  route({
    method: 'post',
    path,
    access: 'any',
    summary: 'Share a run by link, as it is now',
    body: z.strictObject({
      replay_id: z.string().min(1).max(100),
      title: title.optional(),
      include_prompt: z
        .boolean()
        .default(false)
        .meta({ description: 'Whether readers see what was asked, too.' }),
    }),
    status: 201,
    returns: newShare,
    throws: [403, 404, 409, 413, 422],
    async handle({ body: { replay_id, title, include_prompt }, principal, ...input }) {
      demandReplays(find, principal!)
      const row = await shownRuns.findOwn(replay_id, principal, 'replay_id')
      const { source, target, request } = await shownRuns.said(row)
      if (row.status !== 'success' || source === null || target === null)
        throw badRequest(`The run ${replay_id} has not both answers any more, so it cannot be shared.`, {
          status: 422,
          param: 'replay_id',
        })
      const content = await comparisonOf(row, { source, target, request: include_prompt ? request : null })
      const draft = { kind: 'comparison', content, title, sourceUserId: row.source_user_id } as const
      secrets.check({ ...(title !== undefined && { title }), ...content })
      return links.of(pagePath, await shares.add(principal!, draft), input)
    },
  })

  route({
    method: 'post',
    path: `${path}/custom`,
    access: 'any',
    summary: 'Share a comparison of your own by link',
    body: customInput,
    status: 201,
    returns: newShare,
    throws: [403, 409, 413],
    async handle({ body, principal, ...input }) {
      demandReplays(find, principal!)
      secrets.check(body)
      const content = await customComparison(body)
      const draft: Draft = { kind: 'comparison', content, title: body.title, sourceUserId: undefined }
      return links.of(pagePath, await shares.add(principal!, draft), input)
    },
  })

  route({
    method: 'get',
    path: '/api/replayshare/shares',
    access: 'any',
    summary: 'Your shares of every kind, newest first, without their links; with an admin key those of all',
    query: listQuery,
    returns: listOf('shares', shareItem),
    throws: [403],
    async handle({ query, principal }) {
      const user = scopeOf(principal)
      const { items, ...page } = await storedPage(query, (options) => shares.list(user, options))
      const shown = items.map(async (row) => ({
        ...row,
        user_id: row.user_id ?? null,
        title: await shares.titleOf(row),
      }))
      return listed('shares', { ...page, items: await Promise.all(shown) }, query)
    },
  })

  addLinkRoutes({ route }, shares, links, {
    kind: 'comparison',
    path,
    noun: 'comparison',
    content: comparison,
    shown: sharedComparison,
  })

  route({
    method: 'get',
    path: `${pagePath}/{id}`,
    access: 'public',
    summary: 'The page of a shared comparison',
    params: linkParams,
    returns: pageAnswer,
    throws: [404, 429],
    async handle({ params: { id }, ip, header }) {
      links.admit(ip, header)
      return comparisonPage(await shares.open('comparison', id, comparison))
    },
  })
}
