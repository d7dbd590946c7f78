import { z } from 'zod'
import { badRequest, type Configured, type Forms } from '#kernel'
import { hashOf } from './values.ts'

export const sectionForms = z.record(z.string().max(100), z.record(z.string().max(400), z.unknown())).meta({
  description:
    'By section and key what is set: modules, bindings, plugins, providers, routes, guardrails and so on.',
})

/** A whole configuration as a document that people keep. */
export const snapshot = z.strictObject({
  version: z.literal(1),
  exported_at: z.string().max(100).meta({ format: 'date-time' }).optional(),
  gateway_version: z.string().max(100).optional(),
  hash: z
    .string()
    .max(100)
    .optional()
    .meta({ description: 'SHA-256 of the sections as canonical JSON (RFC 8785), without empty ones.' }),
  sections: sectionForms,
  secrets: z.array(z.string().max(1000)).max(10_000).optional().meta({
    description: 'Names of secrets that are set where it comes from. A snapshot never has a secret.',
  }),
})
export type Snapshot = z.output<typeof snapshot>

/** How many keys a document may set. */
const mostKeys = 10_000

export function demandSize(sections: Forms): void {
  const keys = Object.values(sections).reduce((sum, forms) => sum + Object.keys(forms).length, 0)
  if (keys > mostKeys)
    throw badRequest(`A change sets ${mostKeys} keys at most, and this has ${keys}.`, { param: 'sections' })
}

export const modes = ['merge', 'replace'] as const

/** The forms that an import sets. With `replace`, keys of its sections that it has not are cleared. */
export function importOf({ sections }: Snapshot, mode: (typeof modes)[number], now: Configured): Forms {
  if (mode === 'merge') return sections
  return Object.fromEntries(
    Object.entries(sections).map(([name, forms]) => {
      const cleared = Object.keys(now.sections[name] ?? {}).filter((key) => !Object.hasOwn(forms, key))
      return [name, { ...Object.fromEntries(cleared.map((key) => [key, null])), ...forms }]
    }),
  )
}

/** What an admin should know of a snapshot that was taken in. */
export function warningsOf({ hash, sections, secrets = [] }: Snapshot, after: Configured): string[] {
  const here = new Set(after.secrets)
  const missing = secrets.filter((name) => !here.has(name))
  return [
    ...(hash !== undefined && hash !== hashOf(sections)
      ? ['The snapshot was changed since it was exported: its hash is another.']
      : []),
    ...missing.map((name) => `${name} is a secret, which no snapshot has: set it here.`),
  ]
}
