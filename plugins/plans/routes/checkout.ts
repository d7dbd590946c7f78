import { z } from 'zod'
import { badRequest, type Context, conflict, kernelServices, type Plan, type Principal } from '#kernel'
import { listed, listOf, listQuery, shown, storedPage } from '#kit'
import { type Checkout, type Checkouts, plan, statusOf } from '../checkouts.ts'

const time = z.string().meta({ format: 'date-time' })

const checkout = z.object({
  id: z.string(),
  url: z.string().meta({ description: 'Where the payment is made, or where the checkout is read.' }),
  plan,
  user_id: z.string(),
  price_usd: z.number().meta({ description: 'Per month, as it was when the checkout began.' }),
  status: z.enum(['open', 'completed', 'cancelled', 'expired']),
  created_at: time,
  updated_at: time,
  expires_at: time,
})

const params = z.strictObject({ id: z.string().max(100) })

/** The id of the user that a caller may see alone; undefined for an admin, who sees all. */
const onlyFor = ({ type, userId }: Principal): string | undefined => (type === 'admin' ? undefined : userId!)

/** Checkouts: a user asks for a plan, and an admin, or a plugin that takes payments, completes it. */
export function addCheckoutRoutes(
  { route, use }: Context<unknown>,
  checkouts: Checkouts,
  plans: readonly Plan[],
  urlOf: (id: string) => string,
  complete: (id: string) => Promise<Checkout>,
): void {
  const itemOf = (found: Checkout): z.infer<typeof checkout> => ({
    ...found,
    url: urlOf(found.id),
    status: statusOf(found),
  })

  route({
    method: 'post',
    path: '/api/checkout',
    access: 'any',
    summary: 'Start a checkout: when it is completed, the user has the plan',
    body: z.strictObject({
      plan,
      user_id: z
        .string()
        .max(100)
        .optional()
        .meta({ description: 'Only with an admin key, which needs it.' }),
    }),
    status: 201,
    returns: checkout,
    throws: [404, 409],
    async handle({ body, principal }) {
      const { type, userId: own } = principal!
      if (type === 'user' && body.user_id !== undefined && body.user_id !== own)
        throw badRequest('body user_id: only an admin key may name another user.', { param: 'user_id' })
      const userId = body.user_id ?? own
      if (userId === undefined)
        throw badRequest('body user_id: an admin key names the user whose plan it is.', { param: 'user_id' })
      const user = await use(kernelServices.accounts).user(userId)
      if (user.plan === body.plan) throw conflict(`This user has the plan ${body.plan}.`, { param: 'plan' })
      const { price_usd } = plans.find(({ id }) => id === body.plan)!
      return itemOf(await checkouts.start({ user_id: userId, plan: body.plan, price_usd }))
    },
  })

  route({
    method: 'get',
    path: '/api/checkout',
    access: 'any',
    summary: 'The checkouts: your own, or with an admin key all',
    query: listQuery,
    returns: listOf('checkouts', checkout),
    async handle({ query, principal }) {
      const page = await storedPage(query, (window) => checkouts.list(onlyFor(principal!), window))
      return listed('checkouts', shown(page, itemOf), query)
    },
  })

  route({
    method: 'get',
    path: '/api/checkout/{id}',
    access: 'any',
    summary: 'One checkout',
    params,
    returns: checkout,
    handle: async ({ params: { id }, principal }) => itemOf(await checkouts.find(id, onlyFor(principal!))),
  })

  route({
    method: 'post',
    path: '/api/checkout/{id}/complete',
    access: 'admin',
    summary: 'Complete a checkout that was paid for: the user has its plan from the next request',
    params,
    returns: checkout,
    throws: [409],
    handle: async ({ params: { id } }) => itemOf(await complete(id)),
  })

  route({
    method: 'post',
    path: '/api/checkout/{id}/cancel',
    access: 'any',
    summary: 'Cancel an open checkout',
    params,
    returns: checkout,
    throws: [409],
    async handle({ params: { id }, principal }) {
      await checkouts.find(id, onlyFor(principal!))
      return itemOf(await checkouts.end(id, 'cancelled', async () => {}))
    },
  })
}
