import { z } from 'zod'

const whole = (title: string, description: string, usual: number, most: number) =>
  z.int().min(1).max(most).default(usual).meta({ title, description })

export const settings = z.strictObject({
  max_calls: whole('Calls of a run', 'How many calls an experiment or a benchmark may make.', 5000, 50_000),
  max_parallel: whole('Parallel calls', 'How many calls of a run are made at a time.', 5, 50),
  concurrency: whole(
    'Runs at a time',
    'How many runs of experiments and benchmarks go on at a time.',
    10,
    100,
  ),
  per_user: whole('Runs of a user at a time', 'How many of these may be of one user.', 2, 100),
  max_open: whole('Open runs', 'How many runs of a user may be queued or running.', 50, 10_000),
  timeout_s: whole('Time of a run', 'Seconds that a run may take.', 3600, 86_400),
  keep_days: whole(
    'Days of runs',
    'How long runs with their answers, and experiments with theirs, are kept after their end.',
    90,
    3650,
  ),
})
export type Settings = z.infer<typeof settings>
