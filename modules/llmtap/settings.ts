import { z } from 'zod'
import { fieldNames } from './record.ts'

const mb = 1024 * 1024

const stdout = z.strictObject({ type: z.literal('stdout') })

const file = z.strictObject({
  type: z.literal('file'),
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be letters, digits, dashes and underscores')
    .default('calls')
    .meta({ title: 'Name', description: 'Lines go to files/llmtap/<name>.jsonl in the data folder.' }),
  max_mb: z.number().min(0.01).max(10_000).default(100).meta({
    title: 'Largest size',
    description: 'Megabytes after which a new file is begun.',
  }),
  keep: z.int().min(0).max(1000).default(5).meta({
    title: 'Kept files',
    description: 'How many full files are kept beside the present one.',
  }),
})

const http = z.strictObject({
  type: z.literal('http'),
  url: z.url({ protocol: /^https?$/ }).meta({ title: 'Address', description: 'Receives batches by POST.' }),
  form: z.enum(['lines', 'array']).default('lines').meta({
    title: 'Form',
    description: 'JSON lines (application/x-ndjson), or one JSON array.',
  }),
  token: z.boolean().default(false).meta({
    title: 'Token',
    description: 'Whether secrets.LLMTAP_TOKEN of service.yaml is sent as a bearer token.',
  }),
  batch: z.int().min(1).max(500).default(100).meta({
    title: 'Batch',
    description: 'The most records of one request.',
  }),
  queue: z.int().min(1).max(100_000).default(10_000).meta({
    title: 'Queue',
    description:
      'Records that wait while the receiver fails. Beyond them the oldest are dropped, and counted.',
  }),
})

const sink = z.discriminatedUnion('type', [stdout, file, http])

export type SinkSettings = z.infer<typeof sink>
export type FileSettings = z.infer<typeof file>
export type HttpSettings = z.infer<typeof http>

/** What tells a sink from the others: where its records go. */
export function sinkKey(settings: SinkSettings): string {
  if (settings.type === 'file') return `file ${settings.name}`
  return settings.type === 'http' ? `http ${settings.url}` : 'stdout'
}

export const settings = z.strictObject({
  sinks: z
    .array(sink)
    .max(10)
    .refine((sinks) => new Set(sinks.map(sinkKey)).size === sinks.length, {
      error: 'must differ in their names and addresses',
    })
    .default([])
    .meta({ title: 'Sinks', description: 'Where records go; without any, the module does nothing.' }),
  fields: z
    .union([z.literal('all'), z.array(z.enum(fieldNames)).min(1)])
    .default('all')
    .meta({
      title: 'Fields',
      description:
        'The fields of a record. In a file, one that has bodies, tags, facts, a key or a session also has user_id and source_user_id: an erasure finds it by these.',
    }),
  bodies: z.enum(['none', 'truncated', 'full']).default('truncated').meta({
    title: 'Bodies',
    description:
      'Whether a record has the stored request and answer: not at all, the first 2,048 characters of each as text, or all of them.',
  }),
  redact: z.boolean().default(true).meta({
    title: 'Redact',
    description:
      'Whether personal data and secrets that guards let pass are taken out of the bodies, too. Names need a guard of their own.',
  }),
})

export type TapSettings = z.infer<typeof settings>

export const bytesOf = (megabytes: number): number => Math.round(megabytes * mb)
