import { conductOf } from './conduct.ts'
import type { Danger, Examiner } from './danger.ts'
import type { Packages } from './packages.ts'
import { readProgram } from './program.ts'
import { shellExaminer } from './shell.ts'
import { sqlExaminer } from './sql.ts'
import { javascript, python } from './terms.ts'

export const languages = ['python', 'javascript', 'shell', 'sql'] as const
export type Language = (typeof languages)[number]

/** Examines a program that stands in another one, as far as its language is looked at. */
export type Nested = (language: Language, code: string) => readonly Danger[]

/** Programs in programs in programs are followed so far. */
const deepest = 4

/** The examiner of each wanted language. Loads their grammars, which take some 10 MB of memory. */
export async function examiners(
  wanted: readonly Language[],
  packages: Packages,
): Promise<Map<Language, Examiner>> {
  const all = new Map<Language, Examiner>()
  let depth = 0
  const nested: Nested = (language, code) => {
    const examine = all.get(language)
    if (!examine || depth >= deepest) return []
    depth += 1
    try {
      return examine(code)
    } finally {
      depth -= 1
    }
  }
  const loaders: Readonly<Record<Language, () => Promise<Examiner>>> = {
    python: async () => {
      const { parser } = await import('@lezer/python')
      return (code) => conductOf(readProgram(parser.parse(code), code), python, packages, nested)
    },
    javascript: async () => {
      const parser = (await import('@lezer/javascript')).parser.configure({ dialect: 'ts jsx' })
      return (code) => conductOf(readProgram(parser.parse(code), code), javascript, packages, nested)
    },
    shell: () => shellExaminer(packages, nested),
    sql: sqlExaminer,
  }
  for (const language of wanted) all.set(language, await loaders[language]())
  return all
}

const byLabel: Readonly<Record<Language, RegExp>> = {
  python: /^(?:py|py3|python[\d.]*|ipython|pycon)$/,
  javascript: /^(?:js|mjs|cjs|jsx|javascript|node|ts|mts|cts|tsx|typescript)$/,
  shell:
    /^(?:sh|bash|zsh|ksh|dash|fish|shell|shellscript|console|terminal|shell-session|sh-session|shellsession)$/,
  sql: /^(?:sql|mysql|mariadb|postgres|postgresql|pgsql|psql|plsql|plpgsql|tsql|t-sql|sqlite)$/,
}

/** The languages in which code with a label is read: its own, or all where the label names none of them. */
export function languagesOf(label: string): readonly Language[] {
  const own = languages.find((language) => byLabel[language].test(label))
  return own ? [own] : languages
}

/** The code with the prompts of a session as spaces, so that places stay. */
export const withoutPrompts = (code: string): string =>
  code.replace(/^[ \t]*(?:(?:[\w.-]+@[\w.-]+[:~\w/.-]* ?)?[$%]|>>>|\.\.\.)(?= )/gm, (prompt) =>
    ' '.repeat(prompt.length),
  )
