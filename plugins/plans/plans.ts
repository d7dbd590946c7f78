import type { Plan } from '#kernel'

/** As they are published, from the smallest up; the ids are tiers. */
const published = [
  { id: 'free', name: 'Free', requests_per_month: 1000, price_usd: 0 },
  { id: 'pro', name: 'Pro', requests_per_month: 50_000, price_usd: 29 },
  { id: 'team', name: 'Team', requests_per_month: 500_000, price_usd: 99 },
] as const satisfies readonly Plan[]

export const planIds = published.map(({ id }) => id)

/** An operator's own terms, by the plan's id; what is absent is as published. */
type Terms = Readonly<Record<string, { [F in Exclude<keyof Plan, 'id'>]?: Plan[F] | undefined } | undefined>>

export function plansWith(terms: Terms): Plan[] {
  return published.map(({ id, ...plan }) => {
    const { name = plan.name, requests_per_month = plan.requests_per_month } = terms[id] ?? {}
    return { id, name, requests_per_month, price_usd: terms[id]?.price_usd ?? plan.price_usd }
  })
}
