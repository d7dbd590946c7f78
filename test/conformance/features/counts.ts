import { expect } from 'vitest'
import type { Cell } from '../cell.ts'
import type { Counts } from '../providers/provider.ts'

/** The provider's own counts, for the client and in the trace. */
export const usage = (cell: Cell): Promise<void> => counted(cell, { input: 120, output: 34, cached: 0 })

/** Of the prompt, what the provider had cached. */
export const cachedUsage = (cell: Cell): Promise<void> =>
  counted(cell, { input: 120, output: 34, cached: 90 })

async function counted(cell: Cell, counts: Counts): Promise<void> {
  for (const stream of [false, true]) {
    cell.reply({ content: 'counted', usage: cell.provider.usage(counts) })
    const answer = await cell.ask({ stream })
    expect(answer.usage).toMatchObject(counts)
    const { usage } = await cell.trace(answer.headers)
    expect(usage).toMatchObject({ input: 120, output: 34, cached_read: counts.cached, source: 'provider' })
  }
}
