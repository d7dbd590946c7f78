import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type Context, isGatewayError, kernelServices, ModelAliases, type Provider } from '#kernel'

/** How long a provider's list counts. */
const freshMs = 10 * 60_000
/** How long a listing waits for providers that have not listed theirs yet. */
const patienceMs = 3000

const model = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int().meta({ description: 'Seconds since the epoch: when this gateway started.' }),
  owned_by: z.string().meta({ description: 'The provider that gets calls for it.' }),
})

/** The models that can be asked for, as OpenAI's clients list them. */
export function addModelRoutes({ route, use, find }: Context<unknown>): void {
  const described = (id: string, owner: string): z.infer<typeof model> => {
    const created = Math.floor(use(kernelServices.runtime).startedAt / 1000)
    return { id, object: 'model', created, owned_by: owner }
  }

  /** The bare name where it leads to this provider, else the name that says the provider. */
  const idOf = (provider: Provider, name: string): string =>
    ownerOf(name) === provider.name ? name : `${provider.name}/${name}`

  const ownerOf = (id: string): string | undefined => {
    try {
      return use(kernelServices.directory).resolve(id, undefined)[0]?.provider.name
    } catch (error) {
      if (isGatewayError(error)) return undefined
      throw error
    }
  }

  /** Has providers list their models anew where that is long ago; waits a little, the rest comes next time. */
  const refresh = async (providers: readonly Provider[]): Promise<void> => {
    const prober = use(kernelServices.prober)
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

  route({
    method: 'get',
    path: '/v1/models',
    access: 'any',
    summary: 'The models that are known by name; providers may serve more',
    returns: z.object({ object: z.literal('list'), data: z.array(model) }),
    async handle() {
      const directory = use(kernelServices.directory)
      const configured = directory.providers.filter((provider) => provider.configured)
      await refresh(configured)
      const aliases = (find(ModelAliases)?.names() ?? []).map((name) => described(name, 'gateway'))
      const models = configured.flatMap((provider) =>
        directory.namesOf(provider.name).map((name) => described(idOf(provider, name), provider.name)),
      )
      const data = new Map([...models, ...aliases].map((item) => [item.id, item]))
      return { object: 'list' as const, data: [...data.values()].sort((a, b) => (a.id < b.id ? -1 : 1)) }
    },
  })

  route({
    method: 'get',
    path: '/v1/models/{id}',
    access: 'any',
    summary: 'A model that can be asked for, and who gets calls for it',
    params: z.strictObject({ id: z.string() }),
    returns: model,
    handle({ params: { id } }) {
      if (find(ModelAliases)?.names().includes(id)) return described(id, 'gateway')
      return described(id, use(kernelServices.directory).resolve(id, undefined)[0]!.provider.name)
    },
  })
}
