import { notFound } from '#kernel'

/** Thrown if a job no longer belongs to its runner: it was cancelled, or given to another runner. */
export class LeaseLost extends Error {
  constructor() {
    super('The job was taken away')
  }
}

export const unknownJob = (id: string) =>
  notFound(`There is no job ${id}: it was never added, or it has ended and was deleted.`, {
    param: 'id',
  })
