import type { SectionOwner } from '../config/sections.ts'
import { inTime, setupLimit } from './in-time.ts'
import { load } from './loader.ts'
import type { Discovered } from './manifest.ts'

/** The plugins that keep sections of service.yaml, with the settings that these are. `setupMs` is the configuration's limit. */
export function sectionOwners(found: readonly Discovered[], setupMs: number): Promise<SectionOwner[]> {
  const owners = found.flatMap((plugin) => {
    const { id, manifest, entry, problem } = plugin
    return manifest && manifest.kind !== 'module' && manifest.sections.length > 0 && problem === undefined
      ? [{ id, sections: manifest.sections, entry, ms: setupLimit(plugin, setupMs) }]
      : []
  })
  return Promise.all(
    owners.map(async ({ id, sections, entry, ms }) => {
      const definition = entry
        ? await inTime(load(entry), ms, 'its import').catch(() => undefined)
        : undefined
      return { id, sections, settings: definition?.settings }
    }),
  )
}
