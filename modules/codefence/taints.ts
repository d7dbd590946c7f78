import type { Severity } from './danger.ts'
import { deletionOf, keepsCredentials } from './paths.ts'
import type { Program, Range } from './program.ts'
import type { Terms } from './terms.ts'

/** Characters of an expression that are looked at. */
const longest = 2000
/** Rounds in which values pass from one variable to the next. */
const rounds = 4

/** Where the values of a program come from, through its variables. It knows no branches: a variable has all values it ever gets. */
export class Taints {
  readonly #program: Program
  readonly #input: Source
  readonly #secret: Source
  readonly #remote: Source
  readonly #root: Source

  constructor(program: Program, { input, secrets, remote }: Terms) {
    this.#program = program
    this.#input = { names: new Set(), isOrigin: (range) => input.test(this.#textOf(range)) }
    this.#remote = { names: new Set(), isOrigin: (range) => remote.test(this.#textOf(range)) }
    this.#secret = {
      names: new Set(),
      isOrigin: (range) => this.namesCredentials(range) || secrets.test(this.#textOf(range)),
    }
    this.#root = { names: new Set(), isOrigin: (range) => this.#deletionIn(range) === 'high' }
    for (const source of [this.#input, this.#secret, this.#remote, this.#root]) this.#spread(source)
  }

  /** Whether users write it, or a part of it. */
  isInput = (range: Range): boolean => this.#comesFrom(this.#input, range)
  isSecret = (range: Range): boolean => this.#comesFrom(this.#secret, range)
  isRemote = (range: Range): boolean => this.#comesFrom(this.#remote, range)

  namesCredentials(range: Range): boolean {
    return within(this.#program.texts, range).some(({ value }) => keepsCredentials(value))
  }

  /** How bad it is to delete the folder that an expression names. */
  deletionOf(range: Range): Severity | undefined {
    return this.#comesFrom(this.#root, range) ? 'high' : this.#deletionIn(range)
  }

  #deletionIn(range: Range): Severity | undefined {
    if (
      /^(?:Path|pathlib\.Path)\.home\(\)$|^(?:os\.)?homedir\(\)$|^process\.env\.HOME$|^os\.environ\[.HOME.\]$/.test(
        this.#textOf(range),
      )
    )
      return 'high'
    const texts = within(this.#program.texts, range)
    return texts.length === 1 ? deletionOf(texts[0]!.value.replace(/\$arg/g, 'x')) : undefined
  }

  #spread({ names, isOrigin }: Source): void {
    const source = { names, isOrigin }
    for (let round = 0, known = -1; round < rounds && known !== names.size; round += 1) {
      known = names.size
      for (const { to, from } of this.#program.flows)
        if (to.some((name) => !names.has(name)) && this.#comesFrom(source, from))
          for (const name of to) names.add(name)
    }
  }

  #comesFrom({ names, isOrigin }: Source, range: Range): boolean {
    if (isOrigin(range)) return true
    return names.size > 0 && within(this.#program.words, range).some(({ name }) => names.has(name))
  }

  #textOf({ start, end }: Range): string {
    return this.#program.code.slice(start, Math.min(end, start + longest))
  }
}

interface Source {
  /** Variables that have a value from there. */
  readonly names: Set<string>
  readonly isOrigin: (range: Range) => boolean
}

/** Those of ranges in order that lie within one, of its first part if that is long. */
function within<T extends Range>(all: readonly T[], { start, end }: Range): T[] {
  let [low, high] = [0, all.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (all[middle]!.start < start) low = middle + 1
    else high = middle
  }
  const found: T[] = []
  for (let i = low; i < all.length && all[i]!.start < Math.min(end, start + longest); i += 1)
    found.push(all[i]!)
  return found
}
