import { isGatewayError } from '#kernel'
import type { CampaignRow } from '../campaigns/rows.ts'
import { AddressRefused } from '../target/address.ts'
import { BudgetOver } from './money.ts'
import { TargetFailing } from './watch.ts'

/** Characters of a reason. */
const most = 500

/** How a hunt ends that something stops, and why; undefined for what is wrong with the gateway. */
export function endBy(error: unknown): Required<Pick<CampaignRow, 'status' | 'problem'>> | undefined {
  if (error instanceof BudgetOver)
    return {
      status: 'completed',
      problem: { code: 'budget_over', message: 'The budget of the campaign is used up.' },
    }
  if (error instanceof AddressRefused)
    return {
      status: 'failed',
      problem: {
        code: 'address_refused',
        message: 'The address is not public, and the operator has not allowed it under `egress.allow`.',
      },
    }
  if (error instanceof TargetFailing)
    return { status: 'paused', problem: { code: 'target_failing', message: error.message.slice(0, most) } }
  if (isGatewayError(error))
    return { status: 'paused', problem: { code: error.code, message: error.message.slice(0, most) } }
  return undefined
}
