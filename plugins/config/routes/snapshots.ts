import { z } from 'zod'
import { type Configuration, type Context, kernelServices } from '#kernel'
import { differencesOf, riskOf, risks } from '../differences.ts'
import { normalForms } from '../normal.ts'
import { answerOf, appliedAnswer, changeFields } from '../shapes.ts'
import { demandSize, importOf, modes, snapshot, warningsOf } from '../snapshot.ts'

const changedField = z.object({ path: z.string(), current: z.unknown(), incoming: z.unknown() })
const field = z.object({ path: z.string(), value: z.unknown() })

/** Whole configurations as documents: to keep, to compare, and to take in. */
export function addSnapshotRoutes({ route, use }: Context<unknown>, configuration: Configuration): void {
  route({
    method: 'get',
    path: '/api/config/export',
    access: 'admin',
    summary: 'What is set at runtime as a snapshot, which has the names of secrets and never a secret',
    query: z.strictObject({
      sections: z
        .string()
        .max(2000)
        .optional()
        .meta({ description: 'Names of sections with commas between them; all by default.' }),
    }),
    returns: snapshot.required(),
    async handle({ query }) {
      const names = query.sections?.split(',').map((name) => name.trim())
      const { hash, sections, secrets } = await configuration.read(names)
      const { version: gateway_version } = use(kernelServices.runtime)
      const exported_at = new Date().toISOString()
      return { version: 1 as const, exported_at, gateway_version, hash, sections, secrets: [...secrets] }
    },
  })

  route({
    method: 'post',
    path: '/api/config/import',
    access: 'admin',
    summary: 'Take in a snapshot, as one generation or not at all',
    body: z.strictObject({
      snapshot,
      mode: z.enum(modes).default('merge').meta({
        description:
          'Whether keys that a section of the snapshot has not stay (merge) or are cleared (replace).',
      }),
      ...changeFields,
    }),
    returns: appliedAnswer,
    throws: [409],
    async handle({ body, ...by }) {
      const { snapshot: given, mode, dry_run: isTrial = false, force, if_generation: ifGeneration } = body
      demandSize(given.sections)
      const applied = await configuration.apply((now) => importOf(given, mode, now), {
        actor: { ...by, force, ifGeneration },
        isTrial,
      })
      return answerOf(applied, { isTrial, warnings: warningsOf(given, applied.after) })
    },
  })

  route({
    method: 'post',
    path: '/api/config/diff',
    access: 'admin',
    reads: true,
    summary: 'How a snapshot differs from what is set at runtime, in the sections that it has',
    body: snapshot,
    returns: z.object({
      identical: z.boolean(),
      changes: z.array(changedField),
      additions: z.array(field).meta({ description: 'What only the snapshot has.' }),
      removals: z.array(field).meta({ description: 'What the snapshot has not.' }),
      modifications: z.array(changedField).meta({ description: 'The same as changes.' }),
      risk: z.enum(risks).meta({
        description:
          'High for a change of where prompts go or what guards them, and for what is switched off or goes.',
      }),
      generation: z.int(),
    }),
    async handle({ body: { sections } }) {
      demandSize(sections)
      const now = await configuration.read(Object.keys(sections))
      const found = differencesOf(now.sections, await normalForms(use(kernelServices.registry), sections))
      const risk = riskOf(found)
      return {
        identical: risk === 'none',
        ...found,
        modifications: found.changes,
        risk,
        generation: now.generation,
      }
    },
  })
}
