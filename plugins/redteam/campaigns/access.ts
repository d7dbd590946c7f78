import { type Context, notFound, Plans, type Principal } from '#kernel'
import { scopeOf } from '#kit'
import type { CampaignRow } from './rows.ts'
import type { CampaignStore } from './store.ts'

export const campaignsPath = '/api/redteam/campaigns'

/** Throws where plans are enforced, and the caller's has no campaigns. */
export function demandCampaigns({ find }: Pick<Context<unknown>, 'find'>, principal: Principal): void {
  find(Plans)?.demand(principal, 'team', 'Red-team campaigns')
}

/** The campaign of this id, if the caller may see it. Throws a not found. */
export async function findCampaign(
  { campaigns }: CampaignStore,
  id: string,
  principal: Principal | undefined,
): Promise<CampaignRow> {
  const user = scopeOf(principal)
  const row = await campaigns.get(id)
  if (row && (user === undefined || row.user_id === user)) return row
  throw notFound(`There is no campaign ${id}.`, { param: 'id' })
}
