import type { Context, Ledger } from '#kernel'
import { Packs } from './packs.ts'
import { addEvidenceRoutes } from './routes.ts'
import type { Sources } from './sections.ts'

const hourMs = 3_600_000

/** Packs of evidence: their routes, the jobs that collect them, and their end. */
export function addEvidence(
  context: Context<unknown>,
  sources: Omit<Sources, 'context'>,
  ledger: Ledger,
  days: number,
): void {
  const packs = new Packs(context, { ...sources, context }, ledger, days)
  context.every(hourMs, () => packs.prune())
  addEvidenceRoutes(context, packs)
}
