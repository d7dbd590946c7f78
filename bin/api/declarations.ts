import { readFileSync } from 'node:fs'
import path from 'node:path'

/** A name in a file of declarations. */
export interface Reference {
  readonly file: string
  readonly name: string
}

/** The declarations, imports and exports of a file of emitted declarations, by name. Relies on the form in which tsc writes. */
export class Declarations {
  readonly #file: string
  /** Without comments and without where in the source a type is from; overloads are one text. */
  readonly #texts = new Map<string, string>()
  readonly #imports = new Map<string, Reference>()
  readonly #exports = new Map<string, Reference>()
  readonly #stars: string[] = []
  readonly #aliases: Readonly<Record<string, string>>

  /** `aliases` are the files that names such as `#kernel` stand for. */
  constructor(file: string, aliases: Readonly<Record<string, string>> = {}) {
    this.#file = file
    this.#aliases = aliases
    const text = readFileSync(file, 'utf8')
      .replaceAll(/^[ \t]*\/\*\*[\s\S]*?\*\/\n?/gm, '')
      .replaceAll(/\bimport\("\.[^"]*"\)\./g, '')
    for (const statement of text.split(/^(?=\S)(?![})])/m)) this.#read(statement.trim())
  }

  /** The text of what is declared here. */
  text(name: string): string | undefined {
    return this.#texts.get(name)
  }

  /** Where a name that is used here is declared, if that is one of our files. */
  refer(name: string): Reference | undefined {
    if (this.#texts.has(name)) return { file: this.#file, name }
    return this.#imports.get(name)
  }

  /** Everything that is exported, by the name outside. */
  exported(load: (file: string) => Declarations): Map<string, Reference> {
    const all = new Map<string, Reference>()
    for (const file of this.#stars) for (const [name, of] of load(file).exported(load)) all.set(name, of)
    for (const [name, of] of this.#exports) all.set(name, of)
    return all
  }

  #read(statement: string): void {
    const from = /from '([.#][^']+)';$/.exec(statement)?.[1]
    const names = /\{([^}]*)\}/.exec(statement)?.[1] ?? ''
    if (/^(import|export).* from '/s.test(statement)) {
      if (!from || (from.startsWith('#') && !this.#aliases[from])) return
      const file = this.#fileOf(from)
      if (statement.includes('* from')) this.#stars.push(file)
      const whole = /\* as (\w+) from/.exec(statement)?.[1]
      if (whole) {
        this.#texts.set(whole, statement)
        this.#exports.set(whole, { file: this.#file, name: whole })
      }
      const known = statement.startsWith('import') ? this.#imports : this.#exports
      for (const { name, as } of namesIn(names)) known.set(as, { file, name })
      return
    }
    const name =
      /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|const|function) ([\w$]+)/.exec(
        statement,
      )?.[1]
    if (!name) return
    this.#texts.set(name, [this.#texts.get(name), statement].filter(Boolean).join('\n'))
    if (statement.startsWith('export')) this.#exports.set(name, { file: this.#file, name })
  }

  #fileOf(specifier: string): string {
    return (
      this.#aliases[specifier] ?? path.resolve(path.dirname(this.#file), specifier).replace(/\.ts$/, '.d.ts')
    )
  }
}

/** `type A, b as c` and the like. */
function namesIn(list: string): { name: string; as: string }[] {
  return list
    .split(',')
    .map((item) => item.trim().replace(/^type /, ''))
    .filter((item) => item !== '')
    .map((item) => {
      const [name, as] = item.split(' as ')
      return { name: name!, as: as ?? name! }
    })
}
