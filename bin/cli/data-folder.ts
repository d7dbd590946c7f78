import { access, constants, stat } from 'node:fs/promises'
import path from 'node:path'

export const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  )

/** Why a data folder cannot be made or written to, and what to do; undefined when it can. Changes nothing. */
export async function folderProblem(dataDir: string): Promise<string | undefined> {
  const there = await nearest(dataDir)
  const what = there === dataDir ? `${dataDir} is not writable` : `${dataDir} cannot be created`
  try {
    if (!(await stat(there)).isDirectory()) return `${what}: ${there} is not a folder. ${remedy}`
    await access(there, constants.W_OK)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'EROFS' ? 'its disk is read-only' : `this user may not write there (${code})`
    return `${what}: ${there === dataDir ? why : `${there}: ${why}`}. ${remedy}`
  }
}

const remedy = 'Choose another folder with SERVICE_DATA_DIR or data_dir, or let this user write there.'

/** The nearest that exists of a path and the folders above it. */
async function nearest(file: string): Promise<string> {
  const parent = path.dirname(file)
  return parent === file || (await exists(file)) ? file : nearest(parent)
}
