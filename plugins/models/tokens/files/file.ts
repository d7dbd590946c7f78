import { compileGlobs } from '#kit'

/** A tokenizer that the operator brings, as `tokenizers` of service.yaml names it. Paths are absolute. */
export interface TokenizerFile {
  readonly name: string
  /** Names and globs of the models that it counts for. */
  readonly models: readonly string[]
  /** A `tokenizer.json` in Hugging Face's format. */
  readonly file: string
  /** A template, or a `tokenizer_config.json` that has one; undefined for what stands beside the file, if anything does. */
  readonly chatTemplate?: string | undefined
}

/** The problem of a file, and its name, for the operator. It holds nothing of the file's content. */
export class TokenizerFileError extends Error {
  override readonly name = 'TokenizerFileError'

  constructor(file: string, reason: string) {
    super(`${file}: ${reason}`)
  }
}

/** The message of whatever a file made a library throw. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Finds the file for a model, the first that matches its name as it is, or what stands behind the last slash of it. */
export function finderOf(files: readonly TokenizerFile[]): (model: string) => TokenizerFile | undefined {
  const compiled = files.map((file) => ({ file, matches: compileGlobs(file.models) }))
  return (model) => {
    const bare = model.replace(/^.*\//, '')
    return compiled.find(({ matches }) => matches(model) || matches(bare))?.file
  }
}
