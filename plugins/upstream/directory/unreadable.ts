import { GatewayError, type Provider, providerSpec } from '#kernel'

/** What was said of a provider at runtime was encrypted with a key that is not known any more, or damaged; calls do not go by service.yaml in its place. */
export class UnreadableProvider extends GatewayError {
  /** The models that were said in the place of those that the provider has without. */
  readonly models: readonly string[] | undefined

  constructor(name: string, models: readonly string[] | undefined, cause: unknown) {
    const where = `/api/proxy/providers/${name}`
    super(
      'provider_error',
      `What was said of the provider ${name} at runtime cannot be read any more: an admin sends all of it again with PUT ${where}, or removes it with DELETE.`,
      { cause },
    )
    this.name = 'UnreadableProvider'
    this.models = models
  }
}

/** A provider that keeps its place among others, and refuses each call that would go there. `known` is what is known without runtime. */
export const refusing = (
  name: string,
  known: Provider | undefined,
  unreadable: UnreadableProvider,
): Provider => ({
  ...(known ?? unknownProvider(name, unreadable.models)),
  keys: [],
  keySource: 'none',
  configured: true,
  unreadable,
})

const unknownProvider = (
  name: string,
  models: readonly string[] = [],
): Omit<Provider, 'keys' | 'keySource' | 'configured'> => ({
  name,
  spec: { ...providerSpec.parse({ protocol: 'unknown' }), models: [...models] },
  protocol: 'unknown',
  baseUrl: '',
  headers: {},
  options: {},
  priceId: name,
  region: undefined,
  local: false,
})
