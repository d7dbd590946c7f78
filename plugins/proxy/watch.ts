import type { z } from 'zod'
import { type Attempt, CallSettled, type Context } from '#kernel'
import { ProviderDirectory, ProviderProber } from '#provider'
import { HealthChanged, ProviderFailed } from './events.ts'
import {
  type Health,
  type HealthStatus,
  healthOf,
  isProvidersFault,
  remember,
  type Sample,
  windowMs,
} from './health.ts'

/** Watches how providers answer real calls, and tells when that changes. */
export interface Watch {
  health(provider: string): Health
  /** Compares a provider with what it was, and emits the difference; call it after a check. */
  update(provider: string): void
  /** Tries that have been seen since the start. */
  readonly tries: { readonly total: number; readonly failed: number }
}

/** A try that says something about its provider, as plain data. */
interface Try {
  readonly provider: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly latencyMs: number
  /** Where the provider failed. */
  readonly failure?: {
    readonly isTold: boolean
    readonly told: Omit<z.infer<typeof ProviderFailed.schema>, 'provider'>
  }
}

function tryOf({ provider, model, error, status, latencyMs, n }: Attempt, traceId: string): Try | undefined {
  if (!error && (status === undefined || status >= 400)) return undefined
  const seen = { provider, at: Date.now(), latencyMs: latencyMs ?? 0 }
  if (error === undefined || !isProvidersFault(error)) return seen
  const isTold = error.fault !== 'status' || (status ?? 0) >= 500
  const message = error.message.slice(0, 300)
  return {
    ...seen,
    failure: { isTold, told: { model, status: status ?? null, message, trace_id: traceId, attempt: n } },
  }
}

/**
 * Starts to watch, for as long as the plugin runs. Providers that are not well are asked again every so often, so that it
 * is known when they are, without a call that tries it.
 */
export function watchProviders(
  { on, event, emit, use, memory, every, inFirstThread }: Context<unknown>,
  recheckMs: number,
): Watch {
  event(HealthChanged)
  event(ProviderFailed)
  const samples = memory('samples', () => new Map<string, Sample[]>())
  const known = memory('statuses', () => new Map<string, HealthStatus>())
  const tries = memory('tries', () => ({ total: 0, failed: 0 }))

  const health = (provider: string): Health =>
    healthOf(samples.get(provider) ?? [], use(ProviderProber).last(provider), Date.now())

  const update = (provider: string): void => {
    const { status, errorRate } = health(provider)
    const before = known.get(provider) ?? 'unknown'
    if (status === before) return
    known.set(provider, status)
    if (before === 'unknown' && status === 'healthy') return
    emit(HealthChanged, {
      provider,
      from: before,
      to: status,
      error_rate: errorRate,
      window_s: windowMs / 1000,
    })
  }

  const note = inFirstThread('tries', ({ provider, at, latencyMs, failure }: Try): void => {
    const failed = failure !== undefined
    tries.total += 1
    const own = samples.get(provider) ?? []
    samples.set(provider, own)
    remember(own, { at, ok: !failed, ms: latencyMs })
    if (failed || known.get(provider) !== 'healthy') update(provider)
    if (!failed) return
    tries.failed += 1
    if (failure.isTold) emit(ProviderFailed, { provider, ...failure.told })
  })

  on(CallSettled, ({ call }) => {
    for (const attempt of call.trace.attempts) {
      const seen = tryOf(attempt, call.id)
      if (seen) note(seen)
    }
  })
  const recheck = async (): Promise<void> => {
    const ailing = use(ProviderDirectory).providers.filter(
      ({ name, configured }) => configured && ['down', 'degraded'].includes(known.get(name) ?? ''),
    )
    await Promise.all(ailing.map((provider) => use(ProviderProber).check(provider)))
    for (const { name } of ailing) update(name)
  }
  if (recheckMs > 0) every(recheckMs, recheck)

  return { health, update, tries }
}
