import { hash } from 'node:crypto'
import type { ModelRequest } from '../call/canonical.ts'
import { calledFunctions } from './tool-choice.ts'

const foreign = /[^a-zA-Z0-9_-]/g

/** A text in letters, digits, `_` and `-`: what fits of it, up to so many characters, and a digest of the whole. */
export const fittingName = (text: string, kept: number): string =>
  `${text.replaceAll(foreign, '_').slice(0, kept)}_${hash('sha256', text).slice(0, 12)}`

/** Names of functions as a provider takes them, and back. */
export interface FittingNames {
  sent(name: string): string
  original(name: string): string
  /** Whether any name differs. */
  readonly changed: boolean
}

/** Names of a request that do not fit become ones that do, the same at every turn. */
export function fittingNames(request: ModelRequest, allowed: RegExp): FittingNames {
  const declared = (request.tools ?? []).flatMap((tool) => tool.function?.name ?? [])
  const sent = new Map<string, string>()
  const original = new Map<string, string>()
  for (const name of [...declared, ...calledFunctions(request)]) {
    if (allowed.test(name)) continue
    const fitting = fittingName(name, 50)
    sent.set(name, fitting)
    original.set(fitting, name)
  }
  return {
    sent: (name) => sent.get(name) ?? name,
    original: (name) => original.get(name) ?? name,
    changed: sent.size > 0,
  }
}
