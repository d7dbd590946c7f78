import type { Feedback, TraceReader, TraceSummary } from '#kernel'
import { factName } from '#kit'
import { type Example, exampleOf } from './example.ts'
import type { Mask } from './mask.ts'
import { NearDuplicates } from './near-duplicates.ts'
import type { Counts, Reason, SetRow } from './row.ts'
import { refusalOf, type Settings } from './settings.ts'

interface Collecting {
  readonly set: SetRow
  readonly settings: Settings
  readonly traces: TraceReader
  readonly feedback: Feedback
  /** Absent where personal data stays. */
  readonly mask: Mask | undefined
  /** Counted on while it runs. */
  readonly counts: Counts
  readonly signal: AbortSignal
}

export interface Collected {
  readonly trace: TraceSummary
  readonly example: Example
}

/** The examples of a set, newest first. Throws when its signal aborts. */
export async function* collecting(given: Collecting): AsyncGenerator<Collected> {
  const { set, settings, traces, mask, counts, signal } = given
  const { model, provider, project, user_id, from, to, strip_system } = set.wish
  const near = set.dedupe ? new NearDuplicates() : undefined
  const range = { from: from && Date.parse(from), to: to && Date.parse(to) }
  const query = { model, provider, project, user_id, ...range, source: 'proxy' }
  let taken = 0
  for await (const trace of traces.scan(query as Parameters<TraceReader['scan']>[0])) {
    signal.throwIfAborted()
    if (taken === settings.max_examples) return
    counts.looked_at += 1
    const refusal = await refused(trace, given)
    const bodies = refusal ? undefined : await traces.bodies(trace.id)
    const isWhole = bodies && !bodies.truncated && !bodies.erased && bodies.request && bodies.response
    const found = isWhole ? exampleOf(bodies.request, bodies.response, !strip_system) : undefined
    const example = found && mask ? mask(found) : found
    const reason: Reason | undefined =
      refusal ??
      (isWhole ? (example ? undefined : 'form') : 'no_body') ??
      (near && example && !near.add(textOf(example)) ? 'duplicate' : undefined)
    if (reason) counts.left_out[reason] = (counts.left_out[reason] ?? 0) + 1
    else {
      taken += 1
      yield { trace, example: example! }
    }
  }
}

async function refused(
  trace: TraceSummary,
  { set, settings, feedback }: Pick<Collecting, 'set' | 'settings' | 'feedback'>,
): Promise<Reason | undefined> {
  const { operation, status, tags, facts } = trace
  if (operation !== 'chat' || (status !== 'ok' && status !== 'cache_hit')) return 'status'
  const refusal = refusalOf(settings, trace)
  if (refusal) return refusal
  const { template, tags: wanted = {} } = set.wish
  if (template !== undefined && factName(facts.template) !== template) return 'tags'
  if (Object.entries(wanted).some(([name, value]) => tags[name] !== value)) return 'tags'
  if (set.min_score === 0) return undefined
  const { avg_rating: score } = await feedback.of(trace.id)
  return score !== null && starsOf(score) >= set.min_score ? undefined : 'score'
}

/** A score from 0 to 1 in stars from 1 to 5. */
const starsOf = (score: number): number => 1 + 4 * score

/** What makes a conversation the same as another: everything that is said in it but the system's texts. */
const textOf = ({ turns }: Example): string =>
  turns
    .filter(({ role }) => role !== 'system')
    .flatMap((turn) => [
      turn.text,
      ...('calls' in turn ? turn.calls.map(({ input }) => JSON.stringify(input)) : []),
    ])
    .join('\n')
