import { createHash, createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'
const secretBytes = 32

/** A secret in the form of Standard Webhooks. */
export const newSecret = (): string => prefix + randomBytes(secretBytes).toString('base64')

export const sha256Of = (body: string): string => createHash('sha256').update(body).digest('hex')

/** The headers of Standard Webhooks for a message, with a signature by each secret; and the form that older receivers expect. */
export function signedHeaders(
  id: string,
  at: Date,
  body: string,
  secrets: readonly [string, ...string[]],
): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000)
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  const older = createHmac('sha256', secrets[0]).update(body).digest('hex')
  return {
    'webhook-id': id,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': signatures.join(' '),
    'x-webhook-signature': `sha256=${older}`,
  }
}
