import type { SyntaxNode, Tree } from '@lezer/common'
import { literalOf } from './literals.ts'
import { Names, type Package } from './names.ts'

export interface Range {
  readonly start: number
  readonly end: number
}

/** An argument of a call. */
export interface Argument extends Range {
  readonly text: string
  /** The text that it is, with `$arg` for each part that is not known; undefined where it is no text. */
  readonly literal: string | undefined
  /** Whether all of its text is known. */
  readonly isConstant: boolean
  /** The texts of a list. */
  readonly list: readonly string[] | undefined
}

/** A call by its full name, such as `os.system`, `new Function` or `open().read`. */
export interface CodeCall extends Range {
  readonly name: string
  readonly args: readonly Argument[]
}

/** Variables that get the value of an expression. */
export interface Flow {
  readonly to: readonly string[]
  readonly from: Range
}

/** What a program in Python or JavaScript consists of, as far as the rules look at it. */
export interface Program {
  readonly code: string
  readonly calls: readonly CodeCall[]
  readonly flows: readonly Flow[]
  /** Packages that it loads by a constant name. */
  readonly packages: readonly Package[]
  /** Its variables and texts, in order. */
  readonly words: readonly (Range & { readonly name: string })[]
  readonly texts: readonly (Range & { readonly value: string })[]
}

/** Reads a syntax tree. Nodes that are errors are passed over. */
export function readProgram(tree: Tree, code: string): Program {
  const names = new Names(code)
  const calls: SyntaxNode[] = []
  const flows: Flow[] = []
  const words: Program['words'][number][] = []
  const texts: Program['texts'][number][] = []
  tree.iterate({
    enter(ref) {
      const { name, from: start, to: end } = ref
      if (name === 'CallExpression' || name === 'NewExpression' || name === 'DynamicImport')
        calls.push(ref.node)
      else if (name === 'ImportStatement' || name === 'ImportDeclaration') names.import(ref.node)
      else if (name === 'VariableName' || name === 'VariableDefinition')
        words.push({ start, end, name: code.slice(start, end) })
      else if (/String$/.test(name))
        texts.push({ start, end, value: literalOf(ref.node, code) ?? code.slice(start, end) })
      else if (assigning.has(name)) flows.push(...flowsOf(ref.node, code, names))
    },
  })
  const made = calls.map((node) => callOf(node, code, names))
  const loaded = calls.flatMap((node, i) => names.loadedBy(node, made[i]!.name) ?? [])
  return {
    code,
    calls: made,
    flows,
    packages: [...names.packages, ...loaded],
    words,
    texts,
  }
}

const assigning = new Set([
  'AssignStatement',
  'UpdateStatement',
  'NamedExpression',
  'WithStatement',
  'ForStatement',
  'VariableDeclaration',
  'AssignmentExpression',
  'ForOfSpec',
])
const signs = new Set(['AssignOp', 'UpdateOp', 'Equals', 'in', 'of'])

function flowsOf(node: SyntaxNode, code: string, names: Names): Flow[] {
  const flows: Flow[] = []
  let left: SyntaxNode[] = []
  for (let child = node.firstChild; child; child = child.nextSibling) {
    const next = child.nextSibling
    if (child.name === 'as' && next && child.prevSibling)
      flows.push({ to: variablesIn([next], code), from: rangeOf(child.prevSibling) })
    else if (signs.has(child.name) && next) {
      const end = node.name === 'AssignStatement' ? node.to : next.to
      flows.push({ to: variablesIn(left, code), from: { start: next.from, end } })
      names.assign(left, next)
      left = []
    } else left.push(child)
  }
  return flows
}

const rangeOf = ({ from, to }: SyntaxNode): Range => ({ start: from, end: to })

function variablesIn(nodes: readonly SyntaxNode[], code: string): string[] {
  const found: string[] = []
  for (const node of nodes)
    node.cursor().iterate(({ name, from, to }) => {
      if (name === 'VariableName' || name === 'VariableDefinition') found.push(code.slice(from, to))
    })
  return found
}

function callOf(node: SyntaxNode, code: string, names: Names): CodeCall {
  const list = node.getChild('ArgList')
  const args: Argument[] = []
  let first: SyntaxNode | undefined
  for (let child = list?.firstChild; child; child = child.nextSibling) {
    if (!first && !/^[(),]$/.test(child.name)) first = child
    const isLast = child.name === ',' || child.name === ')'
    if (!isLast || !first) continue
    args.push(argumentOf(first, child.prevSibling ?? first, code))
    first = undefined
  }
  if (first) args.push(argumentOf(first, list?.lastChild ?? first, code))
  return { ...rangeOf(node), name: names.calledBy(node), args }
}

function argumentOf(first: SyntaxNode, last: SyntaxNode, code: string): Argument {
  const text = code.slice(first.from, last.to)
  const literal = first.from === last.from ? literalOf(first, code) : undefined
  return {
    start: first.from,
    end: last.to,
    text,
    literal,
    isConstant: literal !== undefined && first.name !== 'BinaryExpression' && !hasHoles(first),
    list: /^Array(?:Expression)?$/.test(first.name) ? textsOf(first, code) : undefined,
  }
}

const hasHoles = (node: SyntaxNode): boolean =>
  node.getChild('FormatReplacement') !== null || node.getChild('Interpolation') !== null

function textsOf(array: SyntaxNode, code: string): string[] {
  const texts: string[] = []
  for (let child = array.firstChild; child; child = child.nextSibling)
    if (!/^[[\],]$/.test(child.name)) texts.push(literalOf(child, code) ?? '$arg')
  return texts
}
