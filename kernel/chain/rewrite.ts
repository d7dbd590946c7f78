import type { Call } from '../call/call.ts'
import type { Completion } from '../call/canonical.ts'
import { type Reply, StreamReply, WholeReply } from '../call/reply.ts'
import type { Detection } from '../detect/detect.ts'
import { Redaction } from '../detect/redaction.ts'
import type { Chunk } from '../stream/chunk.ts'
import { toChunks } from '../stream/chunks.ts'
import { assembled } from '../stream/collect.ts'
import { type Filter, filterStream } from '../stream/filter.ts'
import { BatchFilter, BatchReveal } from './batches.ts'
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
  const steps = stepsOf(entries, call)
  if (steps.length === 0) return reply
  return reply.kind === 'whole' ? wholeThrough(reply, steps, call) : streamThrough(reply, steps, call)
}

/** An answer with what these entries reveal to the client alone; a promise only when one of them is elsewhere. */
export function revealReply(reply: Reply, entries: readonly Entry[], call: Call): Reply | Promise<Reply> {
  for (const [i, entry] of entries.entries()) {
    const { reveal } = entry.hooks
    if (!(reveal instanceof BatchReveal)) continue
    const before = revealedHere(reply, entries.slice(0, i), call)
    const after = entries.slice(i + 1)
    return reveal.through(before, entry, call).then((shown) => revealReply(shown, after, call))
  }
  return revealedHere(reply, entries, call)
}

function revealedHere(reply: Reply, entries: readonly Entry[], call: Call): Reply {
  const detectors = entries.flatMap((entry) =>
    detectorsOf(entry, entry.hooks.reveal as Detection | undefined, call),
  )
  if (detectors.length === 0) return reply
  if (reply.kind === 'stream') return reply.through(filterStream(reply.chunks, [new Redaction(detectors)]))
  const body = redactReply(reply.body, detectors)
  return body === reply.body ? reply : WholeReply.of(body)
}

/** A change to an answer: one module's rewriting, or the detections of neighbours, which share one window. */
type Step = { readonly entry: Entry } | { readonly detectors: Detector[] }

function stepsOf(entries: readonly Entry[], call: Call): Step[] {
  const steps: Step[] = []
  for (const entry of entries.toReversed()) {
    const { reply, stream, detect } = entry.hooks
    const detectors = detectorsOf(entry, detect?.reply, call)
    if (detectors.length > 0) {
      const last = steps.at(-1)
      if (last && 'detectors' in last) last.detectors.push(...detectors)
      else steps.push({ detectors })
    }
    if (reply ?? stream) steps.push({ entry })
  }
  return steps
}

/** The detector of an entry, unless it has nothing to look for in this call. */
function detectorsOf(entry: Entry, detection: Detection | undefined, call: Call): Detector[] {
  return detection && looks(entry, detection, call) ? [new Detector(entry, detection, call)] : []
}

async function wholeThrough(reply: WholeReply, steps: readonly Step[], call: Call): Promise<Reply> {
  let body: Completion | undefined
  for (const step of steps) {
    const before: Completion = body ?? reply.body
    const after =
      'entry' in step ? await runReply(step.entry, before, call) : redactReply(before, step.detectors)
    if (after !== before) body = after
  }
  return body ? WholeReply.of(body) : reply
}

async function runReply(entry: Entry, body: Completion, call: Call): Promise<Completion> {
  if (!entry.hooks.reply) return body
  const started = performance.now()
  try {
    const returned = entry.hooks.reply(body, call)
    const waited = returned instanceof Promise ? entry.meter.deadlines.within(returned) : returned
    const after = checkedBody(await waited, body)
    if (after !== body) call.trace.rewrites.push({ module: entry.id, of: 'reply', before: body, after })
    return after
  } catch (error) {
    handleFailure(entry, 'reply', error, call)
    return body
  } finally {
    recordRun(entry, 'reply', performance.now() - started, call)
  }
}

function streamThrough(reply: StreamReply, steps: readonly Step[], call: Call): StreamReply {
  let current = reply
  let filters: Filter[] = []
  const flush = (): void => {
    if (filters.length > 0) current = current.through(filterStream(current.chunks, filters))
    filters = []
  }
  for (const step of steps) {
    if ('detectors' in step) {
      filters.push(new Redaction(step.detectors))
    } else if (step.entry.hooks.stream === 'buffer') {
      flush()
      current = new StreamReply('', buffered(step.entry, current, call))
    } else {
      const filter = filterOf(step.entry, call)
      if (filter instanceof BatchFilter) {
        flush()
        current = current.through(filter.through(current.chunks, step.entry))
      } else if (filter) filters.push(new Guarded(step.entry, filter, call))
    }
  }
  flush()
  return current
}

function filterOf(entry: Entry, call: Call): Filter | BatchFilter | undefined {
  const { stream } = entry.hooks
  if (stream === undefined || stream === 'buffer') return undefined
  try {
    const filter = stream(call)
    return filter instanceof BatchFilter ? filter : checkedFilter(filter)
  } catch (error) {
    handleFailure(entry, 'stream', error, call)
    return undefined
  }
}

/** Holds a stream until its module has seen the whole answer; unchanged answers leave chunk by chunk as they came. */
async function* buffered(entry: Entry, reply: StreamReply, call: Call): AsyncGenerator<readonly Chunk[]> {
  const held: Chunk[] = []
  for await (const batch of reply.chunks) held.push(...batch)
  const body = assembled(held)
  const after = await runReply(entry, body, call)
  yield after === body ? held : toChunks(after)
}
