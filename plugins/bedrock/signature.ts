import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import type { UpstreamRequest } from '#kernel'
import type { AwsCredential } from './credential.ts'

type SigningKeys = Extract<AwsCredential, { kind: 'signing' }>

/** SHA-256 as the signing library wants to be handed it: with a key it is an HMAC. */
class Sha256 {
  #hash: Hash | Hmac
  readonly #start: () => Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#start = () => (secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret)))
    this.#hash = this.#start()
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data))
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  reset(): void {
    this.#hash = this.#start()
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): string | Uint8Array {
  if (typeof data === 'string') return data
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data)
}

/**
 * The request with AWS's Signature Version 4. The signed parts must not change afterwards; additional headers are not signed
 * and do no harm.
 */
export async function signed(
  request: UpstreamRequest,
  keys: SigningKeys,
  region: string,
): Promise<UpstreamRequest> {
  // Loaded at first use: most installations never need it.
  const { SignatureV4 } = await import('@smithy/signature-v4')
  const signer = new SignatureV4({
    service: 'bedrock',
    region,
    credentials: {
      accessKeyId: keys.accessKeyId,
      secretAccessKey: keys.secretAccessKey,
      ...(keys.sessionToken !== undefined && { sessionToken: keys.sessionToken }),
    },
    sha256: Sha256,
  })
  const url = new URL(request.url)
  const { headers } = await signer.sign({
    method: request.method,
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: { ...request.headers, host: url.host },
    body: request.body,
  })
  return { ...request, headers }
}
