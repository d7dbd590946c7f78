import type { Call, Completion } from '#kernel'
import { answerTexts, requestTexts } from '#kit'
import { type ClaimKind, claimsIn } from './claims.ts'
import { Given } from './given.ts'

/** Something that an answer says and nothing given supports. */
export interface Unsupported {
  readonly kind: ClaimKind | 'name'
  /** As the answer writes it. */
  readonly text: string
}

/** Nobody is helped by a longer list. */
const most = 50
/** Different claims of an answer that are looked at, and its characters. */
const mostChecked = 500
const looked = 400_000

/** What was given with a call: all but what models said. */
export const givenWith = ({ request }: Call): string[] =>
  requestTexts(request).flatMap(({ text, place }) => (place.role === 'assistant' ? [] : [text]))

/** What an answer says that nothing of what was given supports, each once; undefined where too little was given to say. */
export function unsupportedIn(
  body: Completion,
  texts: readonly string[],
  kinds: ReadonlySet<ClaimKind>,
  leastGiven: number,
): Unsupported[] | undefined {
  const given = new Given(texts)
  if (given.length < leastGiven) return undefined
  const found: Unsupported[] = []
  const checked = new Set<string>()
  let room = looked
  for (const said of answerTexts(body)) {
    const answer = said.slice(0, room)
    room -= answer.length
    for (const claim of claimsIn(answer, kinds)) {
      const text = answer.slice(claim.start, claim.end)
      if (found.length === most || checked.size === mostChecked) return found
      if (checked.has(text)) continue
      checked.add(text)
      if (!given.supports(claim)) found.push({ kind: claim.kind, text })
    }
  }
  return found
}
