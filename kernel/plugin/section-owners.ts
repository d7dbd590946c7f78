import type { SectionOwner } from '../config/sections.ts'
import { inTime } from './in-time.ts'
import { load } from './loader.ts'
import type { Discovered } from './manifest.ts'

/** The plugins that keep sections of service.yaml, with the settings that these are. An import may take `ms`. */
export function sectionOwners(found: readonly Discovered[], ms: number): Promise<SectionOwner[]> {
  const owners = found.flatMap(({ id, manifest, entry, problem }) =>
    manifest && manifest.kind !== 'module' && manifest.sections.length > 0 && problem === undefined
      ? [{ id, sections: manifest.sections, entry }]
      : [],
  )
  return Promise.all(
    owners.map(async ({ id, sections, entry }) => {
      const definition = entry
        ? await inTime(load(entry), ms, 'its import').catch(() => undefined)
        : undefined
      return { id, sections, settings: definition?.settings }
    }),
  )
}
