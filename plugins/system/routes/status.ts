import { z } from 'zod'
import { type Context, kernelServices } from '#kernel'
import { componentsOf, worst } from '../components.ts'
import { averageLatencyMs, errorRate, overheadMs, type Traffic } from '../traffic.ts'

const level = z.enum(['healthy', 'degraded', 'down'])
const sinceStart = (what: string) => ({ description: `${what}, since the start of this process.` })

const status = z.object({
  status: level,
  uptime_seconds: z.int(),
  version: z.string(),
  generation: z.int().meta({ description: 'Grows by one with each change of plugins or settings.' }),
  total_requests: z.int().meta(sinceStart('Model calls that ended')),
  error_rate: z
    .number()
    .meta(sinceStart('Share of calls that a provider or the gateway failed, between 0 and 1')),
  avg_latency_ms: z.number().meta(sinceStart('Mean time of a call')),
  overhead_p99_ms: z
    .number()
    .meta(sinceStart('What 99 of 100 calls spent in the gateway at the most, rounded up by up to a fifth')),
  memory: z.object({
    rss: z.int().meta({ description: 'Memory of the process in bytes.' }),
    heap: z.int().meta({ description: 'Memory of JavaScript objects in the first thread, in bytes.' }),
  }),
  queues: z.record(z.string(), z.object({ depth: z.int(), bytes: z.int(), dropped: z.int() })).meta({
    description: 'Queued writes: number of rows, their size, and number of dropped rows.',
  }),
  refused: z
    .object({
      failed_keys: z.int().meta(sinceStart('Keys that failed, while auth.failed_keys_per_minute is set')),
      signups: z.int().meta(sinceStart('Signups beyond auth.signup_per_hour of their address')),
    })
    .meta({
      description:
        'Refused requests without a valid key. Many of them mean an attack or a client with an old key.',
    }),
  components: z.record(z.string(), z.object({ status: level, detail: z.string() })),
})

/** The state of the gateway in numbers. */
export function addStatusRoute(
  context: Context<unknown>,
  traffic: Traffic,
  storeAnswers: () => Promise<boolean>,
): void {
  const { route, use } = context
  route({
    method: 'get',
    path: '/api/status',
    access: 'any',
    summary: 'The state of the gateway: health of its parts, traffic, memory',
    returns: status,
    async handle() {
      const { version } = use(kernelServices.runtime)
      const components = await componentsOf(context, storeAnswers)
      const { failedKeys, signups } = use(kernelServices.refusals)
      const { rss, heapUsed } = process.memoryUsage()
      return {
        status: worst(components),
        uptime_seconds: Math.floor(process.uptime()),
        version,
        generation: use(kernelServices.registry).generation.number,
        total_requests: traffic.calls,
        error_rate: errorRate(traffic),
        avg_latency_ms: averageLatencyMs(traffic),
        overhead_p99_ms: overheadMs(traffic, 0.99),
        memory: { rss, heap: heapUsed },
        queues: await use(kernelServices.threads).queues(),
        refused: { failed_keys: failedKeys, signups },
        components,
      }
    },
  })
}
