import { setTimeout as sleep } from 'node:timers/promises'
import { type Context, isGatewayError, notFound, type Principal, type Provider } from '#kernel'
import { ModelAliases, ModelScopes, ProviderDirectory, ProviderKeys, ProviderProber } from '#provider'

/** How long a provider's list counts. */
const freshMs = 10 * 60_000
/** How long a listing waits for providers that have not listed theirs yet. */
const patienceMs = 3000

/** A model that can be asked for, and where a call for it goes first. */
export interface Listed {
  /** The name to ask for: the bare name where it leads there, else the one with the provider. */
  readonly id: string
  readonly provider: string
  /** The model's name at the provider. */
  readonly model: string
  readonly alias: boolean
}

/** The models that each caller may use. */
export interface ModelList {
  /** The models known by name that a caller may use, sorted. */
  all(principal: Principal | undefined): Promise<Listed[]>
  /** One by the name that is asked for; throws a not found, also for one that this key may not use. */
  get(id: string, principal: Principal | undefined): Listed
}

export function createModelList({ use, find }: Context<unknown>): ModelList {
  const listed = (id: string, alias = false): Listed => {
    const target = alias ? (find(ModelAliases)?.modelOf(id) ?? id) : id
    const [first] = use(ProviderDirectory).resolve(target, undefined)
    return { id, provider: first!.provider.name, model: first!.model, alias }
  }

  const leadsTo = (id: string): string | undefined => {
    try {
      return listed(id).provider
    } catch (error) {
      if (isGatewayError(error)) return undefined
      throw error
    }
  }

  const isOpen = (principal: Principal | undefined, { id, provider, model }: Listed): boolean =>
    principal === undefined || (find(ModelScopes)?.mayReach(principal, id, provider, model) ?? true)

  const modelsOf = ({ name }: Provider): Listed[] =>
    use(ProviderDirectory)
      .namesOf(name)
      .map((model) => ({
        id: leadsTo(model) === name ? model : `${name}/${model}`,
        provider: name,
        model,
        alias: false,
      }))

  const aliases = (): Listed[] =>
    (find(ModelAliases)?.names() ?? []).flatMap((name) => {
      try {
        return [listed(name, true)]
      } catch (error) {
        if (isGatewayError(error)) return [{ id: name, provider: 'gateway', model: name, alias: true }]
        throw error
      }
    })

  /** Those that have a key of the operator's, or one of the caller's own. */
  const usable = async (principal: Principal | undefined): Promise<Provider[]> => {
    const { providers } = use(ProviderDirectory)
    const keys = use(ProviderKeys)
    const user = principal?.userId
    const own = await Promise.all(
      providers.map(
        ({ configured, name, unreadable }) =>
          !unreadable && (configured || (user !== undefined && keys.has(user, name))),
      ),
    )
    return providers.filter((_, i) => own[i])
  }

  /** Has providers list their models anew where that is long ago; waits a little, the rest comes next time. */
  const refresh = async (providers: readonly Provider[]): Promise<void> => {
    const prober = use(ProviderProber)
    const old = providers.filter(({ name }) => {
      const last = prober.last(name)
      return !last || Date.now() - Date.parse(last.checkedAt) > freshMs
    })
    if (old.length === 0) return
    const patience = new AbortController()
    const checks = Promise.allSettled(old.map((provider) => prober.check(provider)))
    await Promise.race([checks, sleep(patienceMs, undefined, { signal: patience.signal }).catch(() => {})])
    patience.abort()
  }

  return {
    async all(principal) {
      const providers = await usable(principal)
      await refresh(providers.filter(({ configured }) => configured))
      const models = [...providers.flatMap(modelsOf), ...aliases()].filter((item) => isOpen(principal, item))
      const byId = new Map(models.map((item) => [item.id, item]))
      return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
    },
    get(id, principal) {
      const item = listed(id, find(ModelAliases)?.names().includes(id) === true)
      if (isOpen(principal, item)) return item
      throw notFound(`There is no model ${id} that this key may use.`, { param: 'model' })
    },
  }
}
