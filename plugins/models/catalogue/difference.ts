import { isDeepStrictEqual } from 'node:util'
import type { CatalogueFile, ModelEntry } from './entry.ts'

export interface Change {
  /** `openai/gpt-4o`. */
  readonly model: string
  /** The differing fields: `usd_per_m.input`, `capabilities.vision`. */
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

export interface Difference {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly Change[]
}

type Models = Pick<CatalogueFile, 'models'>

/** The differences of one catalogue from another, by the names of models. */
export function differenceOf(before: Models, after: Models): Difference {
  const names = (file: Models) => Object.keys(file.models).sort()
  return {
    added: names(after).filter((name) => !Object.hasOwn(before.models, name)),
    removed: names(before).filter((name) => !Object.hasOwn(after.models, name)),
    changed: names(after).flatMap((model) => {
      const old = before.models[model]
      return old ? changesOf(model, old, after.models[model]!) : []
    }),
  }
}

function changesOf(model: string, before: ModelEntry, after: ModelEntry): Change[] {
  const [old, next] = [flat(before), flat(after)]
  const fields = [...new Set([...old.keys(), ...next.keys()])].sort()
  return fields
    .filter((field) => !isDeepStrictEqual(old.get(field), next.get(field)))
    .map((field) => ({ model, field, before: old.get(field) ?? null, after: next.get(field) ?? null }))
}

function flat({ capabilities, usd_per_m, ...rest }: ModelEntry): Map<string, unknown> {
  const inner = (name: string, values: object) =>
    Object.entries(values).map(([key, value]): [string, unknown] => [`${name}.${key}`, value])
  return new Map([
    ...Object.entries(rest),
    ...inner('capabilities', capabilities),
    ...inner('usd_per_m', usd_per_m ?? {}),
  ])
}
