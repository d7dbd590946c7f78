import type { Attempt, Call, Completion } from '#kernel'
import { ageS, type CacheEntry, type KeptAnswers, type Vector } from '#kit'
import { answerWith, bytesOf, shareOf } from './embeddings.ts'
import type { Wanted } from './inputs.ts'

/** What is known of the embeddings of a call, by their keys. */
export type Known = ReadonlyMap<string, CacheEntry>

/** Looks up the embeddings that are not older than that. */
export async function lookUp(
  answers: KeptAnswers,
  wanted: readonly Wanted[],
  maxAgeS: number,
): Promise<Known> {
  const known = new Map<string, CacheEntry>()
  const look = async ({ key }: Wanted): Promise<void> => {
    const looked = answers.find(key)
    const entry = looked instanceof Promise ? await looked : looked
    if (entry && ageS(entry) <= maxAgeS) known.set(key, entry)
  }
  await Promise.all(wanted.map(look))
  return known
}

/** The inputs that are not known, each once. */
export function unknownOf(wanted: readonly Wanted[], known: Known): readonly Wanted[] {
  const unknown = new Map<string, Wanted>()
  for (const one of wanted) if (!known.has(one.key)) unknown.set(one.key, one)
  return [...unknown.values()]
}

/** Keeps each embedding of an answer by itself, as the answer to a call for it alone. */
export function keepEach(
  answers: KeptAnswers,
  call: Call,
  asked: readonly Wanted[],
  vectors: readonly Vector[],
  { data: _, usage, ...like }: Completion,
  served: Attempt | undefined,
): void {
  const all = asked.reduce((sum, { input }) => sum + input.length, 0)
  for (const [place, { key, input }] of asked.entries()) {
    const vector = vectors[place]!
    const body = answerWith(like, [vector], shareOf(usage, input.length, all))
    answers.keep(call, key, body, { served, bytes: bytesOf(vector) })
  }
}

/** The vector of an entry. */
export const vectorOf = ({ body }: CacheEntry): Vector =>
  (body.data![0] as { readonly embedding: Vector }).embedding
