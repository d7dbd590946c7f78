import type { GuestData } from './messages.ts'
import { defaultWorkerLimits, WorkerHost } from './worker-host.ts'

/** Starts a worker only to learn which settings its plugin takes, as a JSON Schema. */
export function describeInWorker(data: GuestData): Promise<Record<string, unknown> | undefined> {
  const described = Promise.withResolvers<Record<string, unknown> | undefined>()
  const host = new WorkerHost({
    data: () => data,
    limits: defaultWorkerLimits,
    heard: (message) => {
      if (message.kind === 'described') described.resolve(message.schema)
    },
    down: () => {},
  })
  host.start().catch(described.reject)
  return described.promise.finally(() => host.abandon())
}
