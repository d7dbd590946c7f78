/** Random numbers that are the same for the same seed, for simulations. */
export interface Chance {
  /** From 0 to 1, without 1. */
  uniform(): number
  /** Of a normal distribution with mean 0 and deviation 1. */
  normal(): number
  /** A count of which there are so many on average. */
  poisson(mean: number): number
}

/** By Mulberry32, which is good enough to simulate traffic with. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
  const poisson = (mean: number): number => {
    const end = Math.exp(-mean)
    let count = 0
    for (let left = uniform(); left > end; left *= uniform()) count += 1
    return count
  }
  return { uniform, normal, poisson }
}
