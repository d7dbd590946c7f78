import { z } from 'zod'
import {
  type Call,
  CallSettled,
  circuitOpen,
  defineModule,
  isUpstreamError,
  type Outcome,
  type UpstreamError,
} from '#kernel'
import { ensure, modelName, type Priority, priorityOf } from '#kit'
import {
  enter,
  isBlank,
  type LoadLimit,
  leave,
  newLoadLimit,
  type Running,
  type Told,
  takeOver,
} from './load-limit.ts'

/** The part of the limit that calls of a priority may fill: the rest is kept for more urgent ones. */
const shares: Readonly<Record<Priority, number>> = { high: 1, normal: 0.8, low: 0.6 }

const mostModels = 200

/**
 * Refuses at once what would only wait, so that the calls that are let in stay fast. Each model has a limit of its own in each
 * thread, because its latency is its own. Only model calls pass here: the management API and health checks are never refused.
 */
export default defineModule({
  settings: z
    .strictObject({
      min: z.int().min(1).max(100_000).default(8).meta({
        title: 'Lowest limit',
        description: 'Calls of a model that may always run at a time, in each thread.',
      }),
      max: z.int().min(1).max(100_000).default(1024).meta({
        title: 'Highest limit',
        description: 'Calls of a model that may run at a time at the most, in each thread.',
      }),
      tolerance: z.number().min(1.1).max(10).default(2).meta({
        title: 'Tolerance',
        description: 'Multiple of the best latency that calls may take before others are refused.',
      }),
    })
    .refine(({ min, max }) => min <= max, { path: ['max'], message: 'must not be less than min' }),

  setup({ settings, memory, slot, report, on, own }) {
    const loads = memory('loads', () => new Map<string, LoadLimit>())
    const life = memory('life', newLife)
    // Settings that change make another instance before the one before ends.
    if (life.instances === 0) life.since = Date.now()
    life.instances += 1
    own(() => {
      life.instances -= 1
    })
    const loadOf = (model: string): LoadLimit =>
      ensure(loads, model, () => newLoadLimit(settings, performance.now()), mostModels)
    on(CallSettled, ({ call }) => {
      const { trace } = call
      if (trace.startedAt < life.since && trace.attempts.length > 0 && !life.seen.has(trace))
        takeOver(loadOf(modelName(call).name), settings, performance.now())
    })
    const entered = slot<{ model?: string; load?: LoadLimit; running?: Running }>(() => ({}))
    /** By model, when it was last reported that calls are refused. */
    const reported = new Map<string, number>()

    function refuse(load: LoadLimit, model: string, priority: Priority): never {
      const now = performance.now()
      if (now - ensure(reported, model, () => Number.NEGATIVE_INFINITY, mostModels) > reportMs) {
        reported.set(model, now)
        report('shedding', `${model}: ${load.running} calls run, the limit is ${Math.floor(load.limit)}`)
      }
      throw circuitOpen(
        'The gateway is overloaded and refuses calls that would only wait. Try again in a moment.',
        {
          type: 'overloaded',
          retryAfterS,
          details: { priority, limit: Math.floor(load.limit), running: load.running },
        },
      )
    }

    return {
      request(call) {
        const model = modelName(call).name
        const priority = priorityOf(call)
        const load = loadOf(model)
        const running = enter(load, shares[priority])
        if (!running) refuse(load, model, priority)
        life.seen.add(call.trace)
        Object.assign(entered(call), { model, load, running })
        return undefined
      },
      settled(outcome, call) {
        const { model, load, running } = entered(call)
        if (model === undefined || !load || !running) return
        leave(load, running, toldBy(outcome, call), settings, performance.now())
        // Nothing is kept of names that clients make up, or they would push out what is known of real models.
        if (isBlank(load) && loads.get(model) === load) loads.delete(model)
      },
    }
  },
})

/** Tells calls that ran before the module was switched on, which hold places that it does not know of. */
interface Life {
  /** When it was switched on last, in milliseconds since the epoch. */
  since: number
  instances: number
  /** The traces of the calls that it has let in, also before it was switched off. */
  readonly seen: WeakSet<object>
}

const newLife = (): Life => ({ since: 0, instances: 0, seen: new WeakSet() })

const retryAfterS = 1
/** A model's overload is reported once in so many milliseconds. */
const reportMs = 60_000

/**
 * What a call tells about the load: of an answer that came whole its time, and of a stream the time to its first content.
 * Calls are compared with those of their size, as long answers take long.
 */
function toldBy({ error, usage }: Outcome, { trace, operation, stream }: Call): Told | undefined {
  const { served } = trace
  if (isUpstreamError(error)) return isOverload(error) ? 'overloaded' : undefined
  if (error || !served || trace.cached) return undefined
  const ms = stream ? (trace.firstContentAt ?? Number.NaN) - served.startedAt : served.latencyMs
  if (ms === undefined || !(ms >= 0)) return undefined
  const size = sizeOf(stream || operation === 'embedding' ? usage.input : usage.output)
  return { kind: `${operation} ${stream} ${size} ${served.provider}/${served.model}`, ms }
}

const isOverload = ({ fault, providerStatus }: UpstreamError): boolean =>
  fault === 'timeout' || providerStatus === 429 || providerStatus === 503 || providerStatus === 529

/** Sizes are alike within a factor of two. */
const sizeOf = (tokens: number): number => 32 - Math.clz32(tokens)
