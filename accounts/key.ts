import { hash } from 'node:crypto'
import type { Key } from './records.ts'

/** The values that a key is found by. */
export const hashOf = (secret: string): string => hash('sha256', secret, 'base64url')

/** Whether a key has the form of keys made by the gateway, which cannot be guessed. */
export const isMadeHere = (secret: string): boolean => /^sy_(admin|live)_[0-9A-Za-z]{43}$/.test(secret)

/** Whether a key works at a time in milliseconds. */
export function keyStatus(key: Key, now = Date.now()): 'active' | 'revoked' | 'expired' {
  if (key.status === 'revoked') return 'revoked'
  return key.expires_at !== undefined && Date.parse(key.expires_at) <= now ? 'expired' : 'active'
}
