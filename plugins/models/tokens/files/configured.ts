import path from 'node:path'
import type { TokenizerEntries } from '../../sections.ts'
import type { CheckedFile } from '../counter.ts'
import type { TokenizerFile } from './file.ts'

/** The tokenizers that service.yaml names, in its order; paths in it start from its folder. */
export const configuredTokenizers = (entries: TokenizerEntries, folder: string): TokenizerFile[] =>
  Object.entries(entries).map(([name, { models, file, chatTemplate }]) => ({
    name,
    models,
    file: path.resolve(folder, file),
    ...(chatTemplate !== undefined && { chatTemplate: path.resolve(folder, chatTemplate) }),
  }))

/** A line for each file that cannot be used. */
export const tokenizerProblems = (checked: readonly CheckedFile[]): string[] =>
  checked.flatMap(({ file, found }) =>
    'problem' in found ? [`tokenizers.${file.name}: ${found.problem}`] : [],
  )
