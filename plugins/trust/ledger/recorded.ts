import { randomBytes } from 'node:crypto'
import { badRequest, type ImpersonalDraft, type LedgerEntry } from '#kernel'
import { canonicalJson } from '#kit'
import { digestOf } from './digest.ts'
import type { Facts } from './facts.ts'

/**
 * A draft on its way to be an entry: one text, so that it is made and crosses to another thread quickly, and what waits is little for
 * the garbage collector to walk through. It has the canonical JSON of the entry with holes for what is not known yet, which are its
 * place and its hashes, and the JSON whose hashes these are.
 */
export type Recorded = string

/** Between the parts of one. No JSON has it as it is. */
const between = '\u0000'
/** Between several of them. */
const betweenAll = '\u0001'

/** Characters of the canonical JSON of an entry. */
const mostCharacters = 65_536
/** At most what the place of an entry adds to it, and one hash. */
const placeCharacters = 300
const hashCharacters = 64

/** What stands in a hole: random, so that no draft has it. */
const hole = randomBytes(16).toString('hex')

/** Throws a bad request for what no entry can hold. */
export function recordedOf(draft: ImpersonalDraft, source: LedgerEntry['source'], at = Date.now()): Recorded {
  const { actor, action, event_type, resource, trace_id, verdict, digests } = draft
  const names = digests ? Object.keys(digests).sort() : []
  // In the order of canonical JSON, which makes it cheaper.
  const json = jsonOf({
    action,
    actor: { id: actor.id, type: actor.type },
    created_at: hole,
    detail: withHoles(draft.detail, names),
    event_type,
    id: hole,
    resource: resource ? { id: resource.id, type: resource.type } : null,
    seq: hole,
    source,
    trace_id: trace_id ?? null,
    verdict: verdict ?? null,
  })
  if (json.length + names.length * hashCharacters > mostCharacters - placeCharacters)
    throw badRequest(
      `body detail: is too long: an entry has at most ${mostCharacters} characters. Keep the rest elsewhere, and its SHA-256 here.`,
      { param: 'detail' },
    )
  let text = hole + between + at + between + json
  for (const name of names) text += between + checked(name, digests![name]!)
  return text
}

/** The detail with a hole for each of these names, in their order where it has them. */
const withHoles = (detail: ImpersonalDraft['detail'], names: readonly string[]): object => ({
  ...detail,
  ...Object.fromEntries(names.map((name) => [name, hole])),
})

function jsonOf(entry: Readonly<Record<string, unknown>>): string {
  try {
    return canonicalJson(entry)
  } catch (error) {
    const param = Object.keys(entry).find((name) => !hasForm(entry[name]))!
    const reason = error instanceof Error ? error.message : String(error)
    throw badRequest(`body ${param}: must be JSON with finite numbers and whole characters. ${reason}`, {
      param,
    })
  }
}

function hasForm(value: unknown): boolean {
  try {
    canonicalJson(value)
    return true
  } catch {
    return false
  }
}

function checked(name: string, json: string): string {
  if (json.includes(between) || json.includes(betweenAll))
    throw badRequest(`digests.${name}: must be JSON, which has no control characters.`, { param: 'digests' })
  return json
}

/** What an entry is made of, with its hashes. Throws for a digest of what is no JSON. */
export function factsIn(recorded: Recorded): Facts {
  const [mark, at, json, ...digests] = recorded.split(between) as [string, string, string, ...string[]]
  const [beforeTime, ...more] = json.split(`"${mark}"`) as [string, ...string[]]
  const [beforeSeq, rest] = more.splice(-2) as [string, string]
  let beforeId = more[0]!
  for (const [n, text] of digests.entries()) beforeId += `"${digestOf(text)}"${more[n + 1]}`
  return { at: Number(at), pieces: [beforeTime, beforeId, beforeSeq, rest] }
}

/** The facts of a draft that is not recorded but appended at once. */
export const factsOf = (draft: ImpersonalDraft, source: LedgerEntry['source'], at?: number): Facts =>
  factsIn(recordedOf(draft, source, at))

export const joinedRecords = (all: readonly Recorded[]): string => all.join(betweenAll)
export const partedRecords = (text: string): Recorded[] => text.split(betweenAll)
