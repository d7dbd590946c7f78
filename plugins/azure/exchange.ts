import { z } from 'zod'
import {
  type Credential,
  fetchToken,
  forbidden,
  internalError,
  type KeyExchange,
  type Provider,
  type Target,
} from '#kernel'
import { type AccessToken, AccessTokens, formProblem, optionsReader, ReadyProviders } from '#kit'
import { type AzureKey, keyOf } from './key.ts'

/** What service.yaml may say of the source of tokens; what else stands there is for the protocol. */
const optionsSchema = z.object({
  authority: z.url().default('https://login.microsoftonline.com'),
  /** Where a machine's own tokens come from. */
  identity_url: z.url().default('http://169.254.169.254/metadata/identity/oauth2/token'),
  scope: z.string().min(1).default('https://cognitiveservices.azure.com/.default'),
})

const optionsOf = optionsReader(optionsSchema)

const notForUsers = 'What the gateway’s machine may do is not for users.'

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
    problem: (secret) =>
      formProblem(() => {
        if (keyOf(secret).kind === 'machine') throw new RangeError(notForUsers)
      }),

    ready(target) {
      const { key } = target
      if (!key) return target
      const parts = known(key, target)
      if (parts.kind === 'api-key') return target
      if (parts.kind === 'machine' && key.owner === 'user') throw forbidden(notForUsers)
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
  parts: Extract<AzureKey, { kind: 'client' | 'machine' }>,
  target: Target,
): Promise<AccessToken<string>> {
  const { authority, identity_url, scope } = optionsOf(target.provider)
  if (parts.kind === 'machine') {
    const resource = scope.replace(/\/\.default$/, '')
    const query = new URLSearchParams({ 'api-version': '2018-02-01', resource })
    return fetchToken({ url: `${identity_url}?${query}`, headers: { metadata: 'true' } }, target)
  }
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: parts.clientId,
    client_secret: parts.clientSecret,
    scope,
  })
  return fetchToken(
    { url: `${authority.replace(/\/+$/, '')}/${parts.tenant}/oauth2/v2.0/token`, form },
    target,
  )
}

const providerWith = (provider: Provider, token: string): Provider => ({
  ...provider,
  headers: { authorization: `Bearer ${token}`, ...provider.headers },
})
