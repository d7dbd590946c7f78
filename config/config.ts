import { readFileSync } from 'node:fs'
import path from 'node:path'
import { ConfigError } from './config-error.ts'
import { type Path, pathKey, readDocument, type SourceDocument } from './document.ts'
import { configJsonSchema } from './keys.ts'
import { type ConfigSource, dotted, renderProblems } from './lines.ts'
import { explain, valueAt } from './problems.ts'
import type { Environment } from './references.ts'
import { kernelKeys, type Settings, schema } from './schema.ts'
import { overlay, variablesOf } from './variables.ts'

export { fromTexts } from './coerce.ts'
export { type ConfigKey, configJsonSchema, configKeys, type SchemaNode } from './keys.ts'
export { ConfigError }

/**
 * The configuration that the service was started with. Sizes are bytes, durations milliseconds, folders absolute paths; keys
 * that were left out have their defaults. `modules.*.config` and `modules.*.when` are as written, for their owners to check;
 * texts in them that came from the environment become numbers and booleans by `fromTexts`.
 */
export type Config = Settings & {
  /** SERVICE_ENCRYPTION_KEY, the passphrase of the secrets. */
  readonly encryptionKey: string | undefined
  /** Absolute path of the file that was read. */
  readonly file: string | undefined
  /** Where the value of a dotted key of service.yaml is from, when it is not the default. */
  readonly sources: Readonly<Record<string, 'environment' | 'file'>>
  /** The content of the keys that are not the kernel's, as written; with `readSections` their plugins check it. */
  readonly sections: Readonly<Record<string, unknown>>
  readonly source: ConfigSource
}

export interface ConfigOrigin {
  readonly env: Environment
  /** The folder that relative paths of the environment start from. */
  readonly cwd: string
}

/**
 * Reads the environment and the file it names, or ./service.yaml if there is one; the environment wins. Relative
 * paths in the file start from the file's folder. Throws a ConfigError that names every problem.
 */
export function loadConfig({ env, cwd }: ConfigOrigin): Config {
  const { file, yaml } = findFile(env, cwd)
  const jsonSchema = configJsonSchema()
  const source = readDocument(yaml, env, jsonSchema)
  const variables = variablesOf(env)
  const value = overlay(source.value, env, variables, jsonSchema)

  const { own, sections } = bySection(withPackages(value))
  const origin = { name: file && (path.relative(cwd, file) || file), positions: source.positions, variables }

  const parsed = schema.safeParse(own)
  const hidden = (at: Path) => source.positions.get(pathKey(at))?.expanded === true
  const issues = parsed.error ? explain(parsed.error.issues, value, jsonSchema, hidden) : []
  // What a variable stands in for is not read from the file: whatever is wrong with it there does not matter.
  const inFile = source.problems.filter(({ path }) => !variables.has(pathKey(path)))
  const known = new Set(inFile.map((problem) => pathKey(problem.path)))
  const problems = [...inFile, ...issues.filter((issue) => !known.has(pathKey(issue.path)))]
  if (!parsed.data || problems.length > 0) {
    throw new ConfigError(renderProblems(problems, origin))
  }

  const sources = sourcesOf(value, source, variables)
  const folder = file ? path.dirname(file) : cwd
  return {
    ...parsed.data,
    dataDir: path.resolve(sources.data_dir === 'file' ? folder : cwd, parsed.data.dataDir),
    pluginDirs: parsed.data.pluginDirs.map((dir) => path.resolve(folder, dir)),
    encryptionKey: env.SERVICE_ENCRYPTION_KEY || undefined,
    file,
    sources,
    sections,
    source: origin,
  }
}

/** The kernel's own keys, and those of plugins. */
function bySection(value: unknown): { own: unknown; sections: Record<string, unknown> } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { own: value, sections: {} }
  const own: Record<string, unknown> = {}
  const sections: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(value)) (kernelKeys.has(key) ? own : sections)[key] = inner
  return { own, sections }
}

function findFile(env: Environment, cwd: string): { file: string | undefined; yaml: string } {
  const file = path.resolve(cwd, env.SERVICE_CONFIG || 'service.yaml')
  try {
    return { file, yaml: readFileSync(file, 'utf8') }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && !env.SERVICE_CONFIG) return { file: undefined, yaml: '' }
    const reason = code === 'ENOENT' ? 'the file does not exist' : message
    throw new ConfigError([
      `${env.SERVICE_CONFIG ? 'SERVICE_CONFIG' : 'service.yaml'}: cannot read ${file}: ${reason}`,
    ])
  }
}

/** `plugins: [a]` is short for `plugins: { packages: [a] }`. */
function withPackages(value: unknown): unknown {
  const packages = valueAt(value, ['plugins'])
  return Array.isArray(packages) ? { ...(value as object), plugins: { packages } } : value
}

function sourcesOf(
  value: unknown,
  source: SourceDocument,
  variables: ReadonlyMap<string, string>,
): Config['sources'] {
  const paths = [...source.positions.keys()].map((key) => key.split('\0'))
  const groups = new Set(paths.flatMap((at) => at.map((_, length) => pathKey(at.slice(0, length)))))
  const leaves = paths.filter((at) => !groups.has(pathKey(at)) && valueAt(value, at) !== undefined)
  return {
    ...Object.fromEntries(leaves.map((at) => [dotted(at), 'file' as const])),
    ...Object.fromEntries(
      [...variables.keys()].map((key) => [dotted(key.split('\0')), 'environment' as const]),
    ),
  }
}
