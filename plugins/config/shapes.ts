import { z } from 'zod'
import type { ConfigChange, JournalEntry } from '#kernel'

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

/** `shown`: what a section with secrets shows of a change. */
export const generationItemOf = (
  { generation, at, kind, actor, cause, to, changes }: JournalEntry,
  shown: (change: ConfigChange) => ConfigChange,
): z.infer<typeof generationItem> => ({
  generation,
  at,
  kind,
  actor: { type: actor.type, id: actor.id, key_id: actor.keyId ?? null },
  request_id: cause ?? null,
  to: to ?? null,
  changes: changes.map(shown),
})
