import { z } from 'zod'
import type { Call } from '#kernel'
import { compileGlobs } from '#kit'

const globs = z.array(z.string().min(1).max(256)).max(1000).default([])

export const lists = {
  allow: globs.meta({
    title: 'Allow',
    description:
      'Globs for the tools that may be called. If empty, all tools may be called that are not denied.',
  }),
  deny: globs.meta({
    title: 'Deny',
    description: 'Globs for the tools that may not be called, even if they are also allowed.',
  }),
}

const listsSchema = z.strictObject(lists)
type Lists = z.infer<typeof listsSchema>

export const listsBy = z.record(z.string(), listsSchema).default({})

type MayCall = (tool: string) => boolean

export interface NameSettings extends Lists {
  readonly per_project: Readonly<Record<string, Lists>>
  readonly per_key: Readonly<Record<string, Lists>>
}

/** Which tools a call's model may call. The lists of its project and its key narrow the general ones and never widen them. */
export class ToolNames {
  readonly #all: MayCall | undefined
  readonly #projects: Map<string, MayCall>
  readonly #keys: Map<string, MayCall>

  constructor(settings: NameSettings) {
    this.#all = compile(settings)
    this.#projects = compileBy(settings.per_project)
    this.#keys = compileBy(settings.per_key)
  }

  get isEmpty(): boolean {
    return !this.#all && this.#projects.size === 0 && this.#keys.size === 0
  }

  mayCall(tool: string, { context, principal }: Call): boolean {
    return [this.#all, this.#projects.get(context.project), this.#keys.get(principal.keyId)].every(
      (may) => may?.(tool) ?? true,
    )
  }
}

function compile({ allow, deny }: Lists): MayCall | undefined {
  if (allow.length === 0 && deny.length === 0) return undefined
  const isAllowed = allow.length === 0 ? () => true : compileGlobs(allow)
  const isDenied = compileGlobs(deny)
  return (tool) => isAllowed(tool) && !isDenied(tool)
}

function compileBy(by: Readonly<Record<string, Lists>>): Map<string, MayCall> {
  const all = Object.entries(by).map(([name, lists]) => [name, compile(lists)] as const)
  return new Map(all.filter((entry): entry is [string, MayCall] => entry[1] !== undefined))
}
