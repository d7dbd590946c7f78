import type { Chunk } from '../../kit/canonical/chunk.ts'
import { toChunks } from '../../kit/canonical/chunks.ts'
import type { Completion } from '../../kit/canonical/forms.ts'
import type { Call } from '../call/call.ts'
import { type Reply, StreamReply, WholeReply } from '../call/reply.ts'
import type { Detection } from '../detect/detect.ts'
import { Redaction } from '../detect/redaction.ts'
import { assembled } from '../stream/collect.ts'
import { type Filter, filterStream } from '../stream/filter.ts'
import { BatchFilter, type Rewriter, searchesElsewhere } from './batches.ts'
import { Detector, looks } from './detector.ts'
import { type Entry, handleFailure, recordRun } from './entry.ts'
import { Guarded } from './guarded.ts'
import { redactReply } from './redact.ts'
import { checkedBody, checkedFilter } from './returned.ts'

/** Whether a module does anything to plain answers. */
export const rewritesBodies = ({ hooks }: Entry): boolean => Boolean(hooks.reply ?? hooks.detect?.reply)

/** Whether a module does anything to answers. */
export const rewrites = (entry: Entry): boolean => entry.hooks.stream !== undefined || rewritesBodies(entry)

/** An answer on its way up through these entries, last entry first. */
export async function rewriteReply(reply: Reply, entries: readonly Entry[], call: Call): Promise<Reply> {
  const steps: Step[] = []
  for (const entry of entries.toReversed()) {
    const { reply, stream, detect } = entry.hooks
    if (detect?.reply) addDetection(steps, entry, detect.reply, call)
    if (reply ?? stream) steps.push({ entry, hook: 'reply', rewriter: entry.hooks })
  }
  return through(reply, steps, call)
}

/** An answer with what these entries reveal to the client alone; a promise only when one of them is elsewhere. */
export function revealReply(reply: Reply, entries: readonly Entry[], call: Call): Reply | Promise<Reply> {
  return through(reply, stepsOf('reveal', entries, call), call)
}

/** An answer as the detections alone of these entries let it pass; a promise as with `revealReply`. */
export function searchReply(reply: Reply, entries: readonly Entry[], call: Call): Reply | Promise<Reply> {
  return through(reply, stepsOf('detect', entries.toReversed(), call), call)
}

function stepsOf(hook: 'reveal' | 'detect', entries: readonly Entry[], call: Call): Step[] {
  const steps: Step[] = []
  for (const entry of entries) {
    const { reveal, detect, [searchesElsewhere]: elsewhere } = entry.hooks
    const does = hook === 'reveal' ? reveal : (elsewhere ?? detect?.reply)
    if (!does) continue
    if ('scan' in does) addDetection(steps, entry, does, call)
    else steps.push({ entry, hook, rewriter: does })
  }
  return steps
}

/** One module's rewriting, by one of its hooks. */
interface Rewriting {
  readonly entry: Entry
  readonly hook: 'reply' | 'reveal' | 'detect' | 'show'
  readonly rewriter: Rewriter
}

/** A change to an answer: one module's rewriting, or the detections of neighbours, which share one window. */
type Step = Rewriting | { readonly detectors: Detector[] }

/** Adds the detection of an entry, unless it has nothing to look for in this call. What one cleans the next sees clean. */
function addDetection(steps: Step[], entry: Entry, detection: Detection, call: Call): void {
  if (!looks(entry, detection, call)) return
  const detector = new Detector(entry, detection, call)
  const last = steps.at(-1)
  if (last && 'detectors' in last && !last.detectors.at(-1)!.detection.cleans) last.detectors.push(detector)
  else steps.push({ detectors: [detector] })
}

function through(reply: Reply, steps: readonly Step[], call: Call): Reply | Promise<Reply> {
  if (steps.length === 0) return reply
  return reply.kind === 'whole'
    ? wholeThrough(reply, reply.body, steps, call)
    : streamThrough(reply, steps, call)
}

/** A whole answer with what these steps make of its body so far. */
function wholeThrough(
  reply: WholeReply,
  body: Completion,
  steps: readonly Step[],
  call: Call,
): Reply | Promise<Reply> {
  let after = body
  for (const [i, step] of steps.entries()) {
    const made =
      'entry' in step ? runReply(step, after, call) : redactReply(after, step.detectors, call.cancel)
    if (made instanceof Promise)
      return made.then((next) => wholeThrough(reply, next, steps.slice(i + 1), call))
    after = made
  }
  return after === reply.body ? reply : WholeReply.of(after)
}

async function runReply(
  { entry, hook, rewriter }: Rewriting,
  body: Completion,
  call: Call,
): Promise<Completion> {
  if (!rewriter.reply) return body
  const started = performance.now()
  try {
    const returned = rewriter.reply(body, call)
    const waited = returned instanceof Promise ? entry.meter.deadlines.within(returned) : returned
    const after = checkedBody(await waited, body)
    if (after !== body && hook === 'reply')
      call.trace.rewrites.push({ module: entry.id, of: 'reply', before: body, after })
    return after
  } catch (error) {
    handleFailure(entry, hook, error, call)
    return body
  } finally {
    recordRun(entry, hook, performance.now() - started, call)
  }
}

/** A stream as these steps let it go on; the same when none of them has a filter for it. */
export function streamThrough(reply: StreamReply, steps: readonly Step[], call: Call): StreamReply {
  let current = reply
  let filters: Filter[] = []
  const flush = (): void => {
    if (filters.length > 0) current = current.through(filterStream(current.chunks, filters))
    filters = []
  }
  for (const step of steps) {
    if ('detectors' in step) {
      filters.push(new Redaction(step.detectors))
    } else if (step.rewriter.stream === 'buffer') {
      flush()
      current = new StreamReply('', buffered(step, current, call))
    } else {
      const filter = filterOf(step, call)
      if (filter instanceof BatchFilter) {
        flush()
        current = current.through(filter.through(current.chunks, step.entry))
      } else if (filter) filters.push(filter)
    }
  }
  flush()
  return current
}

function filterOf({ entry, hook, rewriter }: Rewriting, call: Call): Filter | BatchFilter | undefined {
  if (rewriter.stream === undefined || rewriter.stream === 'buffer') return undefined
  const name = hook === 'reply' ? 'stream' : hook
  try {
    const made = rewriter.stream(call)
    if (made instanceof BatchFilter) return made
    const filter = checkedFilter(made)
    return filter && new Guarded(entry, filter, call, name)
  } catch (error) {
    handleFailure(entry, name, error, call)
    return undefined
  }
}

/** Holds a stream until its module has seen the whole answer; unchanged answers leave chunk by chunk as they came. */
async function* buffered(step: Rewriting, reply: StreamReply, call: Call): AsyncGenerator<readonly Chunk[]> {
  const held: Chunk[] = []
  for await (const batch of reply.chunks) held.push(...batch)
  const body = assembled(held)
  const after = await runReply(step, body, call)
  yield after === body ? held : toChunks(after)
}
