import { z } from 'zod'
import { defineModule, forbidden, type Principal } from '#kernel'
import { isIpRange } from '#kit'
import { compileFence, type Fence, type Lists } from './fence.ts'

const ranges = z
  .array(
    z.string().refine(isIpRange, 'must be an address or a CIDR range, such as 10.0.0.0/8 or 2001:db8::/32'),
  )
  .default([])

const lists = {
  allow: ranges.meta({
    title: 'Allow',
    description:
      'Allowed addresses and CIDR ranges. If empty, all addresses are allowed that are not denied.',
  }),
  deny: ranges.meta({
    title: 'Deny',
    description: 'Denied addresses and CIDR ranges, even if they are also allowed.',
  }),
}

const listsBy = z.record(z.string(), z.strictObject(lists)).default({})

/** Balancers and monitors must reach these from anywhere: if refused, they would take the gateway for dead. */
const healthChecks = new Set(['/health', '/api/health'])

export default defineModule({
  settings: z.strictObject({
    ...lists,
    per_user: listsBy.meta({
      title: 'Per user',
      description: 'Lists by user id. They narrow the general lists and never widen them.',
    }),
    per_key: listsBy.meta({
      title: 'Per key',
      description: 'Lists by key id. They narrow the general lists and never widen them.',
    }),
    scope: z.enum(['proxy', 'all']).default('proxy').meta({
      title: 'Scope',
      description:
        'What is protected: only /v1, or also management, the dashboard and shared pages. Health checks are always open.',
    }),
  }),

  setup({ settings, report }) {
    const everybody = compileFence(settings)
    const users = compileFences(settings.per_user)
    const keys = compileFences(settings.per_key)
    if (!everybody && users.size === 0 && keys.size === 0) return {}

    const check = (fence: Fence | undefined, address: string, whom: string): void => {
      const list = fence?.(address)
      if (list === undefined) return
      report('kept_out', `${address}, by ${list} for ${whom}`)
      throw forbidden(`The address ${address} is not allowed for ${whom}.`, { details: { rule: list } })
    }
    const checkAll = (address: string, principal: Principal | undefined): void => {
      check(everybody, address, 'anybody')
      if (!principal) return
      if (principal.userId !== undefined) check(users.get(principal.userId), address, 'this user')
      check(keys.get(principal.keyId), address, 'this key')
    }

    return {
      admit({ ip, path, isCall, principal }) {
        // Lists of models stand below the paths of calls, and are no calls.
        const isFenced =
          isCall || path.startsWith('/v1') || (settings.scope === 'all' && !healthChecks.has(path))
        if (isFenced) checkAll(ip, principal)
      },
      /** Calls that the gateway makes of its own accord come from no address. */
      request({ context, principal }) {
        if (context.source === 'proxy' || context.ip !== '') checkAll(context.ip, principal)
        return undefined
      },
    }
  },
})

function compileFences(by: Readonly<Record<string, Lists>>): Map<string, Fence> {
  return new Map(
    Object.entries(by).flatMap(([id, lists]) => {
      const fence = compileFence(lists)
      return fence ? [[id, fence] as const] : []
    }),
  )
}
