import type { Calibrations } from './calibrations.ts'

/** Resolves when a calibration has ended, after so many milliseconds, or when the client leaves. */
export async function waitFor(
  { rows }: Calibrations,
  id: string,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const over = Promise.withResolvers<void>()
  const end = rows.watch((change) => {
    if (change.id === id && change.row?.status !== 'running') over.resolve()
  })
  const timer = setTimeout(over.resolve, ms)
  signal.addEventListener('abort', () => over.resolve(), { once: true })
  try {
    if ((await rows.get(id))?.status === 'running' && !signal.aborted) await over.promise
  } finally {
    clearTimeout(timer)
    end()
  }
}
