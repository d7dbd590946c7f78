import { createHash } from 'node:crypto'
import type { Claim } from '#kernel'
import { kinds } from './limits/kinds.ts'

export type KeyedClaim = Omit<Claim, 'name'> & { readonly key: string }

/** The key of a claim's count. Throws when it is no claim. */
export function keyOf(budget: string, claim: Claim): string {
  check(claim)
  const { name, unit, limit } = claim
  return `${budget} ${unit} ${limit.kind} ${kinds[limit.kind].key(limit)} ${short(name)}`
}

/** Names that clients choose may be as long as a body, and hold what no id may. */
const plain = /^[ -~]{1,200}$/

const short = (name: string): string =>
  plain.test(name) ? name : createHash('sha256').update(name).digest('base64url')

function check({ amount, limit }: Claim): void {
  checkAmount(amount)
  checkAmount(limit.most)
  if ('windowMs' in limit && !(limit.windowMs >= 1)) throw new TypeError('A window is a millisecond at least')
  if (limit.kind !== 'bucket') return
  checkAmount(limit.burst)
  if (limit.most === 0) throw new TypeError('The limit of a bucket must be at least 1')
}

export function checkAmount(amount: number): void {
  if (!Number.isSafeInteger(amount) || amount < 0)
    throw new TypeError(`Amounts are whole numbers from 0, and ${amount} is none`)
}
