import { z } from 'zod'
import { type StoredVersion, visibilities } from '#kit'
import { content } from './input.ts'
import { kinds, lintFinding, statuses, type TemplateRow, type VersionBody } from './rows.ts'
import { variable } from './variables.ts'

const time = z.string().meta({ format: 'date-time' })
const json = z.record(z.string(), z.unknown())

/** A template without what its versions say. */
export const templateItem = z.object({
  id: z.string(),
  slug: z.string(),
  user_id: z.string().nullable().meta({ description: 'Its owner; null for a template of the admins.' }),
  visibility: z.enum(visibilities),
  type: z.enum(kinds),
  name: z.string().nullable(),
  description: z.string().nullable(),
  tags: z.array(z.string()),
  status: z.enum(statuses),
  labels: z.record(z.string(), z.int()).meta({ description: 'Versions by label.' }),
  current_version: z.int(),
  author: z.string(),
  created_at: time,
  updated_at: time,
})

/** A version in a list. */
export const versionItem = z.object({
  version: z.int(),
  change_note: z.string().nullable(),
  author: z.string(),
  parent_version: z.int().nullable(),
  sha256: z.string().meta({
    description: 'Of the content: of a text itself, of messages as canonical JSON (RFC 8785).',
  }),
  labels: z.array(z.string()),
  created_at: time,
})

const said = {
  content,
  variables: z.array(variable),
  model: z.string().nullable(),
  params: json,
  tools: z.array(json),
  response_format: json.nullable(),
}

export const versionDetail = versionItem.extend({
  ...said,
  lint: z.array(lintFinding),
  partials: z.array(z.object({ slug: z.string(), version: z.int() })).meta({
    description: 'Templates that are part of it, in the version that they had when it was published.',
  }),
})

/** A template with its newest version. */
export const templateDetail = templateItem.extend(said)

export const shownTemplate = ({ tenant: _, ...row }: TemplateRow): z.infer<typeof templateItem> => ({
  ...row,
  user_id: row.user_id ?? null,
  name: row.name ?? null,
  description: row.description ?? null,
})

export const shownVersion = (
  { labels }: TemplateRow,
  { version, author, created_at }: StoredVersion,
  { change_note, parent_version, sha256 }: VersionBody,
): z.infer<typeof versionItem> => ({
  version,
  change_note: change_note ?? null,
  author,
  parent_version,
  sha256,
  labels: Object.keys(labels).filter((label) => labels[label] === version),
  created_at,
})

/** What a version says, for a reader. */
export const shownBody = ({ content, variables, model, params, tools, response_format }: VersionBody) => ({
  content,
  variables,
  model: model ?? null,
  params: params ?? {},
  tools: tools ?? [],
  response_format: response_format ?? null,
})
