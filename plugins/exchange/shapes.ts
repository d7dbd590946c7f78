import valid from 'semver/functions/valid.js'
import validRange from 'semver/ranges/valid.js'
import { z } from 'zod'

export const packTypes = ['config', 'template', 'guardrail', 'workflow', 'module', 'redteam'] as const

export const slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, { error: 'expected lower-case letters, digits and -' })
export const version = z
  .string()
  .max(64)
  .refine((text) => valid(text) === text, { error: 'expected a version such as 1.2.0' })
const range = z
  .string()
  .min(1)
  .max(100)
  .refine((text) => validRange(text) !== null, { error: 'expected a version range such as ^1.2.0' })
const secretName = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]{0,63}$/, { error: 'expected a name of upper-case letters, digits and _' })

const content = z.record(z.string().max(100), z.record(z.string().max(400), z.unknown())).meta({
  description:
    'By section and key what it sets, as in GET /api/config/export. {{name}} in a text stands for a variable; {"secret": "NAME"} in place of a provider’s api_key, or of the routing_key of a webhook, for a secret of service.yaml.',
})

export const requirements = z.strictObject({
  gateway: range.optional(),
  modules: z.record(z.string().max(100), range).optional(),
  secrets: z.array(secretName).max(100).optional(),
})

export const variableValue = z.union([z.string().max(10_000), z.number(), z.boolean()])
export const variable = z.strictObject({
  description: z.string().max(1000).optional(),
  default: variableValue.optional().meta({ description: 'Without one an install must give a value.' }),
})

/** What a version says, as its author gives it. */
export const versionFields = {
  version,
  content,
  requires: requirements.default({}),
  variables: z
    .record(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/), variable)
    .refine((all) => Object.keys(all).length <= 100, 'at most 100 variables')
    .default({}),
  changelog: z.string().max(20_000).default(''),
}

/** What a pack says of itself, whatever its version. */
export const packFields = {
  name: z.string().trim().min(1).max(200),
  description: z.string().max(2000).default(''),
  author: z.string().max(200).default(''),
  pack_type: z.enum(packTypes).default('config'),
  tags: z.array(z.string().min(1).max(50)).max(50).default([]),
  readme: z.string().max(100_000).default(''),
}

const time = z.string().meta({ format: 'date-time' })

export const packRow = z.object({
  id: z.string(),
  slug,
  ...packFields,
  /** All its versions, the newest last to be published. */
  versions: z.array(version),
  installs: z.int(),
  created_at: time,
  updated_at: time,
})
export type PackRow = z.output<typeof packRow>

export const versionRow = z.object({
  slug,
  ...versionFields,
  content_sha256: z.string().meta({ description: 'Of the content as canonical JSON (RFC 8785).' }),
  published_at: time,
})
export type VersionRow = z.output<typeof versionRow>

/** A key that an install has set. */
const object = z.object({
  section: z.string(),
  key: z.string(),
  /** The form before it, which an uninstall restores; null for none. */
  before: z.unknown(),
  after: z.unknown(),
  /** Fields with secrets that the pack has given, which no form shows. */
  gave: z.array(z.string()).optional(),
})
export type InstalledObject = z.output<typeof object>

export const installedRow = z.object({
  id: z.string(),
  slug,
  version,
  objects: z.array(object),
  installed_at: time,
  updated_at: time,
})
export type InstalledRow = z.output<typeof installedRow>
