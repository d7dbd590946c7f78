import { z } from 'zod'
import { badRequest, type Context } from '#kernel'
import { scopeOf } from '#kit'
import { Tally } from '../tally.ts'
import type { Traces } from '../traces.ts'
import { sums as lineSums, missing, ofSource, sumsOf, unreadable } from './costs.ts'

const hour = 3600
const day = 24 * hour

/** Seconds of each period, and of its buckets when none are asked for. */
const periods = {
  '1h': { seconds: hour, bucket: 60 },
  '24h': { seconds: day, bucket: hour },
  '7d': { seconds: 7 * day, bucket: 6 * hour },
  '30d': { seconds: 30 * day, bucket: day },
} as const

const minute = 60

const divisors = (whole: number, step: number): number[] =>
  Array.from({ length: whole / step }, (_, n) => (n + 1) * step).filter((seconds) => whole % seconds === 0)

/** Whole minutes that divide an hour, and hours that divide a day. */
const buckets = [...new Set([...divisors(hour, minute), ...divisors(day, hour)])]

const query = z.strictObject({
  source: ofSource,
  period: z.enum(['1h', '24h', '7d', '30d']).default('24h'),
  bucket: z.coerce
    .number()
    .refine((seconds) => buckets.includes(seconds), `must be one of ${buckets.join(', ')}`)
    .optional()
    .meta({ enum: buckets, description: 'Seconds, at most the period; whole hours with 7d and 30d.' }),
})

const series = z.object({
  period: z.string(),
  bucket_seconds: z.int(),
  points: z.array(
    z.object({
      bucket: z.string().meta({ description: 'Start of the interval.' }),
      ...lineSums,
      errors: z.int(),
      avg_latency_ms: z.number(),
      p95_latency_ms: z.number(),
      cache_hits: z.int(),
    }),
  ),
  unreadable,
})

/** Requests over time. */
export function timeseriesRoute(context: Context<unknown>, traces: Traces): void {
  context.route({
    method: 'get',
    path: '/api/observe/timeseries',
    access: 'any',
    summary: 'Requests, costs and latency over time, oldest first',
    query,
    returns: series,
    async handle({ query: { period, bucket: asked, source }, principal }) {
      const { seconds, bucket: usual } = periods[period]
      const bucket = asked ?? usual
      checkBucket(bucket, seconds)
      const bucketMs = bucket * 1000
      const to = (Math.floor(Date.now() / bucketMs) + 1) * bucketMs
      const from = to - Math.ceil((seconds * 1000) / bucketMs) * bucketMs
      const cells = traces.cells(scopeOf(principal), source)
      const sums = await cells.series(from, to, bucketMs)
      return {
        period,
        bucket_seconds: bucket,
        points: Array.from({ length: (to - from) / bucketMs }, (_, i) => {
          const at = from + i * bucketMs
          return pointOf(at, sums.get(at) ?? new Tally())
        }),
        ...missing(cells),
      }
    },
  })
}

function checkBucket(bucket: number, period: number): void {
  if (bucket <= period && (bucket % hour === 0 || period <= day)) return
  throw badRequest('bucket must not exceed the period, and must be whole hours with 7d and 30d.', {
    param: 'bucket',
  })
}

function pointOf(at: number, tally: Tally) {
  return {
    bucket: new Date(at).toISOString(),
    ...sumsOf(tally),
    errors: tally.get('errors'),
    avg_latency_ms: tally.perRequest('latency_us') / 1000,
    p95_latency_ms: tally.latencyQuantile(0.95),
    cache_hits: tally.get('cache_hits'),
  }
}
