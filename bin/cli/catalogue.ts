import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Difference, differenceOf } from '../../plugins/models/catalogue/difference.ts'
import type { CatalogueFile } from '../../plugins/models/catalogue/entry.ts'
import { CatalogueError } from '../../plugins/models/catalogue/problem.ts'
import { readCatalogue } from '../../plugins/models/catalogue/sources/read.ts'
import { catalogueFileOf, shippedCatalogue } from '../../plugins/models/catalogue.ts'
import { configuration } from './configuration.ts'

export interface UpdateOptions {
  readonly json?: boolean
  readonly dryRun?: boolean
  readonly force?: boolean
  readonly date?: string
  readonly source?: string
  readonly out?: string
}

/** Data errors of sysexits. */
const badData = 65
const shown = 40

/**
 * Takes a catalogue of models from a file, without a network: checks it, says what changes, and writes it to where
 * the next start or rescan of the gateway reads it. A broken file changes nothing: exit code 65.
 */
export async function updateCatalogue(file: string, options: UpdateOptions): Promise<void> {
  const config = configuration()
  if (!config) return
  const target = options.out ? path.resolve(options.out) : catalogueFileOf(config.dataDir)
  try {
    const next = await read(file, options)
    const shipped = shippedCatalogue()
    const last = (await existing(target)) ?? (options.out ? shipped : undefined)
    if (!options.force && last) refuseLoss(last, next)
    const difference = options.out
      ? differenceOf(last!, next)
      : differenceOf(over(shipped, last), over(shipped, next))
    if (!options.dryRun) await write(target, next)
    report(next, difference, target, options)
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error
    if (options.json) console.log(JSON.stringify({ status: 'refused', problems: error.problems }, null, 2))
    else for (const problem of error.problems) console.error(problem)
    process.exitCode = badData
  }
}

async function read(file: string, { date, source }: UpdateOptions): Promise<CatalogueFile> {
  try {
    const { mtime } = await stat(file)
    return readCatalogue(await readFile(file, 'utf8'), {
      date: date ?? mtime.toISOString().slice(0, 10),
      source,
    })
  } catch (error) {
    if (error instanceof CatalogueError) throw error
    throw new CatalogueError([`${file} cannot be read: ${(error as Error).message}`])
  }
}

/** The catalogue that was loaded before; a broken one counts as none. */
async function existing(file: string): Promise<CatalogueFile | undefined> {
  try {
    return readCatalogue(await readFile(file, 'utf8'), { date: '' })
  } catch {
    return undefined
  }
}

/** What is known with a file over the catalogue that came with the gateway, which it never takes away from. */
const over = ({ models }: CatalogueFile, file: CatalogueFile | undefined): Pick<CatalogueFile, 'models'> => ({
  models: { ...models, ...file?.models },
})

/** A file that lacks most of what was there before is a mistake more often than a plan. */
function refuseLoss(last: CatalogueFile, next: CatalogueFile): void {
  const known = Object.keys(last.models)
  const lost = known.filter((name) => !Object.hasOwn(next.models, name)).length
  if (lost * 2 <= known.length) return
  throw new CatalogueError([
    `the file lacks ${lost} of the ${known.length} models of the last one; --force accepts it`,
  ])
}

/** One model a line, sorted, so that two editions can be compared; whole or not at all. */
async function write(target: string, file: CatalogueFile): Promise<void> {
  const { models, ...head } = file
  const lines = Object.keys(models)
    .sort()
    .map((name) => `${JSON.stringify(name)}: ${JSON.stringify(models[name])}`)
  const text = `${JSON.stringify(head).slice(0, -1)},"models": {\n${lines.join(',\n')}\n}}\n`
  await mkdir(path.dirname(target), { recursive: true })
  await writeFile(`${target}.new`, text, { mode: 0o600 })
  await rename(`${target}.new`, target)
}

function report(next: CatalogueFile, difference: Difference, target: string, options: UpdateOptions): void {
  const { added, removed, changed } = difference
  const total = Object.keys(next.models).length
  const status = options.dryRun ? 'checked' : 'written'
  if (options.json) {
    const { source, date } = next
    const told = { status, file: target, source, date, models: total, added, removed, changed }
    console.log(JSON.stringify(told, null, 2))
    return
  }
  const lines = [
    ...added.map((model) => `+ ${model}`),
    ...removed.map((model) => `- ${model}`),
    ...changed.map(
      ({ model, field, before, after }) =>
        `~ ${model} ${field}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`,
    ),
  ]
  for (const line of lines.slice(0, shown)) console.log(line)
  if (lines.length > shown) console.log(`… and ${lines.length - shown} more; --json shows all.`)
  const models = new Set(changed.map(({ model }) => model)).size
  console.log(
    `${added.length} models added, ${removed.length} removed, ${models} changed; ${total} in the file.`,
  )
  console.log(
    options.dryRun
      ? 'Nothing was written.'
      : `Written to ${target}. A running gateway loads it with POST /api/proxy/models/rescan, or at its next start.`,
  )
}
