import { type Invocation, isShell } from './invocation.ts'
import type { Language } from './languages.ts'

/** Whether a command turns encoded text back. */
export const decodes = ({ name, values }: Invocation): boolean =>
  (/^base(?:64|32)$/.test(name) && values.some((value) => /^(?:-\w*[dD]\w*|--decode)$/.test(value))) ||
  (name === 'xxd' && values.some((value) => /^-\w*r/.test(value))) ||
  (name === 'openssl' && values.includes('-d'))

/** Whether an interpreter reads its program from its input, rather than from a file or an argument. */
export const readsInput = ({ values }: Invocation): boolean =>
  values.every((value) => value.startsWith('-'))
    ? !values.some((value) => /^-\w*[ceEm]$/.test(value))
    : values.includes('-s') || values.includes('-')

/** Programs in other languages, or in shell, that stand in the arguments. */
export function programsOf({
  name,
  values,
}: Invocation): { readonly language: Language; readonly code: string }[] {
  const language = isShell(name)
    ? 'shell'
    : /^python/.test(name)
      ? 'python'
      : /^(?:node|deno|bun)$/.test(name)
        ? 'javascript'
        : /^(?:psql|mysql|mariadb|sqlite3|sqlcmd)$/.test(name)
          ? 'sql'
          : undefined
  if (name === 'eval') return [{ language: 'shell', code: values.join(' ') }]
  if (!language) return []
  const flag =
    language === 'javascript' ? /^(?:-\w*[ep]|--eval|--print)$/ : /^(?:-\w*[ceqQ]|--command|--execute)$/
  const at = values.findIndex((value) => flag.test(value))
  const code = at === -1 ? undefined : values[at + 1]
  if (code !== undefined) return [{ language, code }]
  return name === 'sqlite3' && values[1] !== undefined ? [{ language, code: values[1] }] : []
}
