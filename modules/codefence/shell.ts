import type { Command, Function as Definition, Pipeline, Redirect, SyntaxNode, Word } from 'unbash'
import { type Danger, type DangerKind, type Examiner, inOrder, type Severity } from './danger.ts'
import { type Invocation, invocationOf, isDownload, isInterpreter, isShell } from './invocation.ts'
import type { Nested } from './languages.ts'
import type { Packages } from './packages.ts'
import { keepsCredentials } from './paths.ts'
import { decodes, programsOf, readsInput } from './shell-programs.ts'
import { dumpsEnvironment, judged, reads, sendsWhatItGets, uploads } from './shell-rules.ts'

type Grammar = typeof import('unbash')

/** Scripts within scripts that are followed. */
const deepest = 12

/** Loads the grammar of Bash, which reads scripts of other shells too. */
export async function shellExaminer(packages: Packages, nested: Nested): Promise<Examiner> {
  const grammar = await import('unbash')
  return (code) => inOrder(new Script(grammar, packages, nested).dangersIn(code))
}

/** One look at a script, from its outermost commands to those in substitutions. */
class Script {
  readonly #grammar: Grammar
  readonly #packages: Packages
  readonly #nested: Nested
  readonly #found: Danger[] = []
  /** Where the finding of an inner script is put whose places are not those of the code. */
  #pinned: { readonly start: number; readonly end: number } | undefined
  #depth = 0

  constructor(grammar: Grammar, packages: Packages, nested: Nested) {
    this.#grammar = grammar
    this.#packages = packages
    this.#nested = nested
  }

  dangersIn(code: string): Danger[] {
    this.#visit(this.#grammar.parse(code))
    return this.#found
  }

  readonly #visit = (node: SyntaxNode): void => {
    if (node.type === 'Command') this.#command(node)
    else if (node.type === 'Pipeline') this.#pipeline(node)
    else if (node.type === 'Redirect') this.#redirect(node)
    else if (node.type === 'Function') this.#definition(node)
    if (node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution') this.#inner(node)
    else this.#grammar.forEachChild(node, this.#visit)
  }

