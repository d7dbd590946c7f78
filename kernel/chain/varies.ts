import { newId } from '../../kit/id.ts'
import type { Call } from '../call/call.ts'
import { type Entry, handleFailure } from './entry.ts'
import { type Stage, stages } from './hooks.ts'

/** The values that the answer to a call varies by beside its request; undefined when there are none. */
export type Varies = (call: Call, insideOf: Stage) => string | undefined

/** Asks the modules that have `varies` and stand in a later stage than `insideOf`; undefined when no module has it. */
export function variesOf(entries: readonly Entry[]): Varies | undefined {
  const varying = entries.filter(({ hooks }) => hooks.varies)
  if (varying.length === 0) return undefined
  const places = varying.map(({ stage }) => stages.indexOf(stage))
  return (call, insideOf) => {
    const from = stages.indexOf(insideOf)
    let said: [id: string, by: string][] | undefined
    for (let i = 0; i < varying.length; i += 1) {
      const entry = varying[i]!
      if (places[i]! <= from || entry.when?.(call) !== undefined) continue
      const by = ask(entry, call)
      if (by === undefined) continue
      said ??= []
      said.push([entry.id, by])
    }
    return said && JSON.stringify(said)
  }
}

/** The value of one module. If it fails, the answer varies by the call itself, so that no other call gets it. */
function ask(entry: Entry, call: Call): string | undefined {
  try {
    const by: unknown = entry.hooks.varies!(call)
    if (by === undefined || typeof by === 'string') return by
    throw new TypeError(`varies must answer with a text or nothing, and answered with ${typeof by}`)
  } catch (error) {
    handleFailure(entry, 'varies', error, call)
    return newId('vary_')
  }
}
