import { type FormChange, isGatewayError } from '#kernel'
import type { EnvironmentRow, SyncRow } from './environment.ts'
import { type SyncOptions, type SyncParts, ways } from './ways.ts'

const mostPaths = 500

/** Brings an environment and this gateway together. Each sync is kept, one that failed, too. */
export async function sync(
  parts: SyncParts,
  row: EnvironmentRow,
  options: SyncOptions,
): Promise<{ readonly kept: SyncRow; readonly changes: readonly FormChange[] }> {
  const { environments } = parts
  const { direction, isTrial, actor } = options
  const about = { environment: row.name, direction, actor: actor.principal?.keyId ?? 'operator' }
  try {
    const run = ways[row.kind][direction]
    const { changes, generation, ...hashes } = await run(parts, row, options)
    const paths = changes.slice(0, mostPaths).map(({ section, key }) => `${section}.${key}`)
    const status = isTrial ? ('dry_run' as const) : ('applied' as const)
    const kept = await environments.log({ ...about, ...hashes, status, paths, problem: null })
    if (!isTrial)
      await environments.change(row.name, () => ({
        current_generation: generation,
        last_synced_at: kept.synced_at,
        ...(row.kind === 'remote' && direction === 'push' && { known_hashes: [hashes.to_hash!] }),
      }))
    return { kept, changes }
  } catch (error) {
    const status = isGatewayError(error) && error.status === 409 ? 'conflict' : 'failed'
    const problem = isGatewayError(error) ? error.message.slice(0, 2000) : 'It failed inside of this gateway.'
    const nothing = { paths: [], from_hash: null, to_hash: null, rollback_id: null }
    await environments.log({ ...about, ...nothing, status, problem })
    throw error
  }
}
