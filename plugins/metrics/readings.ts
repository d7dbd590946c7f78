import { type Context, kernelServices, type QueueStatus } from '#kernel'
import { type Family, read } from './families.ts'
import { written } from './labels.ts'
import type { Reading } from './text.ts'

/** Sums that may fall, such as when a thread with a part of them ends. Plain data. */
export type Highest = Record<string, { seen: number; lost: number }>

export type Queues = Readonly<Record<string, QueueStatus>>

export interface ReadingParts {
  readonly use: Context<unknown>['use']
  /** Calls that run, in all threads. */
  readonly inFlight: number
  readonly queues: Queues
  readonly leftOut: number
  readonly dropped: Highest
}

/** The state of the gateway now. */
export function readings({ use, inFlight, queues, leftOut, dropped }: ReadingParts): Reading[] {
  const threads = use(kernelServices.threads)
  const registry = use(kernelServices.registry)
  const { version, startedAt } = use(kernelServices.runtime)
  const { rss, heapUsed } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const states = new Map<string, number>()
  for (const plugin of registry.plugins) {
    const state = registry.stateOf(plugin)
    states.set(state, (states.get(state) ?? 0) + 1)
  }
  return [
    reading(read.inFlight, inFlight),
    reading(read.failedKeys, use(kernelServices.refusals).failedKeys),
    ...Object.entries(queues).flatMap(([queue, status]) => queueOf(queue, status, dropped)),
    ...[...states].map(([state, number]) => reading(read.plugins, number, { state })),
    reading(read.generation, registry.generation.number),
    reading(read.storeHealthy, use(kernelServices.storeState).problem === undefined ? 1 : 0),
    reading(read.threads, threads.count),
    reading(read.info, 1, { version, node: process.version }),
    reading(read.leftOut, leftOut),
    reading(read.resident, rss),
    reading(read.heap, heapUsed),
    reading(read.cpu, (user + system) / 1e6),
    reading(read.startTime, startedAt / 1000),
  ]
}

const reading = (family: Family, value: number, labels: Readonly<Record<string, string>> = {}): Reading => ({
  family,
  labels: written(labels),
  value,
})

const queueOf = (queue: string, { depth, bytes, dropped }: QueueStatus, all: Highest): Reading[] => [
  reading(read.queueDepth, depth, { queue }),
  reading(read.queueBytes, bytes, { queue }),
  reading(read.queueDropped, rising(all, queue, dropped), { queue }),
]

/** The same sum, which goes on from where it was when a part of it is gone. */
export function rising(all: Highest, name: string, sum: number): number {
  all[name] ??= { seen: 0, lost: 0 }
  const one = all[name]
  if (sum < one.seen) one.lost += one.seen - sum
  one.seen = sum
  return one.lost + sum
}
