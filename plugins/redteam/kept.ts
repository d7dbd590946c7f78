import type { KeptOfUser } from '#kit'
import type { Allowance } from './allowance.ts'
import type { Hunting } from './hunts/hunting.ts'

const dayMs = 86_400_000

/** What is kept of users: their campaigns, with all that belongs to these, and how often they attacked today. */
export function keptOfUsers(hunting: Hunting, { ofUsers }: Allowance): KeptOfUser {
  return {
    count: async (user) =>
      (await hunting.store.campaigns.count({ index: 'user', equals: user })) + (await ofUsers.count(user)),
    erase: async (user) => (await eraseCampaigns(hunting, user)) + (await ofUsers.erase(user)),
  }
}

/** Ends and deletes the campaigns of a user; returns how many there were. */
async function eraseCampaigns(hunting: Hunting, user: string): Promise<number> {
  let erased = 0
  for await (const [, row] of hunting.store.campaigns.scan({ index: 'user', equals: user }))
    if (await hunting.delete(row)) erased += 1
  return erased
}

/** Deletes campaigns that were not used for so many days. */
export async function pruneCampaigns(hunting: Hunting, days: number): Promise<void> {
  const to = new Date(Date.now() - days * dayMs).toISOString()
  for await (const [, row] of hunting.store.campaigns.scan({ index: 'updated', to }))
    await hunting.delete(row)
}
