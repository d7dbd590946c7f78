import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import {
  badRequest,
  type Configuration,
  type Configured,
  type Context,
  type Forms,
  kernelServices,
} from '#kernel'
import { ProviderDirectory } from '#provider'
import { isRecord, mergePatch } from '../merge-patch.ts'
import { serverOf } from '../server.ts'
import { answerOf, appliedAnswer, changeFields } from '../shapes.ts'
import { demandSize } from '../snapshot.ts'

const section = z.record(z.string(), z.unknown())

const shown = {
  generation: z.int(),
  hash: z.string().meta({ description: 'SHA-256 of all that is set at runtime, without secrets and times.' }),
  secrets: z.array(z.string()).meta({ description: 'Names of the secrets that are set.' }),
  key_status: z.record(z.string(), z.enum(['api', 'config', 'environment'])).meta({
    description: 'By provider where its key is from; providers without a key are absent.',
  }),
  sources: z.record(z.string(), z.enum(['environment', 'file', 'runtime'])).meta({
    description: 'Where values are from, by dotted keys; what is not listed has its default.',
  }),
  server: section.meta({
    description: 'By dotted keys of service.yaml what only the file and the environment say.',
  }),
}

/** Reading and changing all that is set at runtime. */
export function addWholeRoutes({ route, use }: Context<unknown>, configuration: Configuration): void {
  const statusOfKeys = () =>
    Object.fromEntries(
      use(ProviderDirectory).providers.flatMap(({ name, keySource }) =>
        keySource === 'none' ? [] : [[name, keySource]],
      ),
    )

  route({
    method: 'get',
    path: '/api/config',
    access: 'admin',
    summary:
      'The configuration: what is set at runtime by section and key, and what the server was started with',
    returns: z.object(shown).catchall(section),
    async handle() {
      const config = use(kernelServices.config)
      const { sections, ...whole } = await configuration.read()
      const sources = { ...config.sources, ...runtimeSources(sections) }
      return { ...sections, ...whole, key_status: statusOfKeys(), sources, server: serverOf(config) }
    },
  })

  route({
    method: 'post',
    path: '/api/config',
    access: 'admin',
    summary: 'Change what is set at runtime by a merge patch, as one generation or not at all',
    body: z
      .object({
        ...changeFields,
        ...z.object(shown).partial().shape,
      })
      .catchall(section)
      .meta({
        description:
          'Sections as GET shows them, with null for what to clear. What else GET shows is accepted and changes nothing.',
      }),
    returns: appliedAnswer,
    throws: [409],
    async handle({ body, ...by }) {
      const { if_generation: ifGeneration, force, dry_run: isTrial = false, server = {}, ...rest } = body
      const {
        generation: _,
        hash: _hash,
        secrets: _secrets,
        key_status: _keys,
        sources: _sources,
        ...patch
      } = rest
      demandSize(patch)
      const applied = await configuration.apply((now) => patchedBy(patch, now), {
        actor: { ...by, force, ifGeneration },
        isTrial,
      })
      const present = serverOf(use(kernelServices.config))
      const restart = Object.keys(server).filter((key) => !isDeepStrictEqual(server[key], present[key]))
      return answerOf(applied, { isTrial, restart })
    },
  })
}

const runtimeSources = (sections: Forms): Record<string, 'runtime'> =>
  Object.fromEntries(
    Object.entries(sections).flatMap(([name, forms]) =>
      Object.keys(forms).map((key) => [`${name}.${key}`, 'runtime'] as const),
    ),
  )

/** The whole forms of the keys that a patch names. */
const patchedBy = (patch: Forms, { sections, secrets }: Configured): Forms =>
  Object.fromEntries(
    Object.entries(patch).map(([name, forms]) => [
      name,
      Object.fromEntries(
        Object.entries(forms).map(([key, form]) => [
          key,
          form === null
            ? null
            : withSecrets(mergePatch(sections[name]?.[key], form), form, (field) =>
                secrets.includes(`${name}.${key}.${field}`),
              ),
        ]),
      ),
    ]),
  )

/**
 * A patched form that says null for each secret that the patch clears: no form has the secret, so merging finds nothing there to
 * clear. Throws a bad request for a patch of a part of one, whose other parts are not known here.
 */
function withSecrets(merged: unknown, patch: unknown, isSecret: (field: string) => boolean): unknown {
  if (!isRecord(merged) || !isRecord(patch)) return merged
  const named = Object.entries(patch).filter(([field]) => isSecret(field))
  for (const [field, change] of named)
    if (isRecord(change) && Object.values(change).includes(null))
      throw badRequest(`${field} is secret and set as a whole: send all of it, or null.`, { param: field })
  const cleared = named.filter(([, change]) => change === null)
  return { ...merged, ...Object.fromEntries(cleared) }
}
