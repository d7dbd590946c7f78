import type { KeptOfUser } from '#kit'
import type { Tap } from './tap.ts'
import { countIn, eraseIn, filesBySink } from './user-lines.ts'

interface FileTap {
  readonly tap: Tap
  /** The name of its sink's files, if that has some. */
  readonly files?: string
}

/**
 * What all files in the folder have of users, also those whose sinks are gone or have another name by now. Where a tap still
 * writes, it is asked, so that no line is lost that it writes meanwhile.
 */
export function keptOfUsers(folder: string, taps: () => readonly FileTap[]): KeptOfUser {
  const leftBy = async (present: readonly FileTap[]): Promise<readonly string[]> => {
    const written = new Set(present.map(({ files }) => files))
    return [...(await filesBySink(folder))].flatMap(([name, files]) => (written.has(name) ? [] : files))
  }
  return {
    async count(userId) {
      const present = taps()
      let count = await countIn(await leftBy(present), userId)
      for (const { tap } of present) count += await tap.countOf(userId)
      return count
    },
    async erase(userId) {
      const present = taps()
      let erased = await eraseIn(await leftBy(present), userId)
      for (const { tap } of present) erased += await tap.eraseOf(userId)
      return erased
    },
  }
}
