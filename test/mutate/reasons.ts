import { readFileSync } from 'node:fs'
import type { Mutant } from './mutants.ts'

/** Why a mutant may survive: it is no change of behaviour, or no test is worth what it shows. */
export interface Reason {
  readonly file: string
  /** `original → replacement`, white space as one space; all such mutants of the file are meant. */
  readonly mutation: string
  readonly reason: string
}

export const reasons = JSON.parse(
  readFileSync(new URL('reasons.json', import.meta.url), 'utf8'),
) as readonly Reason[]

const mutationOf = ({ original, replacement }: Mutant): string =>
  `${original} → ${replacement}`.replaceAll(/\s+/g, ' ')

export const reasonFor = (mutant: Mutant): Reason | undefined =>
  reasons.find(({ file, mutation }) => file === mutant.file && mutation === mutationOf(mutant))

/** Reasons for files of `all` that are not for one of `alive`. */
export function staleReasons(all: readonly Mutant[], alive: readonly Mutant[]): Reason[] {
  const files = new Set(all.map(({ file }) => file))
  const used = new Set(alive.map(reasonFor))
  return reasons.filter((reason) => files.has(reason.file) && !used.has(reason))
}

const mostShown = 70

const cell = (code: string): string => {
  const text = code.length > mostShown ? `${code.slice(0, mostShown)}…` : code
  return `\`\` ${text.replaceAll('|', '\\|')} \`\``
}

/** The survivors that stay, as `docs/testing.md` lists them. */
export function reasonsTable(): string {
  const groups = Map.groupBy(reasons, ({ file, reason }) => `| \`${file}\` | ${reason} |`)
  const rows = [...groups].map(
    ([head, all]) => `${head} ${all.map(({ mutation }) => cell(mutation)).join('<br>')} |`,
  )
  return ['| file | why they stay | changes |', '|---|---|---|', ...rows].join('\n')
}
