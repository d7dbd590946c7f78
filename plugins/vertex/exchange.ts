import { readFile } from 'node:fs/promises'
import { type Credential, type Provider, type Target, UpstreamError } from '#kernel'
import {
  type AccessToken,
  AccessTokens,
  fetchToken,
  formProblem,
  type KeyExchange,
  ReadyProviders,
} from '#provider'
import { addressOf } from './address.ts'
import { federatedToken } from './federation.ts'
import { grantOf } from './grant.ts'
import { type GoogleKey, isOfGateway, keyOf } from './key.ts'
import { optionsOf, optionsSchema } from './options.ts'

/** What is sent with requests of a key, and the key's project. */
interface Pass {
  readonly headers: Readonly<Record<string, string>>
  readonly project?: string | undefined
  /** Opens nothing but a project. */
  readonly isOfProject: boolean
}

const machinePath = '/computeMetadata/v1/instance/service-accounts/default/token'

/** Keys of Google Cloud: of accounts and users as tokens, API keys as they are, each with the address of its project. */
export function googleExchange(): KeyExchange {
  const passes = new AccessTokens<Pass>()
  const providers = new ReadyProviders<Pass>()

  return {
    options: optionsSchema,
    problem: (secret) =>
      formProblem(() => {
        const key = keyOf(secret)
        if (key.kind === 'file') {
          throw new RangeError('files on the gateway’s machine cannot be used; send the content.')
        }
        if (isOfGateway(key)) throw new RangeError('users cannot use the identity of the gateway’s machine.')
      }),

    ready(target) {
      const { key } = target
      if (!key) throw failure(target, `There is no key for ${target.provider.name}.`)
      const pass = passes.get(key, () => passOf(target, key))
      return providers.ready(target, key, pass, (value) => providerWith(target, value))
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
  if (known.kind === 'federation') {
    const { value, expiresAt } = await federatedToken(known, target)
    return { value: { headers: bearer(value), project: known.project, isOfProject: true }, expiresAt }
  }
  const { token_url: url, metadata_url } = optionsOf(target.provider).own
  const request =
    known.kind === 'machine'
      ? { url: metadata_url + machinePath, headers: { 'metadata-flavor': 'Google' } }
      : { url, form: grantOf(known, url, Date.now()) }
  const { value, expiresAt } = await fetchToken(request, target)
  const project = known.kind === 'machine' ? undefined : known.project
  return { value: { headers: bearer(value), project, isOfProject: true }, expiresAt }
}

const lasting = (value: Pass): AccessToken<Pass> => ({ value, expiresAt: Number.POSITIVE_INFINITY })
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

/** A key, out of its file if it is in one: those are the operator's alone. */
async function opened(key: Credential, target: Target): Promise<Exclude<GoogleKey, { kind: 'file' }>> {
  try {
    const known = keyOf(key.secret)
    if (key.owner === 'user' && isOfGateway(known)) {
      throw new RangeError('users cannot use the gateway’s own credentials.')
    }
    if (known.kind !== 'file') return known
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
