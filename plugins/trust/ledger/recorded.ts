import { badRequest, type ImpersonalDraft, type LedgerEntry } from '#kernel'
import { canonicalJson } from '#kit'
import { hole } from './draft-bytes.ts'

/** A draft on its way to be an entry. */
export interface Recorded {
  /** Milliseconds since the epoch. */
  readonly at: number
  /**
   * JSON of the entry, with holes for what is not known yet: its place and its hashes. It gets its canonical form where the entry is
   * linked.
   */
  readonly json: string
  /** The JSON whose hashes these are, by the order of their names. */
  readonly digests: readonly string[]
}

/** Characters of the canonical JSON of an entry. */
const mostCharacters = 65_536
/** At most what the place of an entry adds to it, and one hash. */
const placeCharacters = 300
const hashCharacters = 64

/** Throws a bad request for what has no canonical JSON, and so is not what an entry would say. */
export const checkedOf = (draft: ImpersonalDraft, source: LedgerEntry['source']): Recorded =>
  recordedOf(draft, source, Date.now(), checkedJson)

/**
 * Throws a bad request for what is too long. `jsonOf` may leave half characters and numbers that are not finite as `JSON.stringify`
 * writes them: the entry has them repaired.
 */
export function recordedOf(
  draft: ImpersonalDraft,
  source: LedgerEntry['source'],
  at = Date.now(),
  jsonOf: (entry: Readonly<Record<string, unknown>>) => string = JSON.stringify,
): Recorded {
  const { actor, action, event_type, resource, trace_id, verdict, digests = {} } = draft
  const names = namesOf(digests)
  // In the order of canonical JSON, which makes linking cheaper.
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
  return { at, json, digests: names.map((name) => digests[name]!) }
}

/** In their order, in which they mostly are: then nothing is sorted. */
function namesOf(digests: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(digests)
  return names.every((name, at) => at === 0 || names[at - 1]! < name) ? names : names.sort()
}

/** The detail with a hole for each of these names, in their order where it has them. */
function withHoles(detail: ImpersonalDraft['detail'], names: readonly string[]): object {
  const holes: Record<string, unknown> = { ...detail }
  for (const name of names) {
    if (!name.isWellFormed()) throw new TypeError('The name of a hash has half a character.')
    if (Object.hasOwn(holes, name)) holes[name] = hole
    else Object.defineProperty(holes, name, { value: hole, enumerable: true })
  }
  return holes
}

function checkedJson(entry: Readonly<Record<string, unknown>>): string {
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
