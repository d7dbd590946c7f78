import { IpRanges } from '#kit'

/** The addresses that may pass. A denied address is out, even if it is allowed too; an empty `allow` lets in all others. */
export interface Lists {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

/** Why an address may not pass: `deny`, it is on that list; `allow`, it is not on that one. */
export type Fence = (address: string) => keyof Lists | undefined

const all = new IpRanges(['0.0.0.0/0', '::/0'])

/** One test for both lists; nothing when both are empty. A value that is no address never passes. */
export function compileFence({ allow, deny }: Lists): Fence | undefined {
  if (allow.length === 0 && deny.length === 0) return undefined
  const allowed = allow.length === 0 ? all : new IpRanges(allow)
  const denied = new IpRanges(deny)
  return (address) => {
    if (denied.has(address) || !all.has(address)) return 'deny'
    return allowed.has(address) ? undefined : 'allow'
  }
}
