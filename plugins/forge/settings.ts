import { z } from 'zod'

const whole = (title: string, description: string, usual: number, most: number) =>
  z.int().min(1).max(most).default(usual).meta({ title, description })

export const settings = z.strictObject({
  requests_by: z.enum(['admins', 'everybody']).default('admins').meta({
    title: 'Who sends requests',
    description:
      'Who may save steps and tools that send HTTP requests: from the address of the gateway, also to what `egress.allow` names. All may run workflows that admins share.',
  }),
  max_steps: whole('Steps', 'How many steps a workflow may have.', 20, 100),
  timeout_s: whole(
    'Time of a run',
    'Seconds that a run may take; time in which it waits for a person does not count.',
    60,
    3600,
  ),
  max_parallel: whole('Parallel steps', 'How many calls and requests of a run are made at a time.', 5, 50),
  max_input_bytes: whole(
    'Size of values',
    'Bytes of JSON of the input of a run, and of each input and output of a step.',
    100_000,
    1_000_000,
  ),
  max_items: whole(
    'Items',
    'How many items a step goes through that is made for each of a list.',
    1000,
    10_000,
  ),
  concurrency: whole('Runs at a time', 'How many runs go on at a time, those that wait left aside.', 20, 500),
  per_user: whole('Runs of a user at a time', 'How many of these may be of one user.', 10, 500),
  max_open: whole('Open runs', 'How many runs of a user may be queued, running or waiting.', 1000, 100_000),
  keep_days: whole('Days of runs', 'How long runs and batches are kept after their end.', 30, 3650),
  batches: whole('Batches at a time', 'How many batches go on at a time.', 4, 100),
  batches_of_user: whole('Batches of a user at a time', 'How many of these may be of one user.', 2, 100),
  batch_concurrency: whole(
    'Items of a batch at a time',
    'How many items of a batch are made at a time, whatever it asks for.',
    10,
    100,
  ),
  batch_items: whole('Items of a batch', 'How many items a batch may have.', 10_000, 100_000),
  batch_bytes: whole('Size of files', 'Bytes of a file with the items of a batch.', 20_000_000, 200_000_000),
  session_days: whole('Days of sessions', 'How long sessions are kept after their last message.', 365, 3650),
})
export type Settings = z.infer<typeof settings>
