import path from 'node:path'
import { Declarations, type Reference } from './declarations.ts'

/** The published entries, by the names they are imported under. */
export const entries = {
  switchyard: 'contract/index.d.ts',
  'switchyard-kit': 'kit/index.d.ts',
  'switchyard-provider': 'plugins/upstream/kit/index.d.ts',
  'switchyard-testing': 'test/testing.d.ts',
} as const

/**
 * What a permission `service:<name>` opens, and what belongs to it. Their own text counts and nothing behind it: how the
 * gateway is made inside is no promise.
 */
const inner = new Set([
  'Accounts',
  'Actor',
  'Cohort',
  'Config',
  'Directory',
  'Environment',
  'Generation',
  'KeyStore',
  'Placement',
  'Plugin',
  'Prober',
  'Registry',
  'RouteTable',
  'Secrets',
  'TokenInquiry',
  'callContextOf',
  'destinationOf',
  'dryRun',
  'kernelServices',
  'permit',
  'readyTarget',
])

/**
 * The promise of a version of the contract: the declarations behind every entry, with those that they refer to, from files that
 * tsc emitted below `root`. The same types give the same text; comments and order of files are no part of it.
 */
export function apiReports(root: string, version: string): ReadonlyMap<string, string> {
  const files = new Map<string, Declarations>()
  const aliases = {
    '#kernel': path.join(root, entries.switchyard),
    '#kit': path.join(root, entries['switchyard-kit']),
    '#provider': path.join(root, entries['switchyard-provider']),
  }
  const load = (file: string): Declarations => {
    const known = files.get(file) ?? new Declarations(file, aliases)
    files.set(file, known)
    return known
  }
  const told = new Set<string>()
  const reports = new Map<string, string>()
  for (const [entry, file] of Object.entries(entries)) {
    const exported = load(path.join(root, file)).exported(load)
    const sections: Record<'own' | 'behind', [string, string][]> = { own: [], behind: [] }
    const open: { name: string; of: Reference; section: 'own' | 'behind' }[] = [...exported].map(
      ([name, of]) => ({ name, of, section: 'own' }),
    )
    for (let next = open.shift(); next; next = open.shift()) {
      const { name, of, section } = next
      const declarations = load(of.file)
      const text = declarations.text(of.name)
      if (text === undefined) {
        const elsewhere = declarations.exported(load).get(of.name)
        if (elsewhere) open.unshift({ name, of: elsewhere, section })
        continue
      }
      const key = `${of.file} ${of.name}`
      if (told.has(key)) continue
      told.add(key)
      sections[section].push([name, text])
      if (inner.has(of.name)) continue
      for (const reference of referencesIn(text, declarations))
        open.push({ name: reference.name, of: reference, section: 'behind' })
    }
    reports.set(entry, written(entry.replace('-', '/'), version, sections))
  }
  return reports
}

function referencesIn(text: string, declarations: Declarations): Reference[] {
  const names = new Set(text.match(/[A-Za-z_$][\w$]*/g))
  return [...names].flatMap((name) => declarations.refer(name) ?? [])
}

function written(
  title: string,
  version: string,
  { own, behind }: Record<'own' | 'behind', [string, string][]>,
): string {
  const section = (items: [string, string][]): string[] => items.sort(byName).map(([, text]) => text)
  return [
    `# \`${title}\``,
    `Contract ${version}. Written by \`npm run api\` from the declarations; not to be edited.`,
    `\`\`\`ts\n${section(own).join('\n\n')}\n\`\`\``,
    ...(behind.length > 0 ? ['## Behind these', `\`\`\`ts\n${section(behind).join('\n\n')}\n\`\`\``] : []),
    '',
  ].join('\n\n')
}

const byName = ([a, x]: [string, string], [b, y]: [string, string]): number =>
  a < b ? -1 : a > b ? 1 : x < y ? -1 : 1
