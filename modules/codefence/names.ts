import type { SyntaxNode } from '@lezer/common'
import { literalOf } from './literals.ts'

/** Longer chains of members are no name. */
const deepest = 8

/** A package that a program loads, and where. */
export interface Package {
  readonly name: string
  readonly start: number
  readonly end: number
}

/** What the names of a program stand for: `sp.run` for `subprocess.run` behind `import subprocess as sp`. */
export class Names {
  readonly #code: string
  readonly #aliases = new Map<string, string>()
  readonly packages: Package[] = []

  constructor(code: string) {
    this.#code = code
  }

  /** Learns from an import of Python or JavaScript. */
  import(node: SyntaxNode): void {
    const text = this.#textOf(node).replace(/#.*|\/\/.*|[()\\]/g, ' ')
    const [, from, some] = /^from\s+([\w.]+)\s+import\s+([\s\S]*)$/.exec(text) ?? []
    if (from !== undefined) this.#members(from, some!, node)
    else if (node.name === 'ImportStatement') this.#modules(text.replace(/^import\s+/, ''), node)
    else this.#declaration(text, node)
  }

  /** Learns from an assignment, if what is assigned is a name, a module or a part of one. */
  assign(left: readonly SyntaxNode[], right: SyntaxNode): void {
    const target = left.findLast(({ name }) =>
      /^(?:VariableName|VariableDefinition|ObjectPattern)$/.test(name),
    )
    if (!target) return
    const path = this.pathOf(right)
    if (path === '' || path.endsWith('()') || path === this.#textOf(target)) return
    if (target.name !== 'ObjectPattern') this.#aliases.set(this.#textOf(target), path)
    else this.#pattern(this.#textOf(target), path)
  }

  /** The full name of what a call calls. */
  calledBy(node: SyntaxNode, depth = 0): string {
    if (node.name === 'DynamicImport') return 'import'
    const callee = node.name === 'NewExpression' ? node.firstChild?.nextSibling : node.firstChild
    const path = callee ? this.pathOf(callee, depth) : ''
    return node.name === 'NewExpression' ? `new ${path}` : path
  }

  /** The package that a call by the name `called` loads, such as `require('x')`. */
  loadedBy(node: SyntaxNode, called: string): Package | undefined {
    if (!loaders.has(called)) return undefined
    const argument = (node.getChild('ArgList') ?? node).getChild('String')
    const name = argument ? literalOf(argument, this.#code) : undefined
    return name === undefined ? undefined : { name: topOf(name), start: node.from, end: node.to }
  }

  /** The full name of an expression; empty where it has none. */
  pathOf(node: SyntaxNode, depth = 0): string {
    if (depth > deepest) return ''
    const first = node.firstChild
    switch (node.name) {
      case 'VariableName': {
        const name = this.#textOf(node)
        return this.#aliases.get(name) ?? name
      }
      case 'MemberExpression': {
        const object = first ? this.pathOf(first, depth + 1) : ''
        const property = node.getChild('PropertyName') ?? node.getChild('String')
        const name =
          property?.name === 'String' ? literalOf(property, this.#code) : property && this.#textOf(property)
        return plain(name ? `${object}.${name}` : `${object}[]`)
      }
      case 'CallExpression':
      case 'NewExpression':
      case 'DynamicImport': {
        const called = this.calledBy(node, depth + 1)
        return this.loadedBy(node, called)?.name ?? `${called}()`
      }
      case 'ParenthesizedExpression':
      case 'AwaitExpression':
      case 'SequenceExpression': {
        const last = node.lastChild?.name === ')' ? node.lastChild.prevSibling : node.lastChild
        return last ? this.pathOf(last, depth + 1) : ''
      }
      default:
        return ''
    }
  }

  #members(module: string, list: string, node: SyntaxNode): void {
    this.#package(module, node)
    for (const one of list.split(',')) {
      const [name = '', alias = name] = one.trim().split(/\s+as\s+/)
      if (name) this.#aliases.set(alias, plain(`${module}.${name}`))
    }
  }

  #modules(list: string, node: SyntaxNode): void {
    for (const one of list.split(',')) {
      const [module = '', alias] = one.trim().split(/\s+as\s+/)
      this.#package(module, node)
      if (alias) this.#aliases.set(alias, module)
    }
  }

  #declaration(text: string, node: SyntaxNode): void {
    const source = node.getChild('String')
    const written = source ? literalOf(source, this.#code) : undefined
    if (written === undefined) return
    const module = topOf(written)
    this.#package(module, node)
    const [what = ''] = text.replace(/^import\s+(?:type\s+)?/, '').split(/\bfrom\b/)
    const [pattern] = /\{[\s\S]*\}/.exec(what) ?? []
    if (pattern) this.#pattern(pattern, module)
    const names = what.replace(pattern ?? '', '').replace(/\*\s+as\s+/, '')
    for (const name of names.match(/[\w$]+/g) ?? []) this.#aliases.set(name, module)
  }

  /** `{ a, b: c }` and `{ a as b }`. */
  #pattern(text: string, module: string): void {
    for (const one of text.replace(/[{}]/g, '').split(',')) {
      const [name = '', alias = name] = one
        .replace(/=.*/s, '')
        .trim()
        .split(/\s*:\s*|\s+as\s+/)
      if (/^[\w$]+$/.test(name)) this.#aliases.set(alias, plain(`${module}.${name}`))
    }
  }

  #package(module: string, { from: start, to: end }: SyntaxNode): void {
    if (module !== '' && !module.startsWith('.')) this.packages.push({ name: topOf(module), start, end })
  }

  #textOf({ from, to }: SyntaxNode): string {
    return this.#code.slice(from, to)
  }
}

const loaders = new Set(['require', 'import', '__import__', 'importlib.import_module'])

/** Without the objects that hold what is global anyway. */
const plain = (path: string): string =>
  path.replace(/^(?:globalThis|window|self|global|builtins|__builtins__)\.(?=.)/, '')

/** Modules of Node.js by their short names. */
const topOf = (module: string): string => module.replace(/^node:/, '')
