import type { JobRecord } from '#kernel'
import type { Contents } from './contents.ts'
import type { JobRow } from './row.ts'

/** The public record of a job. Contents that cannot be read are absent. */
export function recordOf(row: JobRow, contents: Contents): JobRecord {
  const { lease: _, deaths: __, isFailing: ___, input, state, result, error, ...record } = row
  return {
    ...record,
    input: contents.show(input),
    ...(state !== undefined && { state: contents.show(state) }),
    ...(result !== undefined && { result: contents.show(result) }),
    ...(error && { error: contents.showError(error) }),
  }
}
