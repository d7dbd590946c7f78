import { createRequire } from 'node:module'
import type { Node } from 'yaml'
import { fromText } from './coerce.ts'
import { type SchemaNode, schemaAt } from './keys.ts'
import { type Environment, expand } from './references.ts'
import { isFree, kernelKeys } from './schema.ts'

export type Path = readonly string[]

/** Where in the file a key or item is, and whether its text came from the environment. */
export interface Position {
  readonly line: number
  readonly expanded: boolean
}

export interface Problem {
  readonly path: Path
  readonly message: string
  readonly line?: number | undefined
}

export interface SourceDocument {
  /** The file's content: references filled in, keys without a value left out. */
  readonly value: unknown
  readonly positions: ReadonlyMap<string, Position>
  readonly problems: readonly Problem[]
}

const maxDepth = 32
const maxNodes = 100_000

/** One string for a path, to look its position up. */
export const pathKey = (path: Path) => path.join('\0')

/**
 * Reads YAML and fills in the references. They are filled in after parsing, in single texts only: whatever a variable
 * holds, it cannot become a key, a list or anything else than the value of that one key.
 */
export function readDocument(yaml: string, env: Environment, schema: SchemaNode): SourceDocument {
  if (yaml === '') return { value: {}, positions: new Map(), problems: [] }
  const parser: typeof import('yaml') = createRequire(import.meta.url)('yaml')
  const lines = new parser.LineCounter()
  const document = parser.parseDocument(yaml, { lineCounter: lines, prettyErrors: false })
  const positions = new Map<string, Position>()
  const problems: Problem[] = document.errors.map((error) => ({
    path: [],
    message: error.message,
    line: lines.linePos(error.pos[0]).line,
  }))
  let nodes = 0

  const lineOf = (node: unknown): number | undefined => {
    const start = (node as Node | null)?.range?.[0]
    return start === undefined ? undefined : lines.linePos(start).line
  }
  const note = (path: Path, node: unknown, fallback: unknown, expanded = false) => {
    const line = lineOf(node) ?? lineOf(fallback)
    if (line !== undefined) positions.set(pathKey(path), { line, expanded })
  }

  const read = (node: unknown, path: Path): unknown => {
    if (path.length > maxDepth || ++nodes > maxNodes) {
      problems.push({ path, message: 'the file is nested too deeply or too large' })
      return undefined
    }
    if (parser.isAlias(node)) return read(node.resolve(document), path)
    if (parser.isMap(node)) return readMap(node.items, path)
    if (parser.isSeq(node)) return readList(node.items, path)
    if (parser.isScalar(node)) return readScalar(node.value, path)
    return undefined
  }

  const readMap = (items: readonly { key: unknown; value: unknown }[], path: Path) => {
    const entries: [string, unknown][] = []
    for (const { key, value } of items) {
      if (!parser.isScalar(key) || key.value === '__proto__') {
        problems.push({ path, message: 'expected a plain name as key', line: lineOf(key) })
        continue
      }
      const inner = [...path, String(key.value)]
      note(inner, key, value)
      const result = read(value, inner) ?? absent(inner)
      if (result !== undefined) entries.push([String(key.value), result])
    }
    return Object.fromEntries(entries)
  }

  const readList = (items: readonly unknown[], path: Path) => {
    const list: unknown[] = []
    for (const item of items) {
      const inner = [...path, String(list.length)]
      note(inner, item, undefined)
      const result = read(item, inner) ?? absent(inner)
      if (result !== undefined) list.push(result)
    }
    return list
  }

  const readScalar = (value: unknown, path: Path): unknown => {
    if (typeof value !== 'string') return value
    const { value: text, problem } = expand(value, env)
    const position = positions.get(pathKey(path))
    if (position) positions.set(pathKey(path), { ...position, expanded: text !== value })
    if (problem !== undefined) problems.push({ path, message: problem })
    if (isFree(path)) return text
    return problem === undefined && text === '' ? undefined : fromText(text, schemaAt(schema, path))
  }

  const value = document.errors.length > 0 ? {} : (read(document.contents, []) ?? {})
  return { value, positions, problems }
}

/** The meaning of a key without a value: nothing, except that a module is there, and that null may be a plugin's setting. */
function absent(path: Path): unknown {
  if (isFree(path)) return path.length > (kernelKeys.has(path[0]!) ? 3 : 1) ? null : undefined
  return path.length === 2 && path[0] === 'modules' ? {} : undefined
}
