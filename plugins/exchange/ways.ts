import {
  type Actor,
  type Configuration,
  type Context,
  conflict,
  type FormChange,
  type Forms,
  kernelServices,
} from '#kernel'
import { repairedJson } from '#kit'
import { filled } from './content.ts'
import type { EnvironmentRow, SyncRow } from './environment.ts'
import type { Environments } from './environments.ts'
import { Remote } from './remote.ts'

export interface SyncOptions {
  readonly actor: Actor
  readonly direction: SyncRow['direction']
  readonly sections?: readonly string[] | undefined
  /** What another gateway gets in place of what is set here. */
  readonly source?: Forms | undefined
  readonly isTrial: boolean
  /** The hash that what is to be changed must have. */
  readonly fromHash?: string | undefined
  /** Whether the other gateway may have been changed by others since the last sync. */
  readonly overwrite: boolean
}

export interface SyncParts extends Pick<Context<unknown>, 'fetch' | 'use'> {
  readonly environments: Environments
  readonly configuration: () => Configuration
}

/** What a sync has changed: of this gateway, of another, or of an environment's own record. */
interface Outcome {
  readonly changes: readonly FormChange[]
  readonly from_hash: string | null
  readonly to_hash: string | null
  readonly generation: number | null
  readonly rollback_id: number | null
}

type Way = (parts: SyncParts, row: EnvironmentRow, options: SyncOptions) => Promise<Outcome>

/** Sets what a local environment has of its own. */
const pushLocal: Way = (parts, { config }, options) =>
  applyHere(
    parts,
    filled(chosen(config, options.sections), {}, parts.use(kernelServices.config).secrets),
    options,
  )

/** Takes what is set here under the keys of a local environment into it. Refused while a section of them is not there. */
const pullLocal: Way = async ({ configuration, environments }, { name, config }, options) => {
  const own = chosen(config, options.sections)
  const { sections } = await configuration().read(Object.keys(own))
  const changes: FormChange[] = []
  const next: Record<string, Record<string, unknown>> = structuredClone(config)
  for (const [section, forms] of Object.entries(own))
    for (const [key, before] of Object.entries(forms)) {
      const after = sections[section]?.[key] ?? null
      if (repairedJson(before) === repairedJson(after)) continue
      changes.push({ section, key, before, after })
      next[section]![key] = after
    }
  if (!options.isTrial) await environments.change(name, () => ({ config: next }))
  return { changes, from_hash: null, to_hash: null, generation: null, rollback_id: null }
}

/** Sets here what is set on another gateway, which cannot name secrets of this one. */
const pullRemote: Way = async (parts, row, options) => {
  const { sections } = await remoteOf(parts, row).export(options.sections)
  return applyHere(parts, sections, options)
}

/**
 * Sets on another gateway what is set here, with what the environment has of its own on top. Refused where somebody else has
 * changed it since the last push.
 */
const pushRemote: Way = async (parts, row, { source, sections, isTrial, fromHash, overwrite }) => {
  const remote = remoteOf(parts, row)
  const given = source ? chosen(source, sections) : (await parts.configuration().read(sections)).sections
  const forms = withOwn(given, filled(chosen(row.config, sections), {}, {}))
  const { generation, hash } = await remote.state()
  const known = fromHash === undefined ? row.known_hashes : [fromHash]
  if (!overwrite && known.length > 0 && !known.includes(hash))
    throw conflict(
      `${row.name} was changed since the last push: look at it with dry_run, then say its from_hash.`,
      {
        param: 'from_hash',
        details: { hash },
      },
    )
  const planned = await remote.import(forms, generation, true)
  const outcome = { from_hash: hash, to_hash: planned.hash, changes: planned.changes }
  if (isTrial) return { ...outcome, generation: null, rollback_id: null }
  // Kept before the push: if its answer is lost, the next push knows what it has made.
  await parts.environments.change(row.name, () => ({ known_hashes: [hash, planned.hash] }))
  const made = await remote.import(forms, generation, false)
  return {
    ...outcome,
    to_hash: made.hash,
    generation: made.generation,
    rollback_id: made.generation === generation ? null : generation,
  }
}

/** How each kind of environment is pushed to and pulled from. */
export const ways: Readonly<Record<EnvironmentRow['kind'], Readonly<Record<SyncRow['direction'], Way>>>> = {
  local: { push: pushLocal, pull: pullLocal },
  remote: { push: pushRemote, pull: pullRemote },
}

async function applyHere(
  { configuration }: SyncParts,
  forms: Forms,
  { actor, isTrial, fromHash }: SyncOptions,
): Promise<Outcome> {
  let before = { hash: '', generation: 0 }
  const { changes, after } = await configuration().apply(
    (now) => {
      before = now
      if (fromHash !== undefined && fromHash !== now.hash)
        throw conflict('The configuration has another hash: read it again.', {
          param: 'from_hash',
          details: { hash: now.hash },
        })
      return forms
    },
    { actor, isTrial },
  )
  const isSame = isTrial || after.generation === before.generation
  return {
    changes,
    from_hash: before.hash,
    to_hash: after.hash,
    generation: after.generation,
    rollback_id: isSame ? null : before.generation,
  }
}

const remoteOf = ({ use, fetch }: SyncParts, row: EnvironmentRow): Remote =>
  new Remote(row, use(kernelServices.config).secrets, fetch)

/** The sections that were asked for, of those there are. */
const chosen = (forms: Forms, sections: readonly string[] | undefined): Forms =>
  sections ? Object.fromEntries(Object.entries(forms).filter(([name]) => sections.includes(name))) : forms

const withOwn = (forms: Forms, own: Forms): Forms =>
  Object.fromEntries(
    [...new Set([...Object.keys(forms), ...Object.keys(own)])].map((name) => [
      name,
      { ...forms[name], ...own[name] },
    ]),
  )
