import { hash } from 'node:crypto'

const mark = '--ts--'

/**
 * The id of a tool call as clients see it. Models that sign their calls want the signature back, and clients drop
 * fields they do not know, but never an id: so the signature is in it.
 */
export function callId(id: string, signature: string | undefined): string {
  return signature === undefined ? id : id + mark + Buffer.from(signature).toString('base64url')
}

/** The provider's own id, undefined where it gave none, and the signature if there is one in it. */
export function partsOfId(id: string): { id: string | undefined; signature: string | undefined } {
  const at = id.indexOf(mark)
  const before = at === -1 ? id : id.slice(0, at)
  return {
    id: made.test(before) ? undefined : before,
    signature: at === -1 ? undefined : Buffer.from(id.slice(at + mark.length), 'base64url').toString('utf8'),
  }
}

const made = /^call_[0-9a-f]{24}$/

/** An id for a call that came without one: the same whenever the same answer is read. It does not go back. */
export function madeId(answer: string, candidate: number, index: number): string {
  return `call_${hash('sha256', `${answer} ${candidate} ${index}`).slice(0, 24)}`
}
