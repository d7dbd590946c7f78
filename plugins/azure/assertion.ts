import { constants, createPrivateKey, type KeyObject, randomUUID, sign, X509Certificate } from 'node:crypto'

/** A certificate and what signs for it. */
export interface SigningCertificate {
  readonly certificate: X509Certificate
  readonly privateKey: KeyObject
}

const lifetimeS = 600
const block = /-----BEGIN ([A-Z ]+)-----[\s\S]+?-----END \1-----/g

/** The certificate and its RSA key in a PEM text; throws a RangeError that quotes nothing of it. */
export function certificateIn(pem: string): SigningCertificate {
  const blocks = [...pem.matchAll(block)]
  const of = (end: string): string => blocks.find(([, label]) => label!.endsWith(end))?.[0] ?? ''
  try {
    const certificate = new X509Certificate(of('CERTIFICATE'))
    const privateKey = createPrivateKey(of('PRIVATE KEY'))
    if (privateKey.asymmetricKeyType === 'rsa' && certificate.checkPrivateKey(privateKey))
      return { certificate, privateKey }
  } catch {
    // The reason may quote the key.
  }
  throw new RangeError('its certificate needs an RSA key beside it, both in PEM.')
}

/**
 * The assertion that an application shows in the place of a secret (RFC 7523, section 2.2), in the form that Entra documents
 * for certificates: signed with PS256, the certificate named by its SHA-256 thumbprint.
 */
export function assertionOf(
  { certificate, privateKey }: SigningCertificate,
  clientId: string,
  audience: string,
  nowMs: number,
): string {
  const now = Math.floor(nowMs / 1000)
  const thumbprint = Buffer.from(certificate.fingerprint256.replaceAll(':', ''), 'hex').toString('base64url')
  const header = { alg: 'PS256', typ: 'JWT', 'x5t#S256': thumbprint }
  const claims = {
    aud: audience,
    iss: clientId,
    sub: clientId,
    jti: randomUUID(),
    nbf: now,
    exp: now + lifetimeS,
  }
  const toSign = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = sign('sha256', Buffer.from(toSign), {
    key: privateKey,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  })
  return `${toSign}.${signature.toString('base64url')}`
}
