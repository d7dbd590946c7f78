import type { DangerKind, Severity } from './danger.ts'
import type { Invocation } from './invocation.ts'
import type { Packages, Registry } from './packages.ts'
import { deletionOf, isMetadataAddress, keepsCredentials } from './paths.ts'

interface Verdict {
  readonly kind: DangerKind
  readonly severity: Severity
}

/** What is dangerous about a command by its name and arguments alone. */
export function judged(invocation: Invocation, packages: Packages): Verdict[] {
  const rule = Object.hasOwn(rules, invocation.name) ? rules[invocation.name]! : undefined
  const found = rule?.(invocation.values, packages) ?? []
  if (/^mkfs(?:\.|$)/.test(invocation.name)) found.push(high('deletion'))
  if (asksMetadata(invocation)) found.push(high('credentials'))
  else if (reads(invocation) && invocation.values.some(keepsCredentials)) found.push(medium('credentials'))
  return found
}

const high = (kind: DangerKind): Verdict => ({ kind, severity: 'high' })
const medium = (kind: DangerKind): Verdict => ({ kind, severity: 'medium' })

type Rule = (args: readonly string[], packages: Packages) => Verdict[]

const isOption = (arg: string): boolean => arg.startsWith('-')
const isRecursive = (arg: string): boolean => /^-[a-zA-Z]*[rR]|^--recursive$/.test(arg)

function worstDeletion(paths: readonly string[]): Verdict[] {
  const severities = paths.map(deletionOf)
  if (severities.includes('high')) return [high('deletion')]
  return severities.includes('medium') ? [medium('deletion')] : []
}

const remove: Rule = (args) => {
  if (args.includes('--no-preserve-root')) return [high('deletion')]
  return args.some(isRecursive) ? worstDeletion(args.filter((arg) => !isOption(arg))) : []
}

const find: Rule = (args) => {
  const removes =
    args.includes('-delete') || args.some((arg, i) => /^-exec(?:dir)?$/.test(arg) && args[i + 1] === 'rm')
  if (!removes) return []
  const narrows = args.some((arg) =>
    /^-(?:i?name|i?path|i?regex|[amc]time|[amc]min|newer|size|empty|user)$/.test(arg),
  )
  const paths = args.slice(
    0,
    args.findIndex((arg) => /^[-(!]/.test(arg)),
  )
  return narrows ? [] : worstDeletion(paths.length > 0 ? paths : ['.'])
}

const ontoDisk: Rule = (args) =>
  args.some((arg) => /^(?:of=)?\/dev\/(?!null|zero|std|fd\/|tty|full|random|urandom)/.test(arg))
    ? [high('deletion')]
    : []

const mode: Rule = (args) => {
  const [bits = '', ...paths] = args.filter((arg) => !isOption(arg))
  if (/^0?[4267]\d{3}$|[ug]\+\w*s/.test(bits)) return [medium('privileges')]
  if (!/^0?777$|^a\+rwx$/.test(bits)) return []
  return args.some(isRecursive) && paths.some((path) => deletionOf(path) === 'high')
    ? [high('privileges')]
    : [{ kind: 'privileges', severity: 'low' }]
}

const listens: Rule = (args) =>
  args.some((arg) => /^-\w*[ec]$|^--(?:exec|sh-exec)/.test(arg)) ? [high('remote_shell')] : []

const socat: Rule = (args) =>
  args.some((arg) => /^(?:exec|system):/i.test(arg)) ? [high('remote_shell')] : []

const keychain: Rule = ([verb = '']) =>
  /^(?:find-(?:generic|internet)-password|dump-keychain)$/.test(verb) ? [medium('credentials')] : []

const installs =
  (registry: Registry, verbs: RegExp, takesValue: RegExp): Rule =>
  (args, packages) => {
    const at = args.findIndex((arg) => verbs.test(arg))
    if (at === -1) return []
    const names = args
      .slice(at + 1)
      .filter((arg, i, rest) => !isOption(arg) && !takesValue.test(rest[i - 1] ?? ''))
    return names
      .map((name) => packages.suspicionOf(name, registry))
      .filter((severity) => severity !== undefined)
      .map((severity) => ({ kind: 'package', severity }))
  }

const npm = installs('npm', /^(?:i|install|add|ci|isntall)$/, /^--(?:prefix|registry|tag|workspace)$|^-w$/)
const pip = installs(
  'pypi',
  /^(?:install|add)$/,
  /^(?:-[rceit]|--(?:requirement|index-url|extra-index-url|target|group|constraint|editable))$/,
)

const rules: Readonly<Record<string, Rule>> = {
  rm: remove,
  find,
  dd: ontoDisk,
  shred: ontoDisk,
  wipefs: ontoDisk,
  chmod: mode,
  nc: listens,
  ncat: listens,
  netcat: listens,
  socat,
  security: keychain,
  npm,
  yarn: npm,
  pnpm: npm,
  bun: npm,
  pip,
  pip3: pip,
  pipx: pip,
  uv: pip,
  poetry: pip,
}

const readers =
  /^(?:cat|tac|less|more|head|tail|cp|mv|grep|egrep|rg|awk|sed|cut|sort|tar|zip|gzip|base64|xxd|od|hexdump|strings|jq|yq|tee|dd|install|scp|rsync|openssl|gpg)$/

/** Whether a command reads the files that it names. */
export const reads = ({ name }: Invocation): boolean => readers.test(name)

/** Whether a command prints all variables of the environment, which often hold keys. */
export const dumpsEnvironment = ({ name, values }: Invocation): boolean =>
  (name === 'env' || name === 'printenv' || name === 'set') && values.length === 0

const sendsData =
  /^(?:-[dFT]|--(?:data|form|upload-file|json|post-data|post-file|body-data|body-file)[\w-]*)(?:=|$)|^-[dFT]./

/** Whether a command sends its arguments, or files that they name, to another machine. */
export const uploads = ({ name, values }: Invocation): boolean =>
  (/^(?:curl|wget|http|https)$/.test(name) &&
    values.some((value) => sendsData.test(value) || /[?&]\w+=.*\$/.test(value))) ||
  (/^(?:scp|rsync|sftp|rclone)$/.test(name) && /^(?!\/)[\w.@-]+:/.test(values.at(-1) ?? ''))

/** Whether a command sends its input to another machine. */
export const sendsWhatItGets = (step: Invocation): boolean =>
  /^(?:nc|ncat|netcat|socat|telnet)$/.test(step.name) ||
  (uploads(step) && step.values.some((value) => /^(?:@?-|.*=@-|@\/dev\/stdin|-T-)$/.test(value)))

const asksMetadata = ({ name, values }: Invocation): boolean =>
  /^(?:curl|wget|https?)$/.test(name) && values.some(isMetadataAddress)
