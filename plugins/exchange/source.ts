import { z } from 'zod'
import { badRequest, type Forms } from '#kernel'
import { filled, refuseSecrets, valuesOf } from './content.ts'
import type { EnvironmentRow, SyncRow } from './environment.ts'
import type { Packs } from './packs.ts'
import { slug, variableValue, version } from './shapes.ts'

const forms = z.record(z.string().max(100), z.record(z.string().max(400), z.unknown()))

/** What a push to another gateway sends in place of what is set here. */
export const sourceFields = {
  source: z.enum(['live', 'export', 'pack']).default('live').meta({
    description:
      'What is set at the time; or, for a push to a remote gateway, what the snapshot or the pack has.',
  }),
  snapshot: z
    .strictObject({
      version: z.literal(1),
      exported_at: z.string().max(100).optional(),
      gateway_version: z.string().max(100).optional(),
      hash: z.string().max(100).optional(),
      sections: forms,
      secrets: z.array(z.string().max(1000)).max(10_000).optional(),
    })
    .optional()
    .meta({ description: 'For export: a snapshot of GET /api/config/export.' }),
  pack: z
    .strictObject({
      slug,
      version: version.optional().meta({ description: 'The latest by default.' }),
      variables: z.record(z.string().max(64), variableValue).default({}),
    })
    .optional()
    .meta({ description: 'For pack: one of this gateway. It need not be installed here.' }),
}

type Given = z.infer<z.ZodObject<typeof sourceFields>>

/** The forms that a source has, without secrets; undefined for what is set here. Throws a bad request for what does not fit. */
export async function sourceOf(
  { source, snapshot, pack }: Given,
  { kind }: Pick<EnvironmentRow, 'kind'>,
  direction: SyncRow['direction'],
  packs: Pick<Packs, 'version'>,
): Promise<Forms | undefined> {
  for (const [field, given, of] of [
    ['snapshot', snapshot, 'export'],
    ['pack', pack, 'pack'],
  ] as const)
    if ((given !== undefined) !== (source === of))
      throw bad(field, source === of ? `the source ${of} needs it` : `only the source ${of} has it`)
  if (source === 'live') return undefined
  if (kind !== 'remote' || direction !== 'push')
    throw bad('source', 'only a push to a remote gateway sends something else than what is set')
  if (snapshot) {
    refuseSecrets(snapshot.sections)
    return snapshot.sections
  }
  const chosen = await packs.version(pack!.slug, pack!.version)
  const { values, missing } = valuesOf(chosen, pack!.variables)
  if (missing.length > 0) throw bad(`pack.variables.${missing[0]}`, 'the pack needs a value')
  return filled(chosen.content, values, {})
}

const bad = (param: string, why: string) => badRequest(`body ${param}: ${why}.`, { param })
