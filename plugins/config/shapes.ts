import { z } from 'zod'
import type { Applied, Generation, JournalEntry } from '#kernel'
import { shownChange } from '#kit'

export const changeItem = z.object({
  section: z.string().meta({
    description: 'modules, bindings, plugins, code, or a section that a plugin keeps, such as routes.',
  }),
  key: z.string(),
  before: z.unknown().meta({ description: 'What was set at runtime; null for nothing.' }),
  after: z.unknown(),
})

export const generationItem = z.object({
  generation: z.int(),
  at: z.string().meta({ format: 'date-time' }),
  kind: z.enum(['start', 'change', 'rollback']).meta({ description: 'A start of the gateway is one, too.' }),
  actor: z.object({ type: z.string(), id: z.string(), key_id: z.string().nullable() }),
  request_id: z.string().nullable(),
  to: z.int().nullable().meta({ description: 'The generation that a rollback went back to.' }),
  changes: z.array(changeItem),
})

export const generationItemOf = (
  { generation, at, kind, actor, cause, to, changes }: JournalEntry,
  sections: Generation['sections'],
): z.infer<typeof generationItem> => ({
  generation,
  at,
  kind,
  actor: { type: actor.type, id: actor.id, key_id: actor.keyId ?? null },
  request_id: cause ?? null,
  to: to ?? null,
  changes: changes.map((change) => shownChange(sections, change)),
})

/** What every change of the whole may say. */
export const changeFields = {
  if_generation: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'Change only if the configuration is at this generation; else 409.' }),
  force: z
    .boolean()
    .optional()
    .meta({ description: 'Change even if it shuts out the address and key it comes from.' }),
  dry_run: z
    .boolean()
    .optional()
    .meta({ description: 'Make everything ready and check it, as the change would, and change nothing.' }),
}

export const appliedAnswer = z.object({
  dry_run: z.boolean(),
  generation: z
    .int()
    .meta({ description: 'The generation that holds now; the one before if nothing changed.' }),
  hash: z.string().meta({ description: 'Of what is set after the change, also for a dry run.' }),
  applied: z.array(z.string()).meta({ description: 'The keys that changed, as section.key.' }),
  changes: z.array(changeItem).meta({ description: 'Each of them before and after, without secrets.' }),
  restart_required: z.array(z.string()).meta({
    description:
      'Keys of server that say something else than now, and were not changed: set them in service.yaml.',
  }),
  warnings: z.array(z.string()),
})

export const answerOf = (
  { changes, after: { generation, hash } }: Applied,
  { isTrial, restart = [], warnings = [] }: AnswerParts,
): z.infer<typeof appliedAnswer> => ({
  dry_run: isTrial,
  generation,
  hash,
  applied: changes.map(({ section, key }) => `${section}.${key}`),
  changes: [...changes],
  restart_required: restart,
  warnings,
})

interface AnswerParts {
  readonly isTrial: boolean
  readonly restart?: string[]
  readonly warnings?: string[]
}
