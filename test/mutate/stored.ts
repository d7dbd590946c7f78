import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { Reported, Result } from './report.ts'

interface Stored {
  /** Hashes of the tests. */
  readonly tests: Readonly<Record<string, string>>
  readonly mutants: readonly Reported[]
}

const nameFor = (folder: string): string => `.mutate/${folder.replaceAll('/', '-')}.json`

/** Keeps what was found for the next run. */
export async function store(
  folder: string,
  mutants: readonly Reported[],
  tests: readonly string[],
): Promise<void> {
  await mkdir('.mutate', { recursive: true })
  await writeFile(nameFor(folder), JSON.stringify({ tests: await hashes(tests), mutants } satisfies Stored))
}

/**
 * What the last run found that still holds, by the mutants' keys: the file is the same, and so is the test that killed the
 * mutant, or are all the tests that did not.
 */
export async function knownResults(folder: string, tests: readonly string[]): Promise<Map<string, Result>> {
  const text = await readFile(nameFor(folder), 'utf8').catch(() => undefined)
  if (text === undefined) return new Map()
  const stored = JSON.parse(text) as Stored
  const now = await hashes(tests)
  const isSame = (file: string): boolean => now[file] !== undefined && stored.tests[file] === now[file]
  const allSame = tests.every(isSame)
  const holds = ({ testFile }: Reported): boolean => (testFile === undefined ? allSame : isSame(testFile))
  return new Map(
    stored.mutants.filter(holds).map(({ key, status, killedBy, testFile }) => {
      return [key, { status, ...(killedBy === undefined ? {} : { killedBy, testFile: testFile! }) }]
    }),
  )
}

async function hashes(files: readonly string[]): Promise<Record<string, string>> {
  const all = files.map(async (file) => {
    return [
      file,
      createHash('sha256')
        .update(await readFile(file))
        .digest('hex'),
    ] as const
  })
  return Object.fromEntries(await Promise.all(all))
}
