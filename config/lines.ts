import { type Path, type Position, type Problem, pathKey } from './document.ts'

/** Where the configuration was read from, to say where a problem is. */
export interface ConfigSource {
  /** The file as people call it. */
  readonly name: string | undefined
  readonly positions: ReadonlyMap<string, Position>
  /** Variables of the environment that stand for a key, by its path. */
  readonly variables: ReadonlyMap<string, string>
}

/** One line for each problem, in the order of the file; variables first. */
export function renderProblems(
  problems: readonly Problem[],
  { name, positions, variables }: ConfigSource,
): string[] {
  return problems
    .map((problem) => {
      const variable = variables.get(pathKey(problem.path))
      if (variable) return { line: 0, text: `${variable}: ${problem.message}` }
      const line = problem.line ?? lineOf(problem.path, positions)
      const where = [
        ...(name ? [`${name} line ${line}`] : []),
        ...(problem.path.length ? [dotted(problem.path)] : []),
      ]
      return { line, text: [...where, problem.message].join(': ') }
    })
    .sort((a, b) => a.line - b.line)
    .map(({ text }) => text)
}

/** A problem that a plugin tells of a key, with the place of that key in the file; as it is where it begins with no key of the file. */
export function placed(problem: string, { name, positions }: ConfigSource): string {
  const keys = [...positions.keys()].map((key) => key.split('\0'))
  const at = keys
    .filter((path) => [':', '.', '['].some((end) => problem.startsWith(`${dotted(path)}${end}`)))
    .reduce<Path>((longest, path) => (path.length > longest.length ? path : longest), [])
  return name && at.length > 0 ? `${name} line ${lineOf(at, positions)}: ${problem}` : problem
}

/** Line of a key, or, where the key is missing, of the nearest one around it. */
function lineOf(at: Path, positions: ConfigSource['positions']): number {
  const found = positions.get(pathKey(at))
  if (found || at.length === 0) return found?.line ?? 1
  return lineOf(at.slice(0, -1), positions)
}

/** A path as it is written: `providers.groq.keys[0].weight`. */
export const dotted = (at: Path) =>
  at.map((key, n) => (/^\d+$/.test(key) ? `[${key}]` : n ? `.${key}` : key)).join('')
