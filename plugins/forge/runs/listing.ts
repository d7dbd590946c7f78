import type { RunRow, RunStatus } from './rows.ts'

/** Which runs of a listing. */
export interface RunFilter {
  readonly user?: string | undefined
  readonly status?: RunStatus | undefined
  readonly workflow?: string | undefined
}

const all = '*'

/** The places of a run in the index of listings: under its user and under all, for each combination of filters. */
export const placesOf = ({ principal, status, workflow_slug, created_at }: RunRow) =>
  [principal.userId, all].flatMap((user) =>
    user === undefined
      ? []
      : [status, all].flatMap((state) =>
          [workflow_slug, all].map((workflow) => [user, state, workflow, created_at]),
        ),
  )

/** The runs of a filter, in that index. */
export const placeOf = ({ user, status, workflow }: RunFilter) => [
  user ?? all,
  status ?? all,
  workflow ?? all,
]
