import { z } from 'zod'
import { window } from './window.ts'

export const settings = z.strictObject({
  models: z.array(z.string().min(1).max(256)).max(100).default([]).meta({
    title: 'Models',
    description: 'Models, by globs, whose calls are put off whether or not they ask for that in X-Batch.',
  }),
  tags: z.record(z.string().min(1).max(64), z.string().max(256)).default({}).meta({
    title: 'Tags',
    description: 'Calls with all of these tags are put off likewise. Without any, tags decide nothing.',
  }),
  concurrency: z.int().min(1).max(1000).default(4).meta({
    title: 'Concurrency',
    description: 'Calls that are made at a time.',
  }),
  window: window.default('always').meta({
    title: 'Window',
    description: 'When calls are made: always, or in these hours.',
  }),
  max_queue: z.int().min(1).max(1_000_000).default(10_000).meta({
    title: 'Longest queue',
    description: 'Calls that may wait. Further ones are refused.',
  }),
  timeout_s: z.number().min(1).max(3600).default(600).meta({
    title: 'Time limit',
    description: 'Seconds that a call may take.',
  }),
})

export type Settings = z.infer<typeof settings>
