import { type Credential, forbidden, internalError, type Provider, type Target } from '#kernel'
import { AccessTokens, formProblem, type KeyExchange, ReadyProviders } from '#provider'
import { certificateIn } from './assertion.ts'
import { tokenFor } from './grant.ts'
import { type AzureKey, isOfGateway, keyOf } from './key.ts'
import { optionsSchema } from './options.ts'

const notForUsers = 'What the gateway’s machine has and may do is not for users.'

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

  return {
    options: optionsSchema,
    problem: (secret) =>
      formProblem(() => {
        const key = keyOf(secret)
        if (isOfGateway(key)) throw new RangeError(notForUsers)
        if (key.kind === 'client' && 'certificate' in key.client) certificateIn(key.client.certificate)
      }),

    ready(target) {
      const { key } = target
      if (!key) return target
      const parts = known(key, target)
      if (parts.kind === 'api-key') return target
      if (key.owner === 'user' && isOfGateway(parts)) throw forbidden(notForUsers)
      const token = parts.kind === 'token' ? parts.value : tokens.get(key, () => tokenFor(parts, target))
      return providers.ready(target, key, token, (value) => providerWith(target.provider, value))
    },

    forget({ key }) {
      if (key) tokens.forget(key)
    },
  }
}

const providerWith = (provider: Provider, token: string): Provider => ({
  ...provider,
  headers: { authorization: `Bearer ${token}`, ...provider.headers },
})
