import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Instrumenter, type NodePath } from '@stryker-mutator/instrumenter'

/** A change of the code that a test should see. */
export interface Mutant {
  readonly id: string
  readonly file: string
  readonly mutator: string
  /** Of the code that is replaced; lines from 1, columns from 0. */
  readonly start: Position
  readonly end: Position
  readonly original: string
  readonly replacement: string
  /** The same for the same change of the same file. */
  readonly key: string
}

interface Position {
  readonly line: number
  readonly column: number
}

export interface Source {
  readonly file: string
  readonly text: string
  /** With all its mutants in it, of which the one that is active runs. */
  readonly instrumented: string
  readonly mutants: readonly Mutant[]
}

/** The instrumenter says nothing that is of use here. */
const logger = {
  isDebugEnabled: () => false,
  debug() {},
  info() {},
  warn() {},
}

/** Texts for people, which have a space in them, are not behaviour: no test should repeat them word for word. */
const prose = {
  shouldIgnore({ node }: NodePath): string | undefined {
    if (node.type === 'StringLiteral') return node.value.includes(' ') ? 'prose' : undefined
    if (node.type !== 'TemplateLiteral') return undefined
    return node.quasis.some(({ value }) => value.raw.includes(' ')) ? 'prose' : undefined
  },
}

/** All mutants of the files; ids are unique among them. */
export async function mutantsOf(files: readonly string[]): Promise<Source[]> {
  const sources: Source[] = []
  let first = 0
  for (const file of files) {
    const text = await readFile(file, 'utf8')
    const source = await instrument(file, text, first)
    sources.push(source)
    first += source.mutants.length
  }
  return sources
}

async function instrument(file: string, text: string, first: number): Promise<Source> {
  const result = await new Instrumenter(logger).instrument([{ name: file, content: text, mutate: true }], {
    ignorers: [prose],
    excludedMutations: [],
    plugins: null,
  })
  const lines = text.split('\n')
  const mutants = result.mutants
    .filter(({ status }) => status !== 'Ignored')
    .map(({ id, mutatorName, location, replacement }): Mutant => {
      // The tool counts lines from 0.
      const start = { line: location.start.line + 1, column: location.start.column }
      const end = { line: location.end.line + 1, column: location.end.column }
      const original = between(lines, start, end)
      const what = [file, text, start.line, start.column, end.line, end.column, mutatorName, replacement]
      const key = createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 24)
      const own = String(first + Number(id))
      return { id: own, file, mutator: mutatorName, start, end, original, replacement, key }
    })
  const call = /\b(stryMutAct_9fa48|stryCov_9fa48)\(("[^)]*)\)/g
  const instrumented = result.files[0]!.content.replaceAll(call, (_, name, ids: string) => {
    return `${name}(${ids.replaceAll(/\d+/g, (id) => String(first + Number(id)))})`
  })
  return { file, text, instrumented, mutants }
}

function between(lines: readonly string[], start: Position, end: Position): string {
  const part = lines.slice(start.line - 1, end.line)
  part[part.length - 1] = part.at(-1)!.slice(0, end.column)
  part[0] = part[0]!.slice(start.column)
  return part.join('\n')
}

/** The file's text with the mutant in it. */
export function applied({ text }: Source, { start, end, replacement }: Mutant): string {
  const lines = text.split('\n')
  const before = [...lines.slice(0, start.line - 1), lines[start.line - 1]!.slice(0, start.column)].join('\n')
  const after = [lines[end.line - 1]!.slice(end.column), ...lines.slice(end.line)].join('\n')
  return before + replacement + after
}
