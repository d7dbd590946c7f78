import { randomBytes, randomFillSync } from 'node:crypto'

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const pairs = Array.from({ length: 1024 }, (_, n) => `${crockford[n >> 5]}${crockford[n & 31]}`)
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The largest value of one half of an id's random part, plus one: 40 bits, eight characters. */
const HALF = 2 ** 40
const WORD = 2 ** 32

/** Eight Crockford characters for a number below 2^40. */
function encode40(value: number): string {
  const high = Math.floor(value / 0x100000)
  const low = value % 0x100000
  return `${pairs[high >> 10]}${pairs[high & 1023]}${pairs[low >> 10]}${pairs[low & 1023]}`
}

/** Ten characters for a time in milliseconds, which has 48 bits. */
const encodeTime = (ms: number) => pairs[Math.floor(ms / HALF)] + encode40(ms % HALF)

/** 32-bit words from the system's generator, fetched in bulk: one call for every thousand words. */
function randomWords(): () => number {
  const pool = new Uint32Array(1024)
  let used = pool.length
  return () => {
    if (used === pool.length) {
      randomFillSync(pool)
      used = 0
    }
    const word = pool[used] as number
    pool[used++] = 0
    return word
  }
}

/**
 * A source of prefixed ULIDs (github.com/ulid/spec) that only grow, also when the clock stands still or is set
 * back. Within a millisecond an id grows by a random 32-bit step, so that its neighbours cannot be guessed.
 */
export function createIds(now: () => number = Date.now): (prefix: string) => string {
  const next = randomWords()
  let time = -1
  let timeText = ''
  let high = 0
  let highText = ''
  let low = 0

  const setTime = (ms: number) => {
    time = ms
    timeText = encodeTime(ms)
  }
  const setHigh = (value: number) => {
    high = value
    highText = encode40(value)
  }

  return (prefix) => {
    const ms = now()
    if (ms > time) {
      setTime(ms)
      setHigh((next() % 256) * WORD + next())
      low = (next() % 256) * WORD + next()
    } else {
      low += 1 + next()
      if (low >= HALF) {
        low -= HALF
        if (high + 1 === HALF) setTime(time + 1)
        setHigh((high + 1) % HALF)
      }
    }
    return prefix + timeText + highText + encode40(low)
  }
}

/**
 * A new identifier such as `tr_01K…`: 26 characters after the prefix, sortable by time of creation, and growing
 * within this process. Not a secret: use `secretToken` where knowing a value must grant something.
 */
export const newId = createIds()

/** A secret for keys and shared links: 43 letters and digits, 256 random bits. */
export function secretToken(): string {
  let token = ''
  while (token.length < 43) {
    for (const byte of randomBytes(64)) {
      if (byte < 248 && token.length < 43) token += base62[byte % 62]
    }
  }
  return token
}
