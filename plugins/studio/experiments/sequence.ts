/** Where the mean of numbers lies, however often one looks. */
export interface Bounds {
  readonly low: number
  readonly high: number
}

/** The largest share of what it has that a bet may lose. */
const mostLost = 0.5

/** Halvings of the range in which a bound lies: to five digits. */
const halvings = 18

/**
 * A confidence sequence for the mean of independent numbers from 0 to 1, in the order in which they came: with a probability of
 * 1 − `alpha` the mean lies between the bounds at every length at once, so one may look after each number and stop when one
 * likes. It is the hedged capital process of Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting"
 * (JRSS B 86, 2024), theorem 3: a mean is ruled out once bets against it have multiplied what they began with by 2/`alpha`. It
 * holds for few numbers and for any distribution.
 */
export function meanBounds(values: readonly number[], alpha: number): Bounds {
  const bets = betsOn(values, alpha)
  return {
    low: lowerBound(values, bets, alpha),
    high:
      1 -
      lowerBound(
        values.map((value) => 1 - value),
        bets,
        alpha,
      ),
  }
}

/** How much is bet on each number: as much as suits the numbers before it. */
function betsOn(values: readonly number[], alpha: number): Float64Array {
  const bets = new Float64Array(values.length)
  let sum = 0.5
  let squares = 0.25
  let variance = 0.25
  for (const [n, value] of values.entries()) {
    bets[n] = bet(variance, n + 1, alpha)
    sum += value
    squares += (value - sum / (n + 2)) ** 2
    variance = squares / (n + 2)
  }
  return bets
}

/** On the number at a place from 1 on, where the numbers have this variance. */
const bet = (variance: number, at: number, alpha: number): number =>
  Math.sqrt((2 * Math.log(2 / alpha)) / (variance * at * Math.log(at + 1)))

/** The least mean that bets on a larger one have not ruled out: they gain less, the larger the mean is that they are against. */
function lowerBound(values: readonly number[], bets: Float64Array, alpha: number): number {
  let low = 0
  let high = 1
  if (!isRuledOut(0, values, bets, alpha)) return 0
  for (let halving = 0; halving < halvings; halving += 1) {
    const middle = (low + high) / 2
    if (isRuledOut(middle, values, bets, alpha)) low = middle
    else high = middle
  }
  return low
}

function isRuledOut(mean: number, values: readonly number[], bets: Float64Array, alpha: number): boolean {
  const most = mean === 0 ? Number.POSITIVE_INFINITY : mostLost / mean
  const needed = Math.log(2 / alpha)
  let gained = 0
  for (const [n, value] of values.entries()) {
    gained += Math.log1p(Math.min(bets[n]!, most) * (value - mean))
    if (gained >= needed) return true
  }
  return false
}

/** The most that is said to be needed: above it nobody asks that many. */
const mostNeeded = 100_000

/** Standard deviations below which a normal distribution has 83 %: bets that learn the variance gain a little less. */
const z83 = 0.9542

/**
 * How many numbers of this variance it takes until the bounds rule out, in four of five cases, a mean that is so far away; an
 * estimate, from what bets gain on average.
 */
export function numbersNeeded(distance: number, variance: number, alpha: number): number {
  const needed = Math.log(2 / alpha)
  let gained = 0
  let spread = 0
  for (let n = 1; n < mostNeeded; n += 1) {
    const stake = Math.min(bet(Math.max(variance, 1e-4), n, alpha), 2 * mostLost)
    gained += stake * distance - (stake ** 2 * (variance + distance ** 2)) / 2
    spread += stake ** 2 * variance
    if (gained - z83 * Math.sqrt(spread) >= needed) return n
  }
  return mostNeeded
}
