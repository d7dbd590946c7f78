import { z } from 'zod'
import { badRequest, type Context, forbidden, kernelServices, type Log, Plans, type Refusals } from '#kernel'
import { networkOf, WindowLimit } from '#kit'
import { email, name, newAccount, planOf, profile, profileOf } from '../shapes.ts'

/** A new user with a first key. */
export async function createAccount(
  { use }: Context<unknown>,
  input: { email: string; name?: string | undefined; plan?: string | undefined },
): Promise<z.infer<typeof newAccount>> {
  const { user, secret } = await use(Plans).addUser(() =>
    use(kernelServices.accounts).signUp({ ...input, plan: input.plan ?? 'free' }, { name: 'first key' }),
  )
  return { ...profileOf(user), api_key: secret }
}

const hourMs = 3_600_000

/** Signup and the caller's profile. */
export function addAccountRoutes(context: Context<unknown>, signupPerHour: number): void {
  const { route, use, log } = context
  const plan = planOf(use(Plans))
  const signups = signupLimit(signupPerHour, use(kernelServices.refusals), log)

  route({
    method: 'post',
    path: '/api/auth/signup',
    access: 'public',
    summary: 'Create an account and its first key',
    body: z.strictObject({
      email,
      name: name.optional(),
      plan: plan.optional().meta({ description: 'Only with an admin key; the default is free.' }),
    }),
    status: 201,
    returns: newAccount,
    throws: [403, 409],
    handle({ body, principal, ip, header }) {
      if (principal?.type !== 'admin') {
        if (!use(kernelServices.config).auth.openSignup) {
          throw forbidden('Signup is closed here (auth.open_signup is false): an admin creates the accounts.')
        }
        if (body.plan !== undefined) {
          throw badRequest('body plan: only an admin key may choose the plan; leave it out.', {
            param: 'plan',
          })
        }
        // Also those that fail then, or else one could try out which addresses have an account.
        if (signupPerHour > 0) signups.take(networkOf(ip), header)
      }
      return createAccount(context, body)
    },
  })

  route({
    method: 'get',
    path: '/api/auth/me',
    access: 'user',
    summary: 'Your profile',
    returns: profile.extend({ key_id: z.string().meta({ description: 'The key of this request.' }) }),
    async handle({ principal }) {
      const user = await use(kernelServices.accounts).user(principal!.userId!)
      return { ...profileOf(user), key_id: principal!.keyId }
    },
  })
}

const signupLimit = (limit: number, refusals: Refusals, log: Log): WindowLimit =>
  new WindowLimit({
    limit,
    windowMs: hourMs,
    refusal: (limit, leftS) =>
      `More than ${limit} signups from your address in an hour; try again in ${Math.ceil(leftS / 60)} min.`,
    exceeded(address, isFirst) {
      refusals.signups += 1
      if (isFirst) log.warn({ address }, 'too many signups from an address')
    },
  })
