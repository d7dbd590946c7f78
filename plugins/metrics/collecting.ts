import { CallSettled, CallStarted, type Context, ThreadEnded } from '#kernel'
import { count } from './count.ts'
import { ModelLabels } from './labels.ts'
import { soon } from './soon.ts'
import { emptySums, merge, type Sums, take } from './sums.ts'

const sendMs = 1000
/** What calls have added up to, over all threads. */
export interface Collected {
  readonly sums: Sums
  /** Calls that run now. */
  inFlight(): number
  /** Has all threads send what they have counted; resolves when the sums have it, or when a busy thread would make a scrape wait. */
  refresh(): Promise<void>
}

/** What a thread has counted since it last sent it. */
interface Part {
  readonly sums: Sums
  readonly inFlight: number
}

/**
 * Counts calls in each thread, and adds up in the first one what the others send every second. The sums outlive a change of
 * code or settings, and begin at zero with the process.
 */
export function collect(context: Context<unknown>): Collected {
  const sums = context.memory('sums', emptySums)
  const running = new Set<string>()
  const runningBy = new Map<number, number>()
  const models = new ModelLabels(context.memory('models', () => new Map<string, string>()))
  const isFirst = context.askFirstThread('first', () => true)(undefined) === true
  const send = context.askFirstThread('sums', (part: Part, from) => {
    merge(sums, part.sums)
    runningBy.set(from, part.inFlight)
    return true
  })

  /** What the first thread does not take, because its plugin is being replaced, is sent later. */
  async function flush(): Promise<void> {
    if (isFirst) return
    const part = take(sums)
    const isTaken = await send({ sums: part, inFlight: running.size })
    if (!isTaken) merge(sums, part)
  }
  const flushAll = context.inEachThread('send', flush)

  context.every(sendMs, flush, { inEachThread: true })
  context.on(CallStarted, ({ call }) => void running.add(call.id))
  context.on(CallSettled, ({ outcome, call }) => {
    running.delete(call.id)
    count(sums, models, outcome, call)
  })
  context.on(ThreadEnded, ({ thread }) => void runningBy.delete(thread))

  return {
    sums,
    inFlight: () => [...runningBy.values()].reduce((sum, number) => sum + number, running.size),
    refresh: () => soon(flushAll()),
  }
}
