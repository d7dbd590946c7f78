import type { JsonObject } from '../call/canonical.ts'
import type { Target } from '../upstream/provider.ts'
import { protocolError } from './provider-facts.ts'

/** The JSON object of a provider's answer, or of one of its events; throws an error that another try may make good. */
export function jsonObject(text: string | Buffer, target: Target, what = 'answered with'): object {
  try {
    const parsed: unknown = JSON.parse(text.toString())
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed
  } catch {
    // Not JSON: the same failure as JSON that is no object.
  }
  throw protocolError(target, `${what} something that is not a JSON object`, { retryable: true })
}

/** The JSON object in a text, such as the arguments of a call; undefined for anything else. */
export function objectIn(json: string): JsonObject | undefined {
  if (!/^\s*\{/.test(json)) return undefined
  try {
    return JSON.parse(json) as JsonObject
  } catch {
    return undefined
  }
}
