import { readFileSync } from 'node:fs'
import type { Mutant } from './mutants.ts'

/** Why mutants may survive: they are no change of behaviour, or no test is worth what it shows. */
export interface Reason {
  readonly file: string
  readonly reason: string
  /** `original → replacement`, white space as one space and `…` for any text; all such mutants of the file are meant. */
  readonly mutations: readonly string[]
}

export const reasons = JSON.parse(
  readFileSync(new URL('reasons.json', import.meta.url), 'utf8'),
) as readonly Reason[]

const mutationOf = ({ original, replacement }: Mutant): string =>
  `${original} → ${replacement}`.replaceAll(/\s+/g, ' ')

/** Whether a mutation is one that a reason names. */
export function isMeant(mutation: string, named: string): boolean {
  const parts = named.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(mutation)
}

export const reasonFor = (mutant: Mutant): Reason | undefined =>
  reasons.find(
    ({ file, mutations }) =>
      file === mutant.file && mutations.some((named) => isMeant(mutationOf(mutant), named)),
  )

/** Mutations that are excused in files of `all` and are none of `alive`. */
export function staleReasons(
  all: readonly Mutant[],
  alive: readonly Mutant[],
): { readonly file: string; readonly mutation: string }[] {
  const files = new Set(all.map(({ file }) => file))
  const byFile = Map.groupBy(alive, ({ file }) => file)
  return reasons
    .filter(({ file }) => files.has(file))
    .flatMap(({ file, mutations }) => {
      const own = (byFile.get(file) ?? []).map(mutationOf)
      const stale = mutations.filter((named) => !own.some((mutation) => isMeant(mutation, named)))
      return stale.map((mutation) => ({ file, mutation }))
    })
}

const mostShown = 70

const cell = (code: string): string => {
  const text = code.length > mostShown ? `${code.slice(0, mostShown)}…` : code
  return `\`\` ${text.replaceAll('|', '\\|')} \`\``
}

/** The survivors that stay, as `docs/testing.md` lists them. */
export function reasonsTable(): string {
  const rows = reasons.map(
    ({ file, reason, mutations }) => `| \`${file}\` | ${reason} | ${mutations.map(cell).join('<br>')} |`,
  )
  return ['| file | why they stay | changes |', '|---|---|---|', ...rows].join('\n')
}
