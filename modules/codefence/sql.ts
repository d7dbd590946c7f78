import { type Danger, type DangerKind, type Examiner, inOrder, type Severity } from './danger.ts'

/** Loads the grammar of SQL, which reads the common part of all dialects. */
export async function sqlExaminer(): Promise<Examiner> {
  const { StandardSQL } = await import('@codemirror/lang-sql')
  const { parser } = StandardSQL.language
  return (code) => {
    const statements: Danger[] = []
    const created = new Set<string>()
    const drops: { readonly at: number; readonly name: string }[] = []
    for (let node = parser.parse(code).topNode.firstChild; node; node = node.nextSibling) {
      if (node.name !== 'Statement') continue
      const tokens: string[] = []
      for (let part = node.firstChild; part; part = part.nextSibling)
        if (!/Comment$/.test(part.name)) tokens.push(code.slice(part.from, part.to))
      const said = tokens.join(' ').replace(/\s+/g, ' ').slice(0, longest)
      const [, made] =
        /^create (?:or replace )?(?:table|view|index|schema|database) (?:if not exists )?(\S+)/i.exec(said) ??
        []
      if (made) created.add(made.toLowerCase())
      const verdict = verdictOn(said, tokens)
      if (!verdict) continue
      const [, dropped] = /^drop \w+ if exists (\S+)/i.exec(said) ?? []
      if (dropped) drops.push({ at: statements.length, name: dropped.toLowerCase() })
      statements.push({ start: node.from, end: node.to, ...verdict })
    }
    // A script that makes a table anew drops the old one first.
    const renewed = new Set(drops.filter(({ name }) => created.has(name)).map(({ at }) => at))
    return inOrder(statements.map((one, i) => (renewed.has(i) ? { ...one, severity: 'low' } : one)))
  }
}

/** Of longer statements the beginning is looked at. */
const longest = 4000

interface Verdict {
  readonly kind: DangerKind
  readonly severity: Severity
}

function verdictOn(said: string, tokens: readonly string[]): Verdict | undefined {
  for (const [pattern, kind, severity] of patterns) if (pattern.test(said)) return { kind, severity }
  const has = (word: string): boolean => tokens.some((token) => token.toLowerCase() === word)
  const all = !has('where') && !has('limit') && !has('using') && !has('join')
  if (/^delete from\b/i.test(said) && all) return { kind: 'deletion', severity: 'high' }
  if (/^update\b/i.test(said) && has('set') && all) return { kind: 'deletion', severity: 'medium' }
  return undefined
}

const patterns: readonly (readonly [RegExp, DangerKind, Severity])[] = [
  [/^drop (?:temporary|index|view|trigger|function|policy)\b/i, 'deletion', 'low'],
  [/^drop (?:table|database|schema|user|role|tablespace|owned)\b/i, 'deletion', 'high'],
  [/^truncate\b/i, 'deletion', 'high'],
  [/^alter table \S+ drop\b/i, 'deletion', 'medium'],
  [/\bxp_cmdshell\b|\bsys_(?:exec|eval)\b|\bxp_reg\w+|\bsp_oacreate\b/i, 'remote_code', 'high'],
  [/^copy\b.*\b(?:to|from) program\b/i, 'remote_code', 'high'],
  [/\binto (?:outfile|dumpfile)\b/i, 'exfiltration', 'medium'],
  [/\butl_http\b|\bdblink_connect\b|\bload_file \(/i, 'exfiltration', 'medium'],
  [/\b(?:pg_shadow|pg_authid|mysql\s?\.\s?user|sys\s?\.\s?sql_logins|dba_users)\b/i, 'credentials', 'medium'],
  [
    /^grant all\b|^grant\b.*\bto public\b|^alter (?:user|role)\b.*\bsuperuser\b|^create (?:user|role)\b.*\bsuperuser\b/i,
    'privileges',
    'medium',
  ],
  [/^(?:exec|execute)(?: immediate)?\b.*(?:\+|\|\|)/i, 'input_as_code', 'medium'],
]
