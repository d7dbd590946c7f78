/** Money inside is whole nano-dollars, so that sums are exact; outside it is a number of dollars. */
const nanoPerUsd = 1e9

/** Dollars for the wire; `nanoOf` gives back the very same nano-dollars, up to two million dollars. */
export const usdOf = (nano: number): number => nano / nanoPerUsd

/** The nearest whole number of nano-dollars. */
export const nanoOf = (usd: number): number => Math.round(usd * nanoPerUsd)

/**
 * Dollars that one call costs at the most: far more than any does, and little enough that sums over calls are exact. What
 * is dearer is taken for this.
 */
export const mostCallUsd = 100_000

/** The sum of two amounts; nine million dollars, where whole numbers end, when it would be more. */
export const addNano = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER)
