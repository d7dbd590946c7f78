import type { Section } from '../../kernel/contract/section.ts'
import type { ConfigChange } from '../../kernel/plugin/journal.ts'

const kernelSections: ReadonlySet<string> = new Set(['modules', 'bindings', 'plugins', 'code'])

/** A change of the history as people may see it: what its section shows of values, which may hold secrets. */
export function shownChange(sections: ReadonlyMap<string, Section>, change: ConfigChange): ConfigChange {
  const section = sections.get(change.section)
  if (kernelSections.has(change.section) || (section && !section.show)) return change
  const show = section?.show ?? (() => 'kept by a plugin that is switched off')
  const shown = (value: unknown): unknown => (value === null ? null : show(value))
  return { ...change, before: shown(change.before), after: shown(change.after) }
}
