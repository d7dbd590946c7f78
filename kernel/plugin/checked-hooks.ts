import { nearestHint } from '../../kit/text/nearest.ts'
import { isObject, nameOf } from '../../kit/work/hook-fault.ts'
import type { Hooks } from '../chain/hooks.ts'

const functions = [
  'idle',
  'admit',
  'request',
  'around',
  'wraps',
  'varies',
  'leadsTo',
  'eligible',
  'prefers',
  'attempt',
  'attempted',
  'attemptEnded',
  'reply',
  'settled',
] as const

export const hookNames: readonly string[] = [...functions, 'stream', 'detect', 'reveal', 'show', 'pure']

const shown = ['body', 'stream', 'error', 'headers']

/** The hooks that a setup returned, if it returned any. Throws a readable error that names each invalid hook. */
export function checkedHooks(returned: unknown): Hooks {
  if (returned === undefined || returned === null) return {}
  if (!isObject(returned)) throw new Error(`setup must return hooks, and returned ${nameOf(returned)}`)
  for (const hook of functions) {
    const value = returned[hook]
    if (value !== undefined && typeof value !== 'function')
      throw new Error(`the hook ${hook} must be a function, and is ${nameOf(value)}`)
  }
  const unknown = Object.keys(returned).find((name) => !hookNames.includes(name))
  if (unknown !== undefined) throw new Error(`unknown hook ${unknown}${nearestHint(unknown, hookNames)}`)
  const { stream, reply, reveal, detect, show } = returned
  if (stream !== undefined && stream !== 'buffer' && typeof stream !== 'function')
    throw new Error(`the hook stream must be a function or 'buffer', and is ${nameOf(stream)}`)
  if (reply !== undefined && stream === undefined)
    throw new Error(
      "a module with the hook reply must handle streams: add stream as a function or as 'buffer'",
    )
  if (show !== undefined) checkShow(show)
  if (detect !== undefined && !isObject(detect)) throw new Error('the hook detect must be an object')
  const both = (detect ?? {}) as Record<string, unknown>
  for (const detection of [both.request, both.reply, reveal]) {
    if (detection === undefined) continue
    if (!isObject(detection) || typeof detection.scan !== 'function' || typeof detection.reach !== 'number')
      throw new Error('a detection must have scan, a function, and reach, a number')
  }
  return returned as Hooks
}

function checkShow(show: unknown): void {
  if (!isObject(show)) throw new Error('the hook show must be an object')
  for (const [name, value] of Object.entries(show)) {
    if (!shown.includes(name)) throw new Error(`show has no ${name}${nearestHint(name, shown)}`)
    if (value !== undefined && typeof value !== 'function')
      throw new Error(`show.${name} must be a function, and is ${nameOf(value)}`)
  }
  if (show.body !== undefined && show.stream === undefined)
    throw new Error('a module that shows another body must say what happens to streams: add show.stream')
}
