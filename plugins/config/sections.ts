import { badRequest, type Portable, type PortableSection, type Registry, type Section } from '#kernel'
import { nearest } from '#kit'
import { portableSettings } from './settings.ts'

/** The portable parts of the configuration, by their names. */
export type Parts = ReadonlyMap<string, Portable>

/** Settings, and the sections of plugins that take part in documents. */
export function partsOf(registry: Registry): Parts {
  const sections = [...registry.generation.sections].filter((one): one is [string, PortableSection] =>
    isPortable(one[1]),
  )
  return new Map<string, Portable>([...Object.entries(portableSettings(registry)), ...sections] as never)
}

/** Throws a bad request that names the nearest for a section that there is not. */
export function partOf(parts: Parts, name: string): Portable {
  const found = parts.get(name)
  if (found) return found
  const [near] = nearest(name, [...parts.keys()])
  const hint = near === undefined ? `They are ${[...parts.keys()].join(', ')}.` : `The nearest is ${near}.`
  throw badRequest(`There is no section ${name} of the configuration. ${hint}`, { param: name })
}

const isPortable = (section: Section): section is PortableSection => 'shared' in section
