/** Money inside is whole nano-dollars, so that sums are exact; outside it is a number of dollars. */
const nanoPerUsd = 1e9

/** Dollars for the wire; `nanoOf` gives back the very same nano-dollars, up to two million dollars. */
export const usdOf = (nano: number): number => nano / nanoPerUsd

/** The nearest whole number of nano-dollars. */
export const nanoOf = (usd: number): number => Math.round(usd * nanoPerUsd)
