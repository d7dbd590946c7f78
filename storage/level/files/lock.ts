import { Level } from 'level'
import { isLockRefusal } from '../damage.ts'

/** Whether a process has the database in this folder open. LevelDB looks at its lock before it looks at anything else. */
export async function isLocked(folder: string): Promise<boolean> {
  // It never opens: LevelDB refuses a database that is there, and one that is not.
  const database = new Level(folder, { createIfMissing: false, errorIfExists: true })
  return isLockRefusal(await database.open().catch((error: unknown) => error))
}
