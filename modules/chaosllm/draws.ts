/** A sequence of numbers from 0 up to 1 that looks random and is the same for the same seed and place (Mulberry32). */
export function draws(seed: number, place: number): () => number {
  let state = (seed ^ Math.imul(place + 1, 0x9e3779b9)) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
