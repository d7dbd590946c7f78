import { notFound } from '#kernel'

/** Thrown where a job is no longer in the hands of who runs it: it was cancelled, or given to somebody else. */
export class LeaseLost extends Error {
  constructor() {
    super('The job was taken away')
  }
}

export const unknownJob = (id: string) =>
  notFound(`There is no job ${id}: it was never added, or it has ended and was deleted.`, {
    param: 'id',
  })
