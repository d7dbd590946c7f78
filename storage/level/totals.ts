import { addUp } from './whole.ts'

/** Sums by name: what a cell holds. */
export type Totals = Record<string, number>

/** Adds to each sum; what is no whole number that is exact is not added. */
export function addTo(totals: Totals, amounts: Readonly<Totals>): void {
  for (const name in amounts) {
    const amount = amounts[name]!
    if (Number.isSafeInteger(amount)) totals[name] = addUp(totals[name] ?? 0, amount)
  }
}

/** What a cell on disk holds: the sums that are some, and whether that is all of it. */
export function parseTotals(text: string): { readonly totals: Totals; readonly isSound: boolean } {
  const stored = parse(text)
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored))
    return { totals: {}, isSound: false }
  const entries = Object.entries(stored)
  const sound = entries.filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1]))
  return { totals: Object.fromEntries(sound), isSound: sound.length === entries.length }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
