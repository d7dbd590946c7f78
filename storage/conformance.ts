import { bodyConformance } from './conformance/bodies.ts'
import { collectionConformance } from './conformance/collections.ts'
import { counterConformance } from './conformance/counters.ts'
import { engineConformance } from './conformance/engines.ts'
import type { OpenEngine } from './conformance/harness.ts'
import { logConformance } from './conformance/logs.ts'
import { migrationConformance } from './conformance/migrations.ts'
import { sequenceConformance } from './conformance/sequences.ts'
import { transactionConformance } from './conformance/transactions.ts'

/**
 * The suite that every engine must pass, to be called inside a test file. `open` is given a folder of its own for each
 * test; when it is given the same folder again, the engine must hold what it held before.
 */
export function storeConformance(open: OpenEngine): void {
  engineConformance(open)
  collectionConformance(open)
  migrationConformance(open)
  logConformance(open)
  sequenceConformance(open)
  counterConformance(open)
  transactionConformance(open)
  bodyConformance(open)
}
