import { z } from 'zod'
import { type Attempt, type Call, type Cancel, defineModule, type GatewayError, rateLimited } from '#kernel'
import { byName, priorityOf } from '#kit'
import { addRoute } from './route.ts'
import { type Turn, Turns } from './turns.ts'

const name = z.string().min(1).max(256)

/**
 * The slot is taken for each attempt, when the provider is known, and held until the attempt is over: for a stream until its
 * last chunk. A retry or a fallback takes a turn of its own.
 */
export default defineModule({
  settings: z.strictObject({
    concurrency: z.record(name, z.int().min(1).max(1_000_000)).default({}).meta({
      title: 'Concurrency',
      description:
        'Calls that may run at a time, by provider or by provider/model. With a glob, each provider or model that matches has as many. A model is bound by its own entry if it has one, else by that of its provider.',
    }),
    max_queue: z.int().min(0).max(1_000_000).default(1000).meta({
      title: 'Longest queue',
      description:
        'Calls that may wait for a provider or model. When it is full, the tenant with most calls in it loses one.',
    }),
    max_wait_ms: z.int().min(1).max(3_500_000).default(30_000).meta({
      title: 'Longest wait',
      description: 'Milliseconds after which a call that still waits is refused.',
    }),
    weights: z.record(name, z.number().min(0.001).max(1000)).default({}).meta({
      title: 'Weights',
      description: 'Shares of tenants, or of users without a tenant, by id or glob. Others have 1.',
    }),
  }),

  once(context) {
    const turns = new Turns(context)
    addRoute(context, turns)
    return turns
  },

  setup({ id, settings, slot }, turns) {
    const { concurrency, max_queue: mostWaiting, max_wait_ms: longestWaitMs, weights } = settings
    if (Object.keys(concurrency).length === 0) return {}

    const entries = Object.entries(concurrency)
    const isOfModel = ([name]: [string, number]): boolean => name.includes('/')
    const ofModels = byName(Object.fromEntries(entries.filter(isOfModel)))
    const ofProviders = byName(Object.fromEntries(entries.filter((entry) => !isOfModel(entry))))
    const weightOf = byName(weights)
    /** The slots that a call has or waits for. */
    const taken = slot<Taken[]>(() => [])

    const laneOf = ({ provider, model }: Attempt): { lane: string; most: number } | undefined => {
      const name = `${provider}/${model}`
      const ofModel = ofModels(name)
      if (ofModel !== undefined) return { lane: name, most: ofModel }
      const most = ofProviders(provider)
      return most === undefined ? undefined : { lane: provider, most }
    }

    /** Lets the attempt begin, or throws. */
    function obey(turn: Turn | undefined, lane: string, call: Call, since: number): void {
      if (turn?.granted === false) throw refusal(turn, lane, settings.max_wait_ms)
      if (turn?.hasWaited)
        call.trace.note(id, 'queued', { target: lane, wait_ms: Math.round(performance.now() - since) })
    }

    return {
      request(call) {
        priorityOf(call)
        return undefined
      },
      attempt(attempt, call) {
        const place = laneOf(attempt)
        if (!place) return undefined
        const { lane, most } = place
        const [since, turn] = [performance.now(), turns.nextId()]
        const owner = ownerOf(call)
        taken(call).push({ lane, turn, cancel: call.cancel })
        const answer = turns.enter({
          id: turn,
          configuration: id,
          target: lane,
          owner,
          weight: weightOf(owner) ?? 1,
          priority: priorityOf(call),
          most,
          mostWaiting,
          longestWaitMs,
        })
        if (!(answer instanceof Promise)) return obey(answer, lane, call, since)
        const forget = call.cancel.onAbort(() => turns.leave(turn))
        return answer.then((late) => {
          forget()
          call.cancel.check()
          obey(late, lane, call, since)
        })
      },
      attemptEnded(attempt, call) {
        const lane = laneOf(attempt)?.lane
        const all = taken(call)
        const at = all.findIndex((one) => one.lane === lane && one.cancel === call.cancel)
        for (const { turn } of at === -1 ? [] : all.splice(at, 1)) turns.leave(turn)
      },
      settled(_, call) {
        for (const { turn } of taken(call).splice(0)) turns.leave(turn)
      },
    }
  },
})

/** A slot that an attempt has or waits for. Attempts that race each other have a cancel each. */
interface Taken {
  readonly lane: string
  readonly turn: string
  readonly cancel: Cancel
}

const ownerOf = ({ principal: { tenant, userId, keyId } }: Call): string => tenant ?? userId ?? keyId

function refusal(
  { reason, retryMs, waiting }: Extract<Turn, { granted: false }>,
  target: string,
  longestWaitMs: number,
): GatewayError {
  const retryAfterS = Math.min(60, Math.max(1, Math.ceil(retryMs / 1000)))
  const why =
    reason === 'queue_full'
      ? `Too many calls wait for ${target}`
      : `${target} had no free slot for this call within ${longestWaitMs} ms`
  return rateLimited(`${why}. Try again in ${retryAfterS} s.`, {
    retryAfterS,
    details: { target, reason, waiting, retry_after_s: retryAfterS },
  })
}
