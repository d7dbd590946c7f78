import type { DeliveryRow } from './rows.ts'

interface Sums {
  total: number
  succeeded: number
  failed: number
  dropped: number
}

const dayMs = 86_400_000
const none = (): Sums => ({ total: 0, succeeded: 0, failed: 0, dropped: 0 })

function count(sums: Sums, { status }: DeliveryRow): void {
  sums.total += 1
  if (status === 'success') sums.succeeded += 1
  if (status === 'failed') sums.failed += 1
  if (status === 'dropped') sums.dropped += 1
}

/** Sums up deliveries; times are those of attempts that got an answer. */
export async function statsOf(rows: AsyncIterable<[id: string, row: DeliveryRow]>, now = Date.now()) {
  const [all, lastDay, byEvent, times] = [none(), none(), new Map<string, Sums>(), [] as number[]]
  for await (const [, row] of rows) {
    count(all, row)
    if (Date.parse(row.created_at) > now - dayMs) count(lastDay, row)
    const own = byEvent.get(row.event) ?? none()
    byEvent.set(row.event, own)
    count(own, row)
    if (row.response_status !== undefined && row.latency_ms !== undefined) times.push(row.latency_ms)
  }
  times.sort((a, b) => a - b)
  const ended = all.succeeded + all.failed
  const sum = times.reduce((a, b) => a + b, 0)
  return {
    ...all,
    success_rate: ended === 0 ? null : all.succeeded / ended,
    average_latency_ms: times.length === 0 ? null : sum / times.length,
    p95_latency_ms: times[Math.ceil(times.length * 0.95) - 1] ?? null,
    last_24h: lastDay,
    by_event: Object.fromEntries(byEvent),
  }
}
