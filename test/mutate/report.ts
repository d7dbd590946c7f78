import type { Mutant } from './mutants.ts'
import { reasonFor, staleReasons } from './reasons.ts'
import { store } from './stored.ts'

export interface Result {
  /** `refused`: the type checker does not let it pass; such a mutant does not count. */
  readonly status: 'killed' | 'timeout' | 'survived' | 'unreached' | 'refused'
  /** The test that failed, and its file. */
  readonly killedBy?: string
  readonly testFile?: string
}

export type Reported = Mutant & Result

/** The part of the mutants that the tests of a folder have to kill. */
const enough = 0.85

/** Whether no test saw it. */
export const isAlive = ({ status }: Result): boolean => status === 'survived' || status === 'unreached'

/** Stores and prints what was found; whether enough were killed, and all reasons are for survivors. */
export async function report(
  folder: string,
  mutants: readonly Reported[],
  tests: readonly string[],
): Promise<boolean> {
  await store(folder, mutants, tests)
  const byFile = Map.groupBy(mutants, ({ file }) => file)
  for (const [file, own] of byFile) {
    const alive = own.filter(isAlive)
    if (alive.length > 0) console.log([`\n${file}`, ...alive.map(line)].join('\n'))
  }
  console.log('\n mutants  killed   alive   score')
  for (const [file, own] of byFile) console.log(row(file, own))
  if (byFile.size > 1) console.log(row(folder, mutants))
  const stale = staleReasons(mutants, mutants.filter(isAlive))
  for (const { file, mutation } of stale)
    console.log(`in test/mutate/reasons.json, but no survivor: ${file}: ${mutation}`)
  return stale.length === 0 && scoreOf(mutants) >= enough
}

const counted = (mutants: readonly Reported[]): Reported[] =>
  mutants.filter(({ status }) => status !== 'refused')

function scoreOf(mutants: readonly Reported[]): number {
  const all = counted(mutants)
  return all.length === 0 ? 1 : 1 - all.filter(isAlive).length / all.length
}

function row(name: string, mutants: readonly Reported[]): string {
  const all = counted(mutants).length
  const alive = mutants.filter(isAlive).length
  const columns = [all, all - alive, alive, `${(scoreOf(mutants) * 100).toFixed(1)} %`]
  return `${columns.map((one) => String(one).padStart(8)).join('')}  ${name}`
}

function line(mutant: Reported): string {
  const mark = reasonFor(mutant) ? 'excused' : mutant.status === 'unreached' ? 'unreached' : ''
  return `${mark.padStart(9)} ${String(mutant.start.line).padStart(4)}  ${short(mutant.original)}  →  ${short(mutant.replacement)}`
}

const mostShown = 90

function short(code: string): string {
  const text = code.replaceAll(/\s+/g, ' ')
  return text.length > mostShown ? `${text.slice(0, mostShown)}…` : text
}
