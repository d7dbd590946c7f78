import { z } from 'zod'
import { compileGlobs, patternSchema, patternTest } from '#kit'
import { insideOf, isPlain, onHosts, type ValueTest } from './argument-values.ts'

const globs = z.array(z.string().min(1).max(256)).min(1).max(100)
const patterns = z.array(patternSchema).max(100).default([])

export const argumentRule = z.strictObject({
  tools: globs.default(['*']).meta({ title: 'Tools', description: 'Globs for the tools it is about.' }),
  arguments: globs.default(['*']).meta({
    title: 'Arguments',
    description:
      'Globs for the arguments it is about, by their path: `path`, `files.*.name`. The text of a tool without a schema is `input`.',
  }),
  paths: globs.optional().meta({
    title: 'Paths',
    description:
      'Folders. Values must be paths inside one of them; `.` is the folder that the tool works in. Links are not followed.',
  }),
  hosts: globs.optional().meta({
    title: 'Hosts',
    description: 'Globs. Values must be web addresses or hosts, on one of these hosts.',
  }),
  shell: z.boolean().default(true).meta({
    title: 'Shell characters',
    description: 'Whether values may have characters that mean something to a shell, such as ; and $.',
  }),
  allow: patterns.meta({
    title: 'Allow',
    description: 'Patterns in RE2 syntax. Values must match one of them; use ^ and $ for the whole value.',
  }),
  deny: patterns.meta({ title: 'Deny', description: 'Patterns in RE2 syntax that no value may match.' }),
})

/** Whether the arguments of a call of a tool are as the rules want them. */
export type ArgumentCheck = (tool: string, value: unknown) => boolean

/** One check for all rules. Every value in the arguments that a rule is about must pass it, however deep it lies. */
export function compileArguments(rules: readonly z.infer<typeof argumentRule>[]): ArgumentCheck {
  const compiled = rules.map((rule) => ({
    isAbout: compileGlobs(rule.tools),
    isMeant: compileGlobs(rule.arguments),
    tests: testsOf(rule),
  }))
  return (tool, value) => {
    const about = compiled.filter(({ isAbout }) => isAbout(tool))
    if (about.length === 0) return true
    const leaves = leavesOf(value)
    return about.every(({ isMeant, tests }) =>
      leaves.every(({ at, text }) => !isMeant(at) || tests.every((test) => test(text))),
    )
  }
}

function testsOf({ paths, hosts, shell, allow, deny }: z.infer<typeof argumentRule>): ValueTest[] {
  const allowed = allow.map(patternTest)
  const denied = deny.map(patternTest)
  return [
    ...(paths ? [insideOf(paths)] : []),
    ...(hosts ? [onHosts(compileGlobs(hosts))] : []),
    ...(shell ? [] : [isPlain]),
    ...(allowed.length > 0 ? [(text: string) => allowed.some((test) => test(text))] : []),
    ...denied.map((test) => (text: string) => !test(text)),
  ]
}

interface Leaf {
  readonly at: string
  readonly text: string
}

/** The values in arguments that are texts or become texts, each with its path. */
function leavesOf(value: unknown, at = '', found: Leaf[] = []): Leaf[] {
  if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value))
      leavesOf(inner, at === '' ? name : `${at}.${name}`, found)
  } else if (value !== null) found.push({ at, text: String(value) })
  return found
}
