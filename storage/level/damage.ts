import { StoreError } from '../errors.ts'
import { reasonOf } from './reason.ts'

/** What LevelDB says of a damaged file, with what to do about it; any other error as it is. */
export function asDamage(error: unknown): unknown {
  return isCorruption(error) ? damaged('The store', error) : error
}

/** An error that says what is damaged, and what can be done. */
export const damaged = (what: string, cause: unknown): StoreError =>
  new StoreError(
    'STORE_DAMAGED',
    `${what} has damaged files (${reasonOf(cause)}). Stop the gateway; \`switchyard doctor\` shows the damage, and \`switchyard doctor --repair\` keeps a copy and makes the rest readable.`,
    cause,
  )

/** An error that says that another process has a folder open. */
export const locked = (folder: string, cause?: unknown): StoreError =>
  new StoreError(
    'STORE_LOCKED',
    `Another process has ${folder} open. Stop it, or choose another data folder.`,
    cause,
  )

/** Whether LevelDB refused to open a database because a process has it open. */
export const isLockRefusal = (error: unknown): boolean =>
  (error as { readonly cause?: { readonly code?: unknown } } | undefined)?.cause?.code === 'LEVEL_LOCKED'

/** What LevelDB says of files that are gone, or shorter than it left them. */
const lessThanThere = /(?:No such file or directory|Invalid argument)$/

/** Whether LevelDB found that a file is not what it wrote. */
export function isCorruption(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? error.code : undefined
  if (code === 'LEVEL_CORRUPTION' || (code === 'LEVEL_IO_ERROR' && lessThanThere.test(error.message)))
    return true
  return isCorruption(error.cause)
}
