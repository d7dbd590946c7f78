/** The plans of accounts. The monthly requests are a limit only where plans are enforced. */
export interface Plan {
  readonly id: string
  readonly name: string
  readonly requests_per_month: number
  readonly price_usd: number
}

/** From the smallest up. */
export const plans = [
  { id: 'free', name: 'Free', requests_per_month: 1000, price_usd: 0 },
  { id: 'pro', name: 'Pro', requests_per_month: 50_000, price_usd: 29 },
  { id: 'team', name: 'Team', requests_per_month: 500_000, price_usd: 99 },
] as const satisfies readonly Plan[]
