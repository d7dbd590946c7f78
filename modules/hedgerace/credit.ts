/** What is left for extra calls, in hundredths of one. Plain data. */
export interface Credit {
  hundredths: number
}

export const newCredit = (): Credit => ({ hundredths: 0 })

/** Extra calls that may be saved up: a provider that hangs after a quiet hour gets no burst of them. */
const mostSaved = 10

/** A call earns its share of an extra one. */
export function earn(credit: Credit, pct: number): void {
  credit.hundredths = Math.min(mostSaved * 100, credit.hundredths + pct)
}

/**
 * Takes an extra call, if one is left. Since nothing is lent, there are at no time more than `pct` extra calls to a hundred, counted
 * from the start.
 */
export function spend(credit: Credit): boolean {
  if (credit.hundredths < 100) return false
  credit.hundredths -= 100
  return true
}
