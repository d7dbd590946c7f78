import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { markForwarded } from './client.ts'

/** The headers that a forwarded request has more than the client's: the secret, and the client's address. */
export const [secretHeader, clientHeader] = ['x-forward-secret', 'x-forward-for'] as const

/** Where the first thread answers what other threads forward to it. */
export interface MainEndpoint {
  readonly port: number
  readonly secret: string
}

export const newForwardSecret = (): string => randomBytes(32).toString('base64url')

/** Whether a request was forwarded by a thread of ours; then it is as if the client had sent it here. */
export function acceptForwarded(req: IncomingMessage, secret: string): boolean {
  const [given, client] = [Buffer.from(String(req.headers[secretHeader])), String(req.headers[clientHeader])]
  const expected = Buffer.from(secret)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false
  delete req.headers[secretHeader]
  delete req.headers[clientHeader]
  markForwarded(req, client)
  return true
}
