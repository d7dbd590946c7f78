import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { z } from 'zod'
import type { Config } from '../../config/config.ts'
import { type OutputOptions, report } from './plugin/session.ts'
import { askRunning, findConfigured, findRunning } from './running.ts'

interface ReachOptions {
  readonly url?: string
  readonly key?: string
}

interface FileOptions extends OutputOptions, ReachOptions {
  readonly file: string
}

interface ApplyOptions extends FileOptions {
  readonly replace?: boolean
  readonly dryRun?: boolean
  readonly ifGeneration?: number
  readonly force?: boolean
}

const applied = z.looseObject({
  generation: z.int(),
  applied: z.array(z.string()),
  warnings: z.array(z.string()),
})
const field = z.object({ path: z.string(), value: z.unknown() })
const differences = z.looseObject({
  identical: z.boolean(),
  changes: z.array(z.object({ path: z.string(), current: z.unknown(), incoming: z.unknown() })),
  additions: z.array(field),
  removals: z.array(field),
  risk: z.string(),
})

/**
 * `switchyard config export`: prints a snapshot of the running gateway, which has no secrets. An error goes to standard error
 * alone, as what is printed is meant for a file.
 */
export function exportSnapshot({
  sections,
  ...reach
}: ReachOptions & { readonly sections?: string }): Promise<void> {
  const query = sections === undefined ? '' : `?${new URLSearchParams({ sections })}`
  return report(
    {},
    async (config) => z.looseObject({}).parse(await ask(config, reach, 'GET', `/api/config/export${query}`)),
    (snapshot) => JSON.stringify(snapshot, null, 2),
  )
}

/** `switchyard config diff`: prints how a snapshot differs from what is set. Ends with 2 if it does, and with 1 for an error. */
export function diffSnapshot(options: FileOptions): Promise<void> {
  return report(
    options,
    async (config) => {
      const found = differences.parse(
        await ask(config, options, 'POST', '/api/config/diff', await read(options.file)),
      )
      if (!found.identical) process.exitCode = 2
      return found
    },
    ({ identical, additions, removals, changes, risk }) =>
      identical
        ? 'Nothing differs.'
        : [
            ...additions.map(({ path, value }) => `+ ${path}: ${JSON.stringify(value)}`),
            ...removals.map(({ path, value }) => `- ${path}: ${JSON.stringify(value)}`),
            ...changes.map(
              ({ path, current, incoming }) =>
                `~ ${path}: ${JSON.stringify(current)} → ${JSON.stringify(incoming)}`,
            ),
            `The risk is ${risk}.`,
          ].join('\n'),
  )
}

/** `switchyard config apply`: takes a snapshot in, as one generation or not at all. */
export function applySnapshot(options: ApplyOptions): Promise<void> {
  const { file, replace = false, dryRun = false, ifGeneration, force } = options
  return report(
    options,
    async (config) => {
      const body = {
        snapshot: await read(file),
        mode: replace ? 'replace' : 'merge',
        dry_run: dryRun,
        if_generation: ifGeneration,
        force,
      }
      return applied.parse(await ask(config, options, 'POST', '/api/config/import', body))
    },
    ({ generation, applied: keys, warnings }) =>
      [
        ...keys.map((key) => `  ${key}`),
        ...warnings,
        `${keys.length} keys ${dryRun ? 'would change' : 'changed'}; the generation is ${generation}.`,
      ].join('\n'),
  )
}

async function ask(
  config: Config,
  { url, key }: ReachOptions,
  method: 'GET' | 'POST',
  at: string,
  body?: unknown,
): Promise<unknown> {
  const running = url ?? (await findRunning(config)) ?? (await findConfigured(config))
  if (running === undefined) throw new Error('No gateway answers: start it, or say where it is with --url.')
  return askRunning(running, key ?? config.adminKey, method, at, body)
}

/** The snapshot in a file. JSON is YAML, too. What is wrong with the file is said with its name. */
async function read(file: string): Promise<object> {
  try {
    const snapshot: unknown = parse(await readFile(file, 'utf8'))
    if (typeof snapshot === 'object' && snapshot !== null && 'version' in snapshot) return snapshot
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(`${file}: ${code === 'ENOENT' ? 'the file does not exist' : message}`)
  }
  throw new Error(`${file}: expected a snapshot as config export prints it, with "version": 1`)
}
