import { constants, type KeyObject, verify, type X509Certificate } from 'node:crypto'

/** An application that Entra knows, and what it may show. */
export interface KnownClient {
  readonly tenant: string
  readonly id: string
  readonly secret?: string
  readonly certificate?: X509Certificate
  /** Tokens of another issuer's that it trusts. */
  readonly federated?: readonly string[]
}

const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const scope = 'https://cognitiveservices.azure.com/.default'

/** What Entra's token endpoint says against a request; undefined for a good one. */
export function entraFault(
  form: URLSearchParams,
  path: string,
  clients: readonly KnownClient[],
): string | undefined {
  const [, tenant] = /^\/([^/]+)\/oauth2\/v2\.0\/token$/.exec(path) ?? []
  if (tenant === undefined) return 'invalid_request'
  if (form.get('grant_type') !== 'client_credentials') return 'unsupported_grant_type'
  if (form.get('scope') !== scope) return 'invalid_scope'
  const client = clients.find(({ id, tenant: own }) => id === form.get('client_id') && own === tenant)
  if (!client) return 'unauthorized_client'
  const assertion = form.get('client_assertion')
  if (assertion === null) return form.get('client_secret') === client.secret ? undefined : 'invalid_client'
  if (form.has('client_secret') || form.get('client_assertion_type') !== jwtBearer) return 'invalid_request'
  if (client.federated?.includes(assertion)) return undefined
  return assertionFault(assertion, client, path) ? 'invalid_client' : undefined
}

/** What is wrong with a JWT that a certificate signed: its thumbprint, its signature, its claims. */
function assertionFault(assertion: string, { id, certificate }: KnownClient, path: string): boolean {
  const [head = '', body = '', signature = ''] = assertion.split('.')
  if (!certificate || signature === '') return true
  const [header, claims] = [head, body].map(
    (part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>,
  )
  const thumbprint = Buffer.from(certificate.fingerprint256.replaceAll(':', ''), 'hex').toString('base64url')
  if (header?.alg !== 'PS256' || header.typ !== 'JWT' || header['x5t#S256'] !== thumbprint) return true
  if (!isSigned(`${head}.${body}`, signature, certificate.publicKey)) return true
  const { aud, iss, sub, jti, nbf, exp } = claims as Record<string, unknown>
  const nowS = Date.now() / 1000
  if (typeof nbf !== 'number' || typeof exp !== 'number' || nbf > nowS + 300 || exp < nowS) return true
  return !String(aud).endsWith(path) || iss !== id || sub !== id || typeof jti !== 'string' || jti === ''
}

function isSigned(text: string, signature: string, key: KeyObject): boolean {
  const padding = constants.RSA_PKCS1_PSS_PADDING
  const saltLength = constants.RSA_PSS_SALTLEN_DIGEST
  return verify(
    'sha256',
    Buffer.from(text),
    { key, padding, saltLength },
    Buffer.from(signature, 'base64url'),
  )
}
