import { datesIn } from './dates.ts'
import { type Quantity, quantitiesIn } from './quantities.ts'
import { quotationsIn } from './quotations.ts'
import { addressesIn, bareWords } from './words.ts'

/** A place of an answer that says something which can be checked. */
export type Claim = { readonly start: number; readonly end: number } & (
  | { readonly kind: 'url'; readonly address: string }
  | { readonly kind: 'citation'; readonly mark: string }
  | { readonly kind: 'quote'; readonly words: string }
  | { readonly kind: 'quantity'; readonly quantity: Quantity }
  | { readonly kind: 'date'; readonly days: readonly string[] }
)

export const claimKinds = ['url', 'citation', 'quote', 'quantity', 'date'] as const
export type ClaimKind = (typeof claimKinds)[number]

const code = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g
/** Marks such as `[3]`, `[doc-7]` and `【2】`. */
export const citation = /\[((?:\d{1,3}|[a-z]{1,12}[-_:#]?\d{1,6}))\](?!\()|【(\d{1,3})[^】]{0,20}】/gi
/** Fewer words than these are a name or an expression, and no quotation. */
const leastWords = 4

/** What can be checked of an answer, outside of code. A claim inside another is a part of it. */
export function claimsIn(answer: string, kinds: ReadonlySet<ClaimKind>): Claim[] {
  const text = answer.replace(code, (part) => ' '.repeat(part.length))
  const found: Claim[] = []
  const taken = new Uint8Array(text.length)
  const add = (claim: Claim): void => {
    if (taken.subarray(claim.start, claim.end).includes(1)) return
    taken.fill(1, claim.start, claim.end)
    found.push(claim)
  }
  for (const { start, end, address } of addressesIn(text)) add({ kind: 'url', start, end, address })
  for (const { start, end, said } of quotationsIn(text)) {
    const words = bareWords(said)
    if (words.trim().split(' ').length >= leastWords) add({ kind: 'quote', start, end, words })
  }
  for (const match of text.matchAll(citation))
    add({
      kind: 'citation',
      start: match.index,
      end: match.index + match[0].length,
      mark: (match[1] ?? match[2])!.toLowerCase(),
    })
  for (const { start, end, days } of datesIn(text)) add({ kind: 'date', start, end, days })
  for (const quantity of quantitiesIn(text)) {
    const { start, end, unit } = quantity
    if (unit !== undefined) add({ kind: 'quantity', start, end, quantity })
  }
  return found.filter(({ kind }) => kinds.has(kind)).sort((a, b) => a.start - b.start)
}
