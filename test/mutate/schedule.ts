import path from 'node:path'
import type { Mutant } from './mutants.ts'
import type { Outcome, Run, Seen } from './plan.ts'
import type { Result } from './report.ts'
import type { Session } from './session.ts'

/**
 * What the tests of each file reach. Tests that fail without a mutant, or when they run a second time, are left out, and
 * those that take more than `longest` milliseconds.
 */
export async function lookAt(
  session: Session,
  tests: readonly string[],
  longest: number,
  say: (text: string) => void,
): Promise<Map<string, Seen>> {
  const seen = new Map<string, Seen>()
  const unusable = new Set<string>()
  const look = ({ file }: Run, { seen: now, ms }: Outcome): void => {
    if (!now) {
      say(`${file} is left out: it ends the process`)
      return
    }
    for (const { id, name, failed } of now.tests) {
      if (!failed || unusable.has(id)) continue
      unusable.add(id)
      say(`left out, since it fails without a mutant: ${name}`)
    }
    const before = seen.get(file)
    // What the second run no longer imports was imported by the first.
    seen.set(file, before ? { ...now, imports: { ...now.imports, ...before.imports } } : now)
    if (!before) return
    say(`${file}: ${now.tests.length} tests, ${(ms / 1000).toFixed(1)} s`)
    for (const test of now.tests) {
      if (test.ms <= longest) continue
      unusable.add(test.id)
      say(`left out, since it takes ${(test.ms / 1000).toFixed(1)} s: ${test.name}`)
    }
  }
  await session.run(
    tests.flatMap((file) => [{ file }, { file }]),
    look,
  )
  return new Map(
    [...seen].map(([file, one]) => [
      file,
      { ...one, tests: one.tests.filter(({ id }) => !unusable.has(id)) },
    ]),
  )
}

/** Milliseconds: tests that take longer run after all others of their file, for the mutants that those leave. */
const quick = 150

/** Runs the tests that reach each mutant, the fast ones first, until one fails. Tells after each run how many are done. */
export async function testMutants(
  sessions: readonly Session[],
  mutants: readonly Mutant[],
  seen: ReadonlyMap<string, Seen>,
  tell: (done: { runs: number; of: number; killed: number }) => void,
  say: (text: string) => void,
): Promise<Map<string, Result>> {
  const results = new Map<string, Result>()
  const imported = new Set([...seen.values()].flatMap(({ imports }) => Object.keys(imports)))
  const files = [...seen]
    .flatMap(([file, one]) => [
      [file, { ...one, tests: one.tests.filter(({ ms }) => ms <= quick) }] as const,
      [file, { ...one, tests: one.tests.filter(({ ms }) => ms > quick) }] as const,
    ])
    .filter(([, { tests }]) => tests.length > 0)
    .sort(([, a], [, b]) => secondsOf(a) - secondsOf(b))
  const shares = sessions.map((_, n) => {
    const own = mutants.filter((_, at) => at % sessions.length === n)
    return files.flatMap(([file, one]) => [
      ...own.flatMap((mutant) => runOf(file, one, mutant, imported.has(mutant.id)) ?? []),
      // Shows whether the mutants have left the process as it was.
      { file },
    ])
  })
  const all = shares.flat().filter(({ mutant }) => mutant !== undefined)
  const open = new Set(all)
  let killed = 0
  const take = (run: Run, { killedBy, timedOut, seen: control }: Outcome): void => {
    const failed = control?.tests.find((test) => test.failed)
    if (failed) say(`the mutants have left something behind: ${failed.name} fails without one`)
    if (run.mutant === undefined) return
    open.delete(run)
    if (killedBy !== undefined) {
      killed++
      for (const other of open) if (other.mutant === run.mutant) open.delete(other)
      results.set(run.mutant, { status: timedOut ? 'timeout' : 'killed', killedBy, testFile: run.file })
    } else results.set(run.mutant, { status: 'survived' })
    tell({ runs: all.length - open.size, of: all.length, killed })
  }
  await Promise.all(sessions.map((session, n) => session.run(shares[n]!, take)))
  return results
}

const secondsOf = ({ tests }: Seen): number => tests.reduce((all, { ms }) => all + ms / 1000, 0)

/** The run of a file's tests that reach a mutant; none when no test does. */
function runOf(file: string, seen: Seen, { id, file: source }: Mutant, isImported: boolean): Run | undefined {
  const isForAll = isImported ? seen.sources.includes(path.resolve(source)) : id in seen.hooks
  const reaching = seen.tests.filter(({ hits }) => isForAll || id in hits)
  if (reaching.length === 0) return undefined
  const hits = Math.max(...reaching.map((test) => test.hits[id] ?? 0), seen.hooks[id] ?? 0)
  return {
    file,
    mutant: id,
    tests: reaching.map((test) => test.id),
    hits: hits * 100 + 10_000,
    limits: Object.fromEntries(reaching.map((test) => [test.id, Math.round(test.ms * 5 + 2_000)])),
    ...(isImported ? { reload: path.resolve(source) } : {}),
  }
}
