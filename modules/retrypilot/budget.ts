/** Tries and retries at one provider over the last seconds, by second. Plain data. */
export interface Budget {
  readonly seconds: { readonly second: number; tries: number; retries: number }[]
}

/** How far back it looks. */
export const windowS = 10
/** There is always room for so many retries in a window: one a second, so that a quiet gateway can retry at all. */
export const least = windowS

export const newBudget = (): Budget => ({ seconds: [] })

/** Counts a try, whether it is a retry or not. */
export function countTry(budget: Budget, now: number): void {
  current(budget, now).tries += 1
}

/**
 * Takes a retry out of the budget, if there is one left: in every window, and so over any time, there are at most `pct`
 * retries to a hundred first tries, or one a second where that is more.
 */
export function takeRetry(budget: Budget, pct: number, now: number): boolean {
  const latest = current(budget, now)
  const tries = sum(budget, 'tries')
  const retries = sum(budget, 'retries')
  if (retries >= Math.max(least, Math.floor(((tries - retries) * pct) / 100))) return false
  latest.retries += 1
  return true
}

function current({ seconds }: Budget, now: number): Budget['seconds'][number] {
  const second = Math.floor(now / 1000)
  while (seconds[0] && seconds[0].second <= second - windowS) seconds.shift()
  const last = seconds.at(-1)
  if (last && last.second >= second) return last
  const fresh = { second, tries: 0, retries: 0 }
  seconds.push(fresh)
  return fresh
}

const sum = ({ seconds }: Budget, what: 'tries' | 'retries'): number =>
  seconds.reduce((total, second) => total + second[what], 0)
