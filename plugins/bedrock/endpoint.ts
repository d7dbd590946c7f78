import type { Target, UpstreamRequest } from '#kernel'
import { type AwsCredential, credentialOf, keyFault } from './credential.ts'
import { optionsOf } from './options.ts'
import { signed } from './signature.ts'

/** AWS's own hosts, whose names have the region in them. */
const ownHost = /^(https:\/\/bedrock-runtime(?:-fips)?\.)[a-z0-9-]+(\.amazonaws\.com(?:\.cn)?)$/

interface Outline {
  readonly method: 'GET' | 'POST'
  /** Begins with a slash; written as it goes over the wire. */
  readonly path: string
  readonly accept: string
  readonly body?: string
  /** Asked of the service that knows the models, not of the one that runs them. */
  readonly control?: boolean
}

/** A request with all that lets it in: signed, or with a bearer token. It is ready to be sent, and not to be changed. */
export async function requestTo(target: Target, outline: Outline): Promise<UpstreamRequest> {
  const { provider, key } = target
  const credential = key && heldBy(target)
  const { region: set } = optionsOf(provider)
  const root = rootOf(provider.baseUrl, credential?.region)
  const request: UpstreamRequest = {
    method: outline.method,
    url: (outline.control ? controlOf(root) : root) + outline.path,
    headers: {
      accept: outline.accept,
      ...(outline.body !== undefined && { 'content-type': 'application/json' }),
      ...(credential?.kind === 'bearer' && { authorization: `Bearer ${credential.token}` }),
      ...provider.headers,
    },
    body: outline.body,
  }
  if (credential?.kind !== 'signing') return request
  return signed(request, credential, credential.region ?? set ?? 'us-east-1')
}

function heldBy(target: Target): AwsCredential {
  try {
    return credentialOf(target.key!.secret)
  } catch (error) {
    if (error instanceof RangeError) throw keyFault(error, target)
    throw error
  }
}

/** A key that is of another region is used there; an address of one's own stays what it is. */
const rootOf = (baseUrl: string, region: string | undefined): string =>
  region === undefined ? baseUrl : baseUrl.replace(ownHost, `$1${region}$2`)

const controlOf = (root: string): string =>
  ownHost.test(root) ? root.replace('bedrock-runtime', 'bedrock') : root

/** A model's id as one segment of a path: slashes and colons of ARNs included. */
export const segmentOf = (model: string): string =>
  encodeURIComponent(model).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
