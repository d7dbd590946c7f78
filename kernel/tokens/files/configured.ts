import type { Config } from '../../config.ts'
import type { CheckedFile } from '../counter.ts'
import type { TokenizerFile } from './file.ts'

/** The tokenizers that service.yaml names, in its order. */
export const configuredTokenizers = ({ tokenizers }: Pick<Config, 'tokenizers'>): TokenizerFile[] =>
  Object.entries(tokenizers).map(([name, entry]) => ({ name, ...entry }))

/** A line for each file that cannot be used. */
export const tokenizerProblems = (checked: readonly CheckedFile[]): string[] =>
  checked.flatMap(({ file, found }) =>
    'problem' in found ? [`tokenizers.${file.name}: ${found.problem}`] : [],
  )
