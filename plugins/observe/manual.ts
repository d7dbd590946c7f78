import { z } from 'zod'
import {
  badRequest,
  believedUsage,
  fromWireUsage,
  mostTokens,
  newId,
  noUsage,
  type Principal,
  type Usage,
  type WireUsage,
} from '#kernel'
import { callStatuses, mostCallUsd, nanoOf } from '#kit'
import type { RowCost, TraceRow } from './row.ts'

const dayMs = 86_400_000
const count = z.int().min(0).max(mostTokens)
const id = z.string().min(1).max(200)
const durationMs = z.number().min(0).max(dayMs)
const object = z.record(z.string(), z.unknown())

const usage = z.strictObject({
  input: count,
  output: count,
  cached_read: count.default(0),
  cache_write_5m: count.default(0),
  cache_write_1h: count.default(0),
  reasoning: count.default(0),
  audio_in: count.default(0),
  audio_out: count.default(0),
  image_in: count.default(0),
})

/** A call that was made elsewhere, as its caller reports it. */
export const manualTrace = z
  .strictObject({
    model: z.string().min(1).max(256),
    provider: z.string().min(1).max(100).optional(),
    request: object.optional(),
    response: object.optional(),
    usage: usage.optional().meta({ description: 'Tokens; read from the response if absent.' }),
    cost_usd: z.number().min(0).max(mostCallUsd).optional().meta({ description: 'Computed if absent.' }),
    status: z
      .enum(callStatuses)
      .optional()
      .meta({ description: 'By default ok, or error if there is an error.' }),
    status_code: z.int().min(100).max(599).optional(),
    error: z.strictObject({ code: z.string().max(200), message: z.string().max(2000) }).optional(),
    operation: z
      .enum([
        'chat',
        'completion',
        'embedding',
        'responses',
        'messages',
        'image',
        'audio',
        'rerank',
        'moderation',
        'tool',
        'mcp',
      ])
      .default('chat'),
    timestamp: z.iso.datetime({ offset: true }).optional().meta({
      description:
        'Start of the call. It must not be in the future or beyond the retention of traces. By default now minus the latency.',
    }),
    latency_ms: durationMs.default(0),
    ttft_ms: durationMs.optional(),
    stream: z.boolean().default(false),
    finish_reason: z.string().max(100).optional(),
    project: id.default('default'),
    tags: z.record(z.string().max(128), z.string().max(128)).default({}),
    session_id: id.optional(),
    request_id: id.optional(),
    parent_id: id.optional(),
    run_id: id.optional(),
  })
  .refine(
    (trace) => trace.request !== undefined || trace.response !== undefined || trace.usage !== undefined,
    {
      message: 'needs a request, a response or a usage',
    },
  )
  .meta({ anyOf: ['request', 'response', 'usage'].map((one) => ({ required: [one] })) })
  .refine(({ tags }) => Object.keys(tags).length <= 20, { path: ['tags'], message: 'at most 20 tags' })

type Manual = z.infer<typeof manualTrace>

/** The cost of a usage, in nano-dollars, where the price is known. */
type Price = (provider: string, model: string, usage: Usage, at: number) => RowCost | undefined

/**
 * When a call made elsewhere began, in milliseconds since the epoch. Throws a bad request for a time that has not come, and
 * for one whose traces are deleted already.
 */
export function beganAt({ timestamp, latency_ms }: Manual, keptDays: number, now = Date.now()): number {
  const at = timestamp === undefined ? Math.floor(now - latency_ms) : Date.parse(timestamp)
  const param = timestamp === undefined ? 'latency_ms' : 'timestamp'
  if (at > now) throw badRequest(`body ${param}: must not be in the future.`, { param })
  if (at < now - keptDays * dayMs) {
    throw badRequest(`body ${param}: is older than the ${keptDays} days for which traces are kept.`, {
      param,
    })
  }
  return at
}

/** The row of a call made elsewhere. It belongs to the user that reports it. */
export function manualRow(
  input: Manual,
  at: number,
  principal: Principal,
  storesBodies: boolean,
  price: Price,
): TraceRow {
  const used = usageOf(input)
  const status = input.status ?? (input.error ? 'error' : 'ok')
  const us = (ms: number): number => Math.round(ms * 1000)
  return {
    id: newId('tr_'),
    request_id: input.request_id,
    parent_id: input.parent_id,
    session_id: input.session_id,
    run_id: input.run_id,
    at,
    source: 'manual',
    operation: input.operation,
    wire: 'manual',
    user_id: principal.userId,
    key_id: principal.keyId,
    project: input.project,
    tags: input.tags,
    model_requested: input.model,
    model: input.model,
    provider: input.provider,
    provider_model: input.model,
    status,
    status_code: input.status_code ?? (status === 'ok' ? 200 : undefined),
    error: input.error && { ...input.error, provider_status: undefined, retryable: false },
    stream: input.stream,
    latency_us: us(input.latency_ms),
    ttft_us: input.ttft_ms === undefined ? undefined : us(input.ttft_ms),
    upstream_us: us(input.latency_ms),
    usage: used,
    cost:
      input.cost_usd === undefined
        ? price(input.provider ?? '', input.model, used, at)
        : told(input.cost_usd),
    saved_nano: undefined,
    saved_by_autopilot_nano: undefined,
    finish_reason: input.finish_reason,
    cache: undefined,
    attempts: [],
    timings: [],
    notes: [],
    decisions: [],
    params_changed: [],
    facts: {},
    generation: undefined,
    bodies: bodiesOf(input, storesBodies),
  }
}

function bodiesOf({ request, response }: Manual, storesBodies: boolean): TraceRow['bodies'] {
  if ((request ?? response) === undefined) return 'none'
  return storesBodies ? 'stored' : 'off'
}

/** A usage that no call can have counts as none. */
const usageOf = (input: Manual): Usage => believedUsage(claimOf(input)) ?? noUsage

function claimOf({ usage: given, response }: Manual): Usage | undefined {
  if (given) {
    return {
      input: given.input,
      output: given.output,
      cachedRead: given.cached_read,
      cacheWrite5m: given.cache_write_5m,
      cacheWrite1h: given.cache_write_1h,
      reasoning: given.reasoning,
      audioIn: given.audio_in,
      audioOut: given.audio_out,
      imageIn: given.image_in,
      source: 'provider',
    }
  }
  const reported = response?.usage
  const isReport = typeof reported === 'object' && reported !== null
  return isReport ? fromWireUsage(reported as WireUsage) : undefined
}

function told(usd: number): RowCost {
  const nano = nanoOf(usd)
  return {
    total_nano: nano,
    input_nano: 0,
    output_nano: 0,
    cache_nano: 0,
    other_nano: nano,
    price_id: 'manual',
    source: 'provider',
  }
}
