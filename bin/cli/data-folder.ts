import { mkdtemp, rmdir, stat } from 'node:fs/promises'
import path from 'node:path'

export const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  )

/**
 * Why a data folder cannot be made or written to, and what to do; undefined when it can. Makes a folder there and removes it again:
 * a user who may do everything is told by nothing else where that cannot be, and a start would try for ever.
 */
export async function folderProblem(dataDir: string): Promise<string | undefined> {
  const there = await nearest(dataDir)
  const what = there === dataDir ? `${dataDir} is not writable` : `${dataDir} cannot be created`
  try {
    if (!(await stat(there)).isDirectory()) return `${what}: ${there} is not a folder. ${remedy}`
    await rmdir(await mkdtemp(path.join(there, '.switchyard-')))
    return undefined
  } catch (error) {
    const why = reasonOf(error as NodeJS.ErrnoException)
    return why && `${what}: ${there === dataDir ? why : `${there}: ${why}`}. ${remedy}`
  }
}

/** Undefined for a disk that is full: a gateway starts on one and says so. */
function reasonOf({ code = '' }: NodeJS.ErrnoException): string | undefined {
  if (code === 'ENOSPC' || code === 'EDQUOT') return undefined
  if (code === 'EROFS') return 'its disk is read-only'
  if (code === 'EACCES' || code === 'EPERM') return `this user may not write there (${code})`
  return `nothing can be made there (${code})`
}

const remedy = 'Choose another folder with SERVICE_DATA_DIR or data_dir, or let this user write there.'

/** The nearest that exists of a path and the folders above it. */
async function nearest(file: string): Promise<string> {
  const parent = path.dirname(file)
  return parent === file || (await exists(file)) ? file : nearest(parent)
}
