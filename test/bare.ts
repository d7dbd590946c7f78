import { changed } from '../config/setting.ts'
import type { TestGateway } from './harness.ts'

/**
 * Switches every module off, for tests of what lies around the chain: nothing retries, caches or rests a key then. As one change: one
 * for each of two dozen modules takes as long as a gateway's start.
 */
export async function bareChain({ kernel: { registry } }: Pick<TestGateway, 'kernel'>): Promise<void> {
  const on = registry.plugins.filter(
    ({ manifest, setting }) => manifest?.kind === 'module' && setting?.enabled,
  )
  const off = on.map(({ id, stored }) => [id, changed(stored, { enabled: false })] as const)
  await registry.apply(async () => ({ rows: new Map(off), values: [] }))
}
