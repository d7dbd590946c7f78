import {
  type Arrangement,
  type Awaitable,
  badRequest,
  type Call,
  type Credential,
  internalError,
  type OwnKey,
  type Protocol,
  type Provider,
  UpstreamError,
} from '#kernel'
import type { Route } from '../directory/routing.ts'
import type { Directory } from '../directory.ts'
import type { KeyStore } from '../keys/key-store.ts'
import { keyAdvice } from '../kit/key-advice.ts'
import { ModelAdvice, ModelAliases, type ModelNames } from '../kit/models.ts'
import { chosenRoute, type Usable, usableRoutes } from './choice.ts'

export interface Parts {
  readonly directory: Directory
  readonly keys: KeyStore
  readonly on: Pick<Arrangement, 'protocols' | 'services' | 'targets'>
  /** A key that the call brought with it. */
  readonly ownKey?: OwnKey | undefined
}

interface Chosen {
  readonly route: Route
  readonly keys: readonly Credential[]
  readonly protocol: Protocol
}

/**
 * Where a call goes: of the providers that the caller can use the one that modules prefer, else the first, and the keys for it;
 * the caller's own key comes before the operator's. Throws a coded error that says what is missing when it can go nowhere. A
 * promise only while a key has to be looked up.
 */
export function destinationOf(call: Call, { directory, keys, on, ownKey }: Parts): Awaitable<Chosen> {
  const aliases = (): readonly string[] =>
    (on.services.get(ModelAliases) as ModelNames | undefined)?.names() ?? []
  const advice = (model: string): string | undefined =>
    (on.services.get(ModelAdvice) as ModelAdvice | undefined)?.adviceFor(model)
  const routes = directory.resolve(call.request.model, call.context.provider, aliases, advice)
  const user = call.principal.userId
  const use = (route: Route, own: Credential | undefined): Chosen | undefined =>
    own || route.provider.configured
      ? { route, keys: own ? [own] : route.provider.keys, protocol: protocolOf(call, route, on) }
      : undefined
  if (ownKey) {
    const route = routes.find(({ provider }) => provider.name === ownKey.provider)
    if (!route) throw unusable(routes[0]!)
    if (on.targets) chosenRoute(call, [{ route, keys: [ownKey.key] }], on)
    return use(route, ownKey.key)!
  }
  if (on.targets) return chosenOf(call, routes, keys, on)
  const search = (from: number): Awaitable<Chosen> => {
    for (let i = from; i < routes.length; i += 1) {
      const route = routes[i]!
      const own = user === undefined ? undefined : keys.find(user, route.provider.name)
      if (own instanceof Promise) return own.then((key) => use(route, key) ?? search(i + 1))
      const chosen = use(route, own)
      if (chosen) return chosen
    }
    throw unusable(routes[0]!)
  }
  return search(0)
}

function chosenOf(call: Call, routes: readonly Route[], keys: KeyStore, on: Parts['on']): Awaitable<Chosen> {
  const chosen = (usable: readonly Usable[]): Chosen => {
    if (usable.length === 0) throw unusable(routes[0]!)
    const { route, keys } = chosenRoute(call, usable, on)
    return { route, keys, protocol: protocolOf(call, route, on) }
  }
  const usable = usableRoutes(call, routes, keys)
  return usable instanceof Promise ? usable.then(chosen) : chosen(usable)
}

function unusable({ provider, model }: Route): UpstreamError {
  return new UpstreamError('provider_error', adviceOf(provider), {
    provider: provider.name,
    model,
    fault: 'status',
    retryable: false,
  })
}

function protocolOf({ operation }: Call, { provider }: Route, { protocols }: Parts['on']): Protocol {
  if (provider.unreadable) throw provider.unreadable
  const protocol = protocols.get(provider.protocol)
  if (!protocol) throw internalError(`The protocol ${provider.protocol} is not switched on.`)
  if (!protocol.wires[operation] || !provider.spec.operations.includes(operation)) {
    throw badRequest(`${provider.name} does not offer ${operation}.`, { param: 'model' })
  }
  return protocol
}

/** The keys or settings that a provider lacks, and how to add them. */
const adviceOf = (provider: Provider): string =>
  addressAdvice(provider) ?? `There is no key for ${provider.name}: ${keyAdvice(provider)}.`

/** The setting that the address of a provider lacks, and how to add it; undefined where it has one. */
export function addressAdvice({ name, spec, baseUrl }: Provider): string | undefined {
  const option = /\{(\w+)\}/.exec(baseUrl)?.[1]
  if (option === undefined) return undefined
  const variable = spec.option_env[option]?.[0]
  return `${name} needs an address: set ${variable ? `${variable} or ` : ''}providers.${name}.options.${option}.`
}
