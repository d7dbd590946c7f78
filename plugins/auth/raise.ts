import { type Accounts, isGatewayError, type UsedSums } from '#kernel'
import type { UsageMeter } from './meter.ts'

/** Raises the sums of users who are still there; of how many some were less. */
export async function raiseAll(
  meter: UsageMeter,
  accounts: Pick<Accounts, 'user'>,
  period: string,
  sums: ReadonlyMap<string, UsedSums>,
): Promise<number> {
  let raised = 0
  for (const [userId, least] of sums) {
    if (!(await isThere(accounts, userId))) continue
    if (meter.raise(userId, period, least)) raised += 1
  }
  return raised
}

async function isThere(accounts: Pick<Accounts, 'user'>, userId: string): Promise<boolean> {
  try {
    await accounts.user(userId)
    return true
  } catch (error) {
    if (isGatewayError(error) && error.code === 'not_found') return false
    throw error
  }
}
