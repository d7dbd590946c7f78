/**
 * How likely at least `hits` of `tries` are, each of which hits with this probability: the upper tail of the binomial
 * distribution.
 */
export function atLeast(hits: number, tries: number, probability: number): number {
  if (hits <= 0 || probability >= 1) return 1
  if (hits > tries || probability <= 0) return 0
  // Below the mean the terms begin too small: the other tail is summed up.
  if (hits <= tries * probability) return 1 - atLeast(tries - hits + 1, tries, 1 - probability)
  let term = Math.exp(
    logChoose(tries, hits) + hits * Math.log(probability) + (tries - hits) * Math.log1p(-probability),
  )
  let sum = 0
  const odds = probability / (1 - probability)
  for (let i = hits; i <= tries && term > sum * 1e-12; i += 1) {
    sum += term
    term *= ((tries - i) / (i + 1)) * odds
  }
  return Math.min(1, sum)
}

const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k)

/** By Stirling's series, which is exact to ten digits from ten on. */
function logFactorial(n: number): number {
  if (n < 10) return Math.log([1, 1, 2, 6, 24, 120, 720, 5040, 40_320, 362_880][n]!)
  return (
    n * Math.log(n) -
    n +
    0.5 * Math.log(2 * Math.PI * n) +
    1 / (12 * n) -
    1 / (360 * n ** 3) +
    1 / (1260 * n ** 5)
  )
}
