import { z } from 'zod'
import { type Context, Counting, kernelServices, type Principal, planBudget } from '#kernel'
import type { Entitlements } from './entitlements.ts'

export const limits = z.object({ requests_per_month: z.int().optional(), users: z.int().optional() })
export const usage = z.object({ requests: z.int().optional(), users: z.int().optional() })

/** What limits a caller, by its plan or for an admin by the license, and what of it is used in this month (UTC); both empty for no limit. */
export async function limitsOf(
  principal: Principal,
  entitlements: Entitlements,
  { use }: Pick<Context<unknown>, 'use'>,
): Promise<{ limits: z.infer<typeof limits>; usage: z.infer<typeof usage> }> {
  const quotas = entitlements.quotasOf(principal)
  const own = quotas.find(({ scope }) => scope === 'user') ?? quotas[0]
  const [left] = own ? await use(Counting).budget(planBudget).left([own.claim]) : []
  const users = principal.type === 'admin' ? entitlements.license?.limits.users : undefined
  return {
    limits: {
      ...(own && { requests_per_month: own.claim.limit.most }),
      ...(users !== undefined && { users }),
    },
    usage: {
      ...(left && { requests: left.used }),
      ...(users !== undefined && { users: (await use(kernelServices.accounts).users({ limit: 0 })).total }),
    },
  }
}
