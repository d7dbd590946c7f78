/**
 * Amounts before they are rounded: whole ten-thousandths of a nano-dollar, so that a markup of hundredths of a percent is
 * exact, as big integers, so that no sum is too large.
 */
export type Amount = bigint

const perNano = 10_000n
const nanoPerUnit = 1_000_000_000n

export const amountOfNano = (nano: number): Amount => BigInt(nano) * perNano

/** A cost with a markup in hundredths of a percent, and at least `minNano`. */
export function priceOf(costNano: number, markup: number, minNano: number): Amount {
  const price = BigInt(costNano) * (perNano + BigInt(markup))
  const least = amountOfNano(minNano)
  return price > least ? price : least
}

/** An exchange rate: units of the currency for a dollar, in millionths. */
const perRate = 1_000_000n

/**
 * Rounds amounts to whole nano-units of a currency so that they add up to their rounded sum: each is rounded down, and the
 * largest remainders take what is missing. The first of equal remainders comes first.
 */
export function roundedLines(amounts: readonly Amount[], rate: number): { lines: bigint[]; total: bigint } {
  const divisor = perNano * perRate
  const exact = amounts.map((amount) => amount * BigInt(rate))
  const sum = exact.reduce((a, b) => a + b, 0n)
  const total = (2n * sum + divisor) / (2n * divisor)
  const lines = exact.map((value) => value / divisor)
  const missing = Number(total - lines.reduce((a, b) => a + b, 0n))
  const byRemainder = [...exact.keys()].sort((a, b) => {
    const difference = (exact[b]! % divisor) - (exact[a]! % divisor)
    return difference === 0n ? a - b : difference > 0n ? 1 : -1
  })
  for (const index of byRemainder.slice(0, missing)) lines[index]! += 1n
  return { lines, total }
}

/** Nano-units as a number of units for the API. */
export const unitsOf = (nano: bigint): number => Number(nano) / Number(nanoPerUnit)

/** Nano-units as an exact decimal text with nine places. */
export function decimalOf(nano: bigint): string {
  const digits = nano.toString().padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`
}
