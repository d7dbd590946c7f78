import { z } from 'zod'
import {
  type Credential,
  fetchToken,
  internalError,
  type KeyExchange,
  type Provider,
  type Target,
} from '#kernel'
import { type AccessToken, AccessTokens, formProblem, ReadyProviders } from '#kit'
import { type AzureKey, keyOf } from './key.ts'

/** What service.yaml may say of the source of tokens; what else stands there is for the protocol. */
const optionsSchema = z.object({
  authority: z.url().default('https://login.microsoftonline.com'),
  scope: z.string().min(1).default('https://cognitiveservices.azure.com/.default'),
})

/** Keys of Azure: of applications as tokens of Entra's, API keys as they are. */
export function entraExchange(): KeyExchange {
  const keys = new WeakMap<Credential, AzureKey>()
  const tokens = new AccessTokens<string>()
  const providers = new ReadyProviders<string>()

  function known(key: Credential, { provider }: Target): AzureKey {
    const held = keys.get(key)
    if (held) return held
    try {
      const read = keyOf(key.secret)
      keys.set(key, read)
      return read
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw internalError(`The key for ${provider.name} cannot be used: ${error.message}`)
    }
  }

  const readyWith = (target: Target, key: Credential, token: string): Target => ({
    ...target,
    provider: providers.get(key, target.provider, token, () => providerWith(target.provider, token)),
    key: undefined,
  })

  return {
    options: optionsSchema,
    problem: (secret) => formProblem(() => keyOf(secret)),

    ready(target) {
      const { key } = target
      if (!key) return target
      const parts = known(key, target)
      if (parts.kind === 'api-key') return target
      if (parts.kind === 'token') return readyWith(target, key, parts.value)
      const token = tokens.get(key, () => tokenFor(parts, target))
      return token instanceof Promise
        ? token.then((value) => readyWith(target, key, value))
        : readyWith(target, key, token)
    },

    forget({ key }) {
      if (key) tokens.forget(key)
    },
  }
}

function tokenFor(
  { tenant, clientId, clientSecret }: Extract<AzureKey, { kind: 'client' }>,
  target: Target,
): Promise<AccessToken<string>> {
  const { authority, scope } = optionsOf(target.provider)
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope,
  })
  return fetchToken(`${authority.replace(/\/+$/, '')}/${tenant}/oauth2/v2.0/token`, form, target)
}

function optionsOf({ name, options }: Provider): z.infer<typeof optionsSchema> {
  const { data, error } = optionsSchema.safeParse(options)
  if (data) return data
  throw internalError(`providers.${name}.options: ${z.prettifyError(error).replaceAll(/\s*\n\s*/g, ' ')}`)
}

const providerWith = (provider: Provider, token: string): Provider => ({
  ...provider,
  headers: { authorization: `Bearer ${token}`, ...provider.headers },
})
