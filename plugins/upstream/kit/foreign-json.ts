import { jsonrepair } from 'jsonrepair'
import type { JsonObject, Target } from '#kernel'
import { cutJson, parseForeign } from '#kit'
import type { Changes } from './changes.ts'
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

/** The JSON object in a text, such as the arguments of a call; undefined for anything else, and for what lies too deep. */
export function objectIn(json: string): JsonObject | undefined {
  if (!/^\s*\{/.test(json)) return undefined
  try {
    return parseForeign(json) as JsonObject
  } catch {
    return undefined
  }
}

/**
 * The arguments of a call that a conversation goes on from, for providers that take an object only. Models write nothing at all
 * where a function has no parameters. Text that was cut off or written badly counts as far as it can be read, half a text
 * included, and the change is reported. Undefined where there is no object in it.
 */
export function callArguments(json: string, changes: Changes): JsonObject | undefined {
  const known = json.trim() === '' ? {} : objectIn(json)
  if (known) return known
  const repaired = repairedObject(json)
  if (repaired) changes.add('messages.tool_calls.arguments')
  return repaired
}

function repairedObject(json: string): JsonObject | undefined {
  const { hasGap, endsInText, complete } = cutJson(json)
  try {
    return objectIn(jsonrepair(hasGap && !endsInText ? complete : json))
  } catch {
    return undefined
  }
}
