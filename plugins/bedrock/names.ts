import { hash } from 'node:crypto'
import type { ModelRequest } from '#kernel'

const allowed = /^[a-zA-Z0-9_-]{1,64}$/

/** Names of tools as the service takes them, and back. */
export interface ToolNames {
  sent(name: string): string
  original(name: string): string
}

/** Names that do not fit become ones that do, the same at every turn: what fits of them, and a digest. */
export function toolNamesOf({ tools, messages }: ModelRequest): ToolNames {
  const names = [
    ...(tools ?? []).map((tool) => tool.function?.name),
    ...(messages ?? []).flatMap(({ tool_calls }) => (tool_calls ?? []).map((call) => call.function?.name)),
  ]
  const sent = new Map<string, string>()
  const original = new Map<string, string>()
  for (const name of names) {
    if (name === undefined || allowed.test(name)) continue
    const fitting = fittingOf(name, 50)
    sent.set(name, fitting)
    original.set(fitting, name)
  }
  return { sent: (name) => sent.get(name) ?? name, original: (name) => original.get(name) ?? name }
}

/** Ids that another provider made may not fit; the same id becomes the same one at every turn. */
export const callIdOf = (id: string): string => (allowed.test(id) ? id : fittingOf(id, 40))

const fittingOf = (name: string, kept: number): string =>
  `${name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, kept)}_${hash('sha256', name).slice(0, 12)}`
