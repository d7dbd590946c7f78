import { z } from 'zod'
import { defineModule, forbidden, type Key, kernelServices, type Principal, type Visit } from '#kernel'
import { Configurations } from '#kit'
import { ModelScopes } from '#provider'
import { addRoutes } from './routes.ts'
import { Rules } from './rules.ts'
import { scopeSchema } from './scope.ts'
import { Scopes } from './scopes.ts'

export default defineModule({
  settings: z.strictObject({
    default_scope: scopeSchema.optional().meta({
      title: 'Default scope',
      description: 'Scope of every key that has none. Admin keys can still manage everything.',
    }),
  }),

  async once(context) {
    const { store, use, own, log, provide } = context
    const scopes = new Scopes(store)
    own(await scopes.load())
    addRoutes(context, scopes)

    const { keys } = use(kernelServices.accounts)
    const follow = async (key: Key | undefined): Promise<void> => {
      if (key?.replaced_by !== undefined) await scopes.inherit(key.id, key.replaced_by)
    }
    for (const id of scopes.keyIds) await follow(await keys.find(id))
    const onError = (error: unknown): void =>
      log.error({ err: error }, 'the scope of a rotated key was not stored')
    own(keys.watch((key) => void follow(key).catch(onError)))

    /** Under which rules each configuration puts a caller. Their `when` speaks of calls, and lists know none. */
    const limits = new Configurations<(principal: Principal) => Rules | undefined>()
    provide(ModelScopes, {
      mayReach: (principal, asked, provider, model) =>
        limits.values.every((rulesOf) => rulesOf(principal)?.mayReach(asked, provider, model) ?? true),
    })
    return { scopes, limits }
  },

  setup({ id, settings, mode, own }, { scopes, limits }) {
    const fallback = settings.default_scope && new Rules(settings.default_scope)
    const rulesOf = ({ keyId }: Principal): Rules | undefined => scopes.rules(keyId) ?? fallback
    if (mode === 'enforce') own(limits.add(id, rulesOf))

    return {
      pure: true,
      admit(visit) {
        const { principal } = visit
        if (principal?.type !== 'user') return
        rulesOf(principal)?.checkVisit(visit)
        if (scopes.rules(principal.keyId) && makesKeys(visit)) {
          throw forbidden('This key is limited and cannot make other keys.', { details: { rule: 'keys' } })
        }
      },
      request(call) {
        const rules = rulesOf(call.principal)
        rules?.checkCall(call)
        return rules?.bounded(call)
      },
      attempt(attempt, call) {
        rulesOf(call.principal)?.checkAttempt(attempt)
      },
    }
  },
})

/** A key that could make another, or renew one of its user's, would be free of its own scope. */
const makesKeys = ({ method, path }: Visit): boolean =>
  method === 'POST' && path.startsWith('/api/auth/me/keys')
