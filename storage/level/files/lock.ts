import { Level } from 'level'

/** Whether a process has the database in this folder open. LevelDB looks at its lock before it looks at anything else. */
export async function isLocked(folder: string): Promise<boolean> {
  const database = new Level(folder, { createIfMissing: false, errorIfExists: true })
  try {
    await database.open()
    await database.close()
    return false
  } catch (error) {
    const { cause } = error as Error
    return cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED'
  }
}
