import type { CallChains } from '#kernel'
import type { Arrangements } from '../arrangements.ts'
import type { Traces } from '../traces.ts'
import { modulesOf } from './modules.ts'

/** The chains of stored calls, for other plugins. */
export const callChains = (
  traces: Pick<Traces, 'get'>,
  arrangements: Pick<Arrangements, 'of'>,
): CallChains => ({
  async of(traceId) {
    const row = await traces.get(traceId)
    if (!row) return undefined
    const { generation, at } = row
    const kept = generation === undefined ? undefined : await arrangements.of(generation, at)
    const modules = modulesOf(row, kept?.modules ?? []).map(({ name, version, mode, outcome, verdicts }) => ({
      name,
      version,
      mode,
      outcome,
      verdicts: verdicts.map(({ verdict }) => verdict),
    }))
    return { generation, isWhole: kept !== undefined, modules }
  },
})
