import { readFile } from 'node:fs/promises'
import { internalError, type Target } from '#kernel'
import { type AccessToken, fetchToken } from '#provider'
import { assertionOf, certificateIn } from './assertion.ts'
import type { AzureClient, AzureKey } from './key.ts'
import { optionsOf } from './options.ts'

const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** A token of Entra's for an application or a managed identity. Rejects as `fetchToken` does. */
export function tokenFor(
  key: Extract<AzureKey, { kind: 'client' | 'machine' }>,
  target: Target,
): Promise<AccessToken<string>> {
  return key.kind === 'machine' ? ofMachine(key.clientId, target) : ofClient(key.client, target)
}

/** The metadata service of a machine; where a header comes with it, that of an app service or a container app. */
function ofMachine(clientId: string | undefined, target: Target): Promise<AccessToken<string>> {
  const { identity_url, identity_header, scope } = optionsOf(target.provider)
  const query = new URLSearchParams({
    'api-version': identity_header === undefined ? '2018-02-01' : '2019-08-01',
    resource: scope.replace(/\/\.default$/, ''),
    ...(clientId !== undefined && { client_id: clientId }),
  })
  const headers: Record<string, string> =
    identity_header === undefined ? { metadata: 'true' } : { 'x-identity-header': identity_header }
  return fetchToken({ url: `${identity_url}?${query}`, headers }, target)
}

async function ofClient(client: AzureClient, target: Target): Promise<AccessToken<string>> {
  const { authority, scope } = optionsOf(target.provider)
  const url = `${authority.replace(/\/+$/, '')}/${client.tenant}/oauth2/v2.0/token`
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: client.clientId,
    scope,
    ...(await shownBy(client, url, target)),
  })
  return fetchToken({ url, form }, target)
}

async function shownBy(
  client: AzureClient,
  audience: string,
  target: Target,
): Promise<Record<string, string>> {
  if ('clientSecret' in client) return { client_secret: client.clientSecret }
  const client_assertion =
    'tokenFile' in client
      ? (await contentOf(client.tokenFile, target)).trim()
      : signedBy(
          'certificate' in client ? client.certificate : await contentOf(client.certificateFile, target),
          client.clientId,
          audience,
          target,
        )
  return { client_assertion_type: jwtBearer, client_assertion }
}

function signedBy(pem: string, clientId: string, audience: string, { provider }: Target): string {
  try {
    return assertionOf(certificateIn(pem), clientId, audience, Date.now())
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw internalError(`The key for ${provider.name} cannot be used: ${error.message}`)
  }
}

/** Read each time, because its issuer replaces it before it ends. */
const contentOf = (path: string, { provider }: Target): Promise<string> =>
  readFile(path, 'utf8').catch((cause: unknown) => {
    throw internalError(`The key for ${provider.name} cannot be used: its file cannot be read.`, { cause })
  })
