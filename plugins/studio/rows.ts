import { z } from 'zod'
import { lintRules, visibilities } from '#kit'
import { content, fields } from './input.ts'
import { declaredVariable, variable } from './variables.ts'

export const statuses = ['draft', 'active', 'archived'] as const
export const kinds = ['text', 'chat'] as const

export const templateRow = z.object({
  id: z.string(),
  slug: z.string(),
  /** The user that owns it; absent for one of the admins. */
  user_id: z.string().optional(),
  /** The owner's. */
  tenant: z.string().optional(),
  visibility: z.enum(visibilities),
  type: z.enum(kinds),
  name: z.string().optional(),
  description: z.string().optional(),
  tags: z.array(z.string()),
  status: z.enum(statuses),
  /** Versions by label. */
  labels: z.record(z.string(), z.int()),
  /** The newest one. They are numbered from 1, without gaps. */
  current_version: z.int(),
  author: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type TemplateRow = z.infer<typeof templateRow>

/** A weakness of what a version says. */
export const lintFinding = z.object({
  rule: z.enum(lintRules),
  at: z.string().meta({ description: 'The message, such as `messages.0`.' }),
  message: z.string(),
})

/** What a version says, and never changes. */
export const versionBody = z.object({
  content,
  /** The content with its partials in place, where it has some. */
  resolved: content.optional(),
  /** The texts of its partials by their slugs; older versions lack them. */
  parts: z.record(z.string(), z.string()).optional(),
  /** Of other templates, also those inside of partials. */
  partials: z.array(z.object({ id: z.string(), slug: z.string(), version: z.int() })),
  /** How many partials are inside each other. */
  depth: z.int(),
  variables: z.array(variable),
  /** What the author says about them. */
  declared: z.array(declaredVariable),
  ...fields,
  change_note: z.string().optional(),
  parent_version: z.int().nullable(),
  lint: z.array(lintFinding).default([]),
  sha256: z.string(),
})
export type VersionBody = z.infer<typeof versionBody>

/** A shared template is for all, unless it is a draft. */
export const isForAll = ({ visibility, status }: TemplateRow): boolean =>
  visibility === 'shared' && status !== 'draft'
