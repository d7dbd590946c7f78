import { createHash, createHmac } from 'node:crypto'
import type { RecordedRequest } from '../record.ts'

/** What a signature says of itself. */
const form =
  /^AWS4-HMAC-SHA256 Credential=([A-Z0-9]+)\/(\d{8})\/([a-z0-9-]+)\/([a-z]+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** What the service would say against a signature; undefined for a good one, whose region then stands in the request. */
export function signatureError(
  request: RecordedRequest,
  keys: readonly string[],
  service = 'bedrock',
): string | undefined {
  const [, id, date, region, of, names = '', signature] = form.exec(request.headers.authorization ?? '') ?? []
  if (id === undefined || of !== service) return 'MissingAuthenticationTokenException'
  const known = keys.map((key) => key.split(':')).find(([known]) => known === id)
  if (!known) return 'UnrecognizedClientException'
  const [, secret, token] = known
  const stamp = String(request.headers['x-amz-date'])
  if (!/^\d{8}T\d{6}Z$/.test(stamp) || !stamp.startsWith(date!)) return 'IncompleteSignatureException'
  if (!names.split(';').includes('host')) return 'IncompleteSignatureException'
  if (token !== undefined && request.headers['x-amz-security-token'] !== token)
    return 'UnrecognizedClientException'
  const unsigned = Object.keys(request.headers).find(
    (name) => name.startsWith('x-amz-') && !names.split(';').includes(name),
  )
  if (unsigned !== undefined) return 'IncompleteSignatureException'
  const canonical = [
    request.method,
    request.path.split('/').map(encoded).join('/'),
    [...request.query]
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join('&'),
    ...names
      .split(';')
      .map((name) => `${name}:${String(request.headers[name]).trim().replaceAll(/\s+/g, ' ')}`),
    '',
    names,
    sha256(request.rawBody),
  ].join('\n')
  const scope = `${date}/${region}/${service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', stamp, scope, sha256(canonical)].join('\n')
  const key = [date!, region!, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`)
  return hmac(key, toSign).toString('hex') === signature ? undefined : 'InvalidSignatureException'
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
