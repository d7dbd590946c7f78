import type { Job } from '#kernel'
import { type End, goOn, type Means } from './attempt.ts'
import { RunOver, type RunRow } from './rows.ts'
import type { RunStore } from './store.ts'

/** Stores the end of a run. */
type Finish = (id: string, end: End, ranMs: number) => Promise<unknown>

/**
 * Makes a run, or goes on with one that was cut off or has waited, until it ends or waits for a person. Returns early where the run
 * was cancelled or deleted meanwhile; throws only what ends the job and not the run.
 */
export async function perform(
  means: Means,
  { input: { id }, signal, waitFor }: Job<{ id: string }>,
  finish: Finish,
): Promise<void> {
  const { store } = means
  for (;;) {
    const run = await changed(store, id, begun)
    const attempt = run && (await goOn(means, run, signal).catch(unlessOver))
    if (!run || !attempt) return
    const { end, until = Number.POSITIVE_INFINITY, ranMs } = attempt
    if (end) {
      await finish(id, end, ranMs)
      return
    }
    if (!(await changed(store, id, (row) => ({ ...row, status: 'waiting_human', ran_ms: ranMs })))) return
    await waitFor(`turn ${run.turn}`, Number.isFinite(until) ? { until } : {})
    // The time was over before anybody decided: the next attempt finds what that means.
    await changed(store, id, (row) => (row.turn === run.turn ? { ...row, turn: row.turn + 1 } : row))
  }
}

const begun = (row: RunRow): RunRow => ({
  ...row,
  status: 'running',
  started_at: row.started_at ?? new Date().toISOString(),
})

/** Undefined where the run has ended meanwhile. */
const changed = (store: RunStore, id: string, change: (row: RunRow) => RunRow): Promise<RunRow | undefined> =>
  store.change(id, change).catch(unlessOver)

const unlessOver = (error: unknown): undefined => {
  if (!(error instanceof RunOver)) throw error
}
