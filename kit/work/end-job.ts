import type { JobQueue } from '../../contract/jobs.ts'

/** Cancels a job, which closes the connections of its calls; one that has ended stays as it is. */
export async function endJob(queue: Pick<JobQueue<never>, 'get' | 'cancel'>, id: string): Promise<void> {
  const job = await queue.get(id)
  if (job && job.endedAt === undefined) await queue.cancel(id)
}
