import { readFile } from 'node:fs/promises'
import {
  type Credential,
  fetchToken,
  type KeyExchange,
  type Provider,
  type Target,
  UpstreamError,
} from '#kernel'
import { type AccessToken, AccessTokens, formProblem, ReadyProviders } from '#kit'
import { addressOf } from './address.ts'
import { grantOf } from './grant.ts'
import { type GoogleKey, keyOf } from './key.ts'
import { optionsOf, optionsSchema } from './options.ts'

/** What goes with requests of a key, and whose project it is. */
interface Pass {
  readonly headers: Readonly<Record<string, string>>
  readonly project?: string | undefined
  /** Opens nothing but a project. */
  readonly isOfProject: boolean
}

/** Keys of Google Cloud: of accounts and users as tokens, API keys as they are, each with the address of its project. */
export function googleExchange(): KeyExchange {
  const passes = new AccessTokens<Pass>()
  const providers = new ReadyProviders<Pass>()
  const readyWith = (target: Target, key: Credential, pass: Pass): Target => ({
    ...target,
    provider: providers.get(key, target.provider, pass, () => providerWith(target, pass)),
    key: undefined,
  })

  return {
    options: optionsSchema,
    problem: (secret) =>
      formProblem(() => {
        if (keyOf(secret).kind !== 'file') return
        throw new RangeError('a file of the gateway’s is not to be named; send what is in it.')
      }),

    ready(target) {
      const { key } = target
      if (!key) throw failure(target, `There is no key for ${target.provider.name}.`)
      const pass = passes.get(key, () => passOf(target, key))
      return pass instanceof Promise
        ? pass.then((value) => readyWith(target, key, value))
        : readyWith(target, key, pass)
    },

    forget({ key }) {
      if (key) passes.forget(key)
    },
  }
}

async function passOf(target: Target, key: Credential): Promise<AccessToken<Pass>> {
  const known = await opened(key, target)
  if (known.kind === 'api-key') {
    return lasting({ headers: { 'x-goog-api-key': known.value }, isOfProject: false })
  }
  if (known.kind === 'token') return lasting({ headers: bearer(known.value), isOfProject: true })
  const { token_url } = optionsOf(target.provider).own
  const { value, expiresAt } = await fetchToken(token_url, grantOf(known, token_url, Date.now()), target)
  return { value: { headers: bearer(value), project: known.project, isOfProject: true }, expiresAt }
}

const lasting = (value: Pass): AccessToken<Pass> => ({ value, expiresAt: Number.POSITIVE_INFINITY })
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

/** A key, out of its file if it is in one: those are the operator's alone. */
async function opened(key: Credential, target: Target): Promise<Exclude<GoogleKey, { kind: 'file' }>> {
  try {
    const known = keyOf(key.secret)
    if (known.kind !== 'file') return known
    if (key.owner === 'user') throw new RangeError('files are not read for users.')
    const held = keyOf(await readFile(known.path, 'utf8'))
    if (held.kind !== 'file') return held
    throw new RangeError('its file names another.')
  } catch (error) {
    const why = error instanceof RangeError ? error.message : 'its file cannot be read.'
    throw failure(target, `The key for ${target.provider.name} cannot be used: ${why}`)
  }
}

function providerWith(target: Target, pass: Pass): Provider {
  const { provider, key } = target
  const { own, others } = optionsOf(provider)
  // A user's own key is of that user's project; for the operator's the configuration has the last word.
  const project = key?.owner === 'user' ? (pass.project ?? own.project) : (own.project ?? pass.project)
  if (project === undefined && pass.isOfProject) {
    const name = `providers.${provider.name}.options.project`
    throw failure(target, `${provider.name} needs a project: set GOOGLE_CLOUD_PROJECT or ${name}.`)
  }
  return {
    ...provider,
    baseUrl: addressOf(provider.baseUrl, project, own.location),
    headers: { ...pass.headers, ...provider.headers },
    options: others,
  }
}

const failure = ({ provider, model }: Target, message: string): UpstreamError =>
  new UpstreamError('provider_error', message, {
    provider: provider.name,
    model,
    fault: 'status',
    retryable: false,
  })
