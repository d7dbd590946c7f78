import { type Danger, type DangerKind, inOrder, type Severity } from './danger.ts'
import type { Nested } from './languages.ts'
import type { Packages } from './packages.ts'
import { deletionOf, isMetadataAddress } from './paths.ts'
import type { Argument, CodeCall, Program, Range } from './program.ts'
import { Taints } from './taints.ts'
import type { Terms } from './terms.ts'

/** What a program does that is dangerous. */
export function conductOf(program: Program, terms: Terms, packages: Packages, nested: Nested): Danger[] {
  const found: Danger[] = []
  const add = ({ start, end }: Range, kind: DangerKind, severity: Severity) =>
    found.push({ start, end, kind, severity })
  const taints = new Taints(program, terms)
  for (const call of program.calls)
    judge(call, terms, taints, nested, (kind, severity) => add(call, kind, severity))
  for (const one of program.packages) {
    const severity = packages.suspicionOf(one.name.split(/[./](?!js$)/)[0]!, terms.registry)
    if (severity) add(one, 'package', severity)
  }
  return inOrder(found)
}

type Add = (kind: DangerKind, severity: Severity) => void

function judge(call: CodeCall, terms: Terms, taints: Taints, nested: Nested, add: Add): void {
  const { name, args } = call
  const [first] = args
  const does = (what: RegExp): boolean => what.test(name)
  if (does(terms.sends) && args.some((arg) => taints.isSecret(arg))) add('exfiltration', 'high')
  if (does(terms.remoteShells) && (/spawn$/.test(name) || args.some(({ text }) => text.includes('fileno'))))
    add('remote_shell', 'high')
  if (
    !does(terms.talks) &&
    args.some((arg) => taints.namesCredentials(arg) || isMetadataAddress(arg.literal ?? ''))
  )
    add('credentials', 'medium')
  if (!first) return
  if (does(terms.evaluates)) evaluated(first, taints, add)
  if (does(terms.shells) || (does(terms.runs) && args.some(({ text }) => terms.asShell.test(text))))
    inShell(first, taints, nested, add)
  else if (does(terms.runs)) pass(nested('shell', commandOf(args)), add)
  if (does(terms.deletes)) deleted(first, taints, add)
  if (does(terms.revives) && !first.isConstant && !args.some(({ text }) => terms.revivesSafely.test(text)))
    add('input_as_code', taints.isInput(first) || taints.isRemote(first) ? 'high' : 'low')
  if (does(terms.queries) && first.literal !== undefined) queried(first, taints, nested, add)
}

function evaluated(code: Argument, taints: Taints, add: Add): void {
  if (code.isConstant) return
  if (taints.isInput(code)) add('input_as_code', 'high')
  else add(taints.isRemote(code) ? 'remote_code' : 'input_as_code', taints.isRemote(code) ? 'high' : 'medium')
}

function inShell(command: Argument, taints: Taints, nested: Nested, add: Add): void {
  if (command.literal !== undefined) pass(nested('shell', command.literal), add)
  else if (command.list) pass(nested('shell', command.list.map(quoted).join(' ')), add)
  if (command.isConstant || command.list) return
  if (taints.isInput(command)) add('input_as_code', 'high')
  else
    add(
      taints.isRemote(command) ? 'remote_code' : 'input_as_code',
      taints.isRemote(command) ? 'high' : 'medium',
    )
}

function queried(query: Argument, taints: Taints, nested: Nested, add: Add): void {
  pass(nested('sql', query.literal!), add)
  const isQuery = /^\s*(?:select|insert|update|delete|drop|with|replace|merge|exec)\b/i.test(query.literal!)
  if (isQuery && !query.isConstant) add('input_as_code', taints.isInput(query) ? 'high' : 'medium')
}

function deleted(path: Argument, taints: Taints, add: Add): void {
  const severity =
    path.literal === undefined || !path.isConstant ? taints.deletionOf(path) : deletionOf(path.literal)
  if (severity) add('deletion', severity)
}

function pass(dangers: readonly Danger[], add: Add): void {
  for (const { kind, severity } of dangers) add(kind, severity)
}

/** The command line of a program with a list of arguments, whichever way it is given. */
const commandOf = (args: readonly Argument[]): string =>
  args
    .flatMap(({ literal, list }) => list ?? (literal === undefined ? [] : [literal]))
    .map(quoted)
    .join(' ')

const quoted = (word: string): string =>
  /^[\w./:=@~-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
