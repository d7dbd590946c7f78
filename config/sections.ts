import { z } from 'zod'
import { fromTexts } from './coerce.ts'
import type { Config } from './config.ts'
import { type Problem, pathKey } from './document.ts'
import { configJsonSchema, type SchemaNode } from './keys.ts'
import { explain, unknownKey } from './problems.ts'

/** A plugin whose settings stand in sections of service.yaml that are its own. */
export interface SectionOwner {
  readonly id: string
  readonly sections: readonly string[]
  /** Undefined for a plugin that cannot be imported, which is reported elsewhere. */
  readonly settings: z.ZodType | undefined
}

/** The content of a plugin's sections, by their keys: the input of its settings. */
export type SectionValues = Readonly<Record<string, unknown>>

/**
 * The content of the plugins' sections of service.yaml, by plugin, and every problem at once: keys that are no plugin's section,
 * and values that a section does not take.
 */
export function readSections(
  config: Pick<Config, 'sections' | 'source'>,
  owners: readonly SectionOwner[],
): { readonly values: ReadonlyMap<string, SectionValues>; readonly problems: readonly Problem[] } {
  const read = owners.map((owner) => ({ ...owner, ...readOwn(config, owner) }))
  return {
    values: new Map(read.map(({ id, values }) => [id, values])),
    problems: [...unknownKeys(config, owners), ...read.flatMap(({ problems }) => problems)],
  }
}

function unknownKeys({ sections }: Pick<Config, 'sections'>, owners: readonly SectionOwner[]): Problem[] {
  const claimed = owners.flatMap((owner) => owner.sections)
  const properties = {
    ...configJsonSchema().properties,
    ...Object.fromEntries(claimed.map((key) => [key, {}])),
  }
  return Object.keys(sections)
    .filter((key) => !claimed.includes(key))
    .map((key) => ({ path: [key], message: unknownKey([], key, { properties }) }))
}

function readOwn(
  { sections, source }: Pick<Config, 'sections' | 'source'>,
  { sections: own, settings }: SectionOwner,
): { values: SectionValues; problems: readonly Problem[] } {
  const said = Object.fromEntries(
    own.filter((key) => Object.hasOwn(sections, key)).map((key) => [key, sections[key]]),
  )
  // Without a section there is nothing to read, and a schema takes longer to make than all the rest.
  if (!settings || (Object.keys(said).length === 0 && settings.safeParse({}).success))
    return { values: said, problems: [] }
  const schema = z.toJSONSchema(settings, { io: 'input', unrepresentable: 'any' }) as SchemaNode
  const values = fromTexts(said, schema) as SectionValues
  const { error } = settings.safeParse(values)
  const hidden = (at: readonly string[]) => source.positions.get(pathKey(at))?.expanded === true
  return { values, problems: error ? explain(error.issues, values, schema, hidden) : [] }
}
