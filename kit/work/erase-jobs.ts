import type { JobQueue } from '../../contract/jobs.ts'
import type { Collection } from '../../storage/index.ts'

/**
 * Erases a person's rows, each with the job of its id: the job first, so that what is cut off in between is found again. The rows have
 * an index `user`. Returns how many rows there were.
 */
export async function eraseWithJobs(
  rows: Pick<Collection<unknown>, 'scan' | 'delete'>,
  jobs: Pick<JobQueue<unknown>, 'delete'>,
  user: string,
): Promise<number> {
  let erased = 0
  for await (const [id] of rows.scan({ index: 'user', equals: user })) {
    await jobs.delete(id)
    if (await rows.delete(id)) erased += 1
  }
  return erased
}
