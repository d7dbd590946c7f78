import { badRequest, type ImpersonalDraft, type LedgerEntry } from '#kernel'
import { type Facts, factsOf } from './facts.ts'

/**
 * A draft on its way to be an entry: one text, so that it is made and crosses to another thread quickly, and what waits is little for
 * the garbage collector to walk through. It has the draft as JSON, and the JSON whose hashes the entry is to have.
 */
export type Recorded = string

/** Between the parts of one. No JSON has it as it is. */
const between = '\u0000'
/** Between several of them. */
const betweenAll = '\u0001'

/** Throws a bad request for what is no JSON. */
export function recordedOf(draft: ImpersonalDraft, source: LedgerEntry['source'], at = Date.now()): Recorded {
  const { actor, action, event_type, resource, trace_id, verdict, detail, digests } = draft
  if (!hasFiniteNumbers(detail))
    throw badRequest('detail: must be JSON with finite numbers.', { param: 'detail' })
  const names = digests && Object.keys(digests)
  const json = JSON.stringify({ actor, action, event_type, resource, trace_id, verdict, detail, names })
  let text = `${at}${between}${source}${between}${json}`
  for (const name of names ?? []) text += between + checked(name, digests![name]!)
  return text
}

/** JSON would have null in place of other numbers. */
function hasFiniteNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return true
  for (const name in value) if (!hasFiniteNumbers((value as Record<string, unknown>)[name])) return false
  return true
}

function checked(name: string, json: string): string {
  if (json.includes(between) || json.includes(betweenAll))
    throw badRequest(`digests.${name}: must be JSON, which has no control characters.`, { param: 'digests' })
  return json
}

/** What an entry is made of. Throws a bad request for what no entry can hold. */
export function factsIn(recorded: Recorded): Facts {
  const [at, source, json, ...texts] = recorded.split(between)
  const { names = [], ...draft } = JSON.parse(json!) as ImpersonalDraft & { readonly names?: string[] }
  const digests = Object.fromEntries(names.map((name, n) => [name, texts[n]!]))
  return factsOf({ ...draft, digests }, source as LedgerEntry['source'], Number(at))
}

export const joinedRecords = (all: readonly Recorded[]): string => all.join(betweenAll)
export const partedRecords = (text: string): Recorded[] => text.split(betweenAll)
