const lengthS = 60
/** One more than a minute's seconds, so that no stretch of a minute holds more than the sum of the slots. */
const slotCount = lengthS + 1

/** Amounts of the last minute by second, and their sum. Plain data, to be kept across instances. */
export interface Minute {
  readonly slots: number[]
  sum: number
  /** The newest second. */
  second: number
}

export const emptyMinute = (): Minute => ({
  slots: Array.from({ length: slotCount }, () => 0),
  sum: 0,
  second: 0,
})

/** What was added in the last minute. Times are milliseconds of a clock that never goes back. */
export function sumOf(minute: Minute, now: number): number {
  advance(minute, now)
  return minute.sum
}

/** Adds an amount, negative ones too, to the second of `at`; one that is over a minute ago is gone already. */
export function add(minute: Minute, now: number, amount: number, at = now): void {
  advance(minute, now)
  const second = secondOf(at)
  if (minute.second - second >= slotCount) return
  minute.slots[second % slotCount]! += amount
  minute.sum += amount
}

/** Milliseconds until the sum is no more than `most`, if nothing is added. */
export function waitMs(minute: Minute, now: number, most: number): number {
  let left = sumOf(minute, now)
  let wait = 0
  for (let age = lengthS; left > most && age >= 0; age -= 1) {
    const second = minute.second - age
    left -= minute.slots[second % slotCount] ?? 0
    wait = (second + slotCount) * 1000 - now
  }
  return wait
}

const secondOf = (time: number): number => Math.floor(time / 1000)

/** Empties the slots of the seconds that have passed since. */
function advance(minute: Minute, now: number): void {
  const second = secondOf(now)
  const passed = Math.min(second - minute.second, slotCount)
  for (let n = 1; n <= passed; n += 1) {
    const slot = (minute.second + n) % slotCount
    minute.sum -= minute.slots[slot]!
    minute.slots[slot] = 0
  }
  minute.second = Math.max(minute.second, second)
}