  /** A substitution. In one with escaped backticks, places count in another text. */
  #inner(node: SyntaxNode & { readonly script: { readonly source?: string } | undefined }): void {
    if (this.#depth >= deepest) {
      this.#add(node, 'remote_code', 'high')
      return
    }
    const outside = this.#pinned
    if (node.script?.source !== undefined) this.#pinned ??= { start: node.pos, end: node.end }
    this.#depth += 1
    this.#grammar.forEachChild(node, this.#visit)
    this.#depth -= 1
    this.#pinned = outside
  }

  #command(command: Command): void {
    const invocation = invocationOf(command)
    if (!invocation) return
    for (const { kind, severity } of judged(invocation, this.#packages)) this.#add(command, kind, severity)
    for (const { language, code } of programsOf(invocation))
      for (const { kind, severity } of this.#nested(language, code)) this.#add(command, kind, severity)
    if (
      isShell(invocation.name) ||
      ['eval', 'source', '.'].includes(invocation.name) ||
      isInterpreter(invocation.name)
    )
      this.#runs(command, invocation)
    if (uploads(invocation) && this.#holdsSecrets(invocation.args)) this.#add(command, 'exfiltration', 'high')
  }

  /** What an interpreter or `eval` is given to run. */
  #runs(command: Command, { name, args }: Invocation): void {
    for (const word of args)
      for (const part of this.#expansionsIn(word)) {
        const inner = this.#invocationsIn(part)
        if (inner.some((one) => isDownload(one.name) || decodes(one)))
          this.#add(command, 'remote_code', 'high')
        else if (isInput(part.type, textOf(part))) {
          // A script that hands its arguments on runs none of them, unless they are the code.
          if (name === 'eval' || args.some(({ value }) => value === '-c'))
            this.#add(command, 'input_as_code', 'high')
        } else if (name === 'eval' && inner.length === 0) this.#add(command, 'input_as_code', 'medium')
      }
  }

  #pipeline(pipeline: Pipeline): void {
    const steps = pipeline.commands.map((command) =>
      command.type === 'Command' ? invocationOf(command) : undefined,
    )
    const before = (test: (one: Invocation) => boolean, at: number) =>
      steps.slice(0, at).some((one) => one !== undefined && test(one))
    for (const [at, step] of steps.entries()) {
      if (!step) continue
      if (isInterpreter(step.name) && readsInput(step)) {
        if (before((one) => isDownload(one.name) || decodes(one), at))
          this.#add(pipeline, 'remote_code', 'high')
      }
      if (!sendsWhatItGets(step)) continue
      if (before(({ name }) => isShell(name), at)) this.#add(pipeline, 'remote_shell', 'high')
      if (before((one) => dumpsEnvironment(one) || (reads(one) && one.values.some(keepsCredentials)), at))
        this.#add(pipeline, 'exfiltration', 'high')
    }
  }

  #redirect(redirect: Redirect): void {
    const target = redirect.target?.value ?? ''
    const writes = redirect.operator.includes('>')
    if (/^\/dev\/(?:tcp|udp)\//.test(target)) this.#add(redirect, 'remote_shell', 'high')
    else if (writes && /^\/dev\/(?:sd|hd|vd|nvme|disk|mmcblk|xvd)/.test(target))
      this.#add(redirect, 'deletion', 'high')
    else if (writes && /^\/etc\/(?:sudoers|passwd|shadow)/.test(target))
      this.#add(redirect, 'privileges', 'high')
    else if (writes && /\.ssh\/authorized_keys$/.test(target)) this.#add(redirect, 'privileges', 'medium')
    else if (!writes && keepsCredentials(target)) this.#add(redirect, 'credentials', 'medium')
  }

  /** A function that runs itself twice, in the background. */
  #definition({ name, body, pos, end }: Definition): void {
    let calls = 0
    const visit = (node: SyntaxNode): void => {
      if (node.type === 'Pipeline')
        for (const one of node.commands)
          if (one.type === 'Command' && one.name?.value === name.value) calls += 1
      if (node.type !== 'Function') this.#grammar.forEachChild(node, visit)
    }
    visit(body)
    if (calls > 1) this.#add({ pos, end }, 'exhaustion', 'high')
  }

  /** Whether words name credentials, or stand for the output of a command that reads them. */
  #holdsSecrets(args: readonly Word[]): boolean {
    return args.some(
      (word) =>
        keepsCredentials(word.value.replace(/^[^@]*@/, '')) ||
        this.#expansionsIn(word)
          .flatMap((part) => this.#invocationsIn(part))
          .some((one) => dumpsEnvironment(one) || one.values.some(keepsCredentials)),
    )
  }

  #invocationsIn(node: SyntaxNode): Invocation[] {
    const found: Invocation[] = []
    const visit = (inner: SyntaxNode): void => {
      const invocation = inner.type === 'Command' ? invocationOf(inner) : undefined
      if (invocation) found.push(invocation)
      if (inner.type !== 'CommandExpansion' && inner.type !== 'ProcessSubstitution')
        this.#grammar.forEachChild(inner, visit)
    }
    this.#grammar.forEachChild(node, visit)
    return found
  }

  /** The variables and substitutions of a word, those inside double quotes included. */
  #expansionsIn(word: Word): SyntaxNode[] {
    const found: SyntaxNode[] = []
    const visit = (node: SyntaxNode): void => {
      if (expansions.has(node.type)) found.push(node)
      else this.#grammar.forEachChild(node, visit)
    }
    this.#grammar.forEachChild(word, visit)
    return found
  }

  #add(
    { pos, end }: { readonly pos: number; readonly end: number },
    kind: DangerKind,
    severity: Severity,
  ): void {
    this.#found.push({ ...(this.#pinned ?? { start: pos, end }), kind, severity })
  }
}

const expansions = new Set<SyntaxNode['type']>([
  'SimpleExpansion',
  'ParameterExpansion',
  'CommandExpansion',
  'ProcessSubstitution',
])

const textOf = (node: SyntaxNode): string => ('text' in node ? (node.text ?? '') : '')

/** `$1`, `$@`, `$*`, `$REPLY`: what the user of a script gives it. */
const isInput = (type: SyntaxNode['type'], text: string): boolean =>
  /Expansion$/.test(type) && /^\$\{?(?:[1-9@*]|REPLY|QUERY_STRING|SSH_ORIGINAL_COMMAND)/.test(text)
