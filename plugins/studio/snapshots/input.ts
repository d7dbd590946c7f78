import { z } from 'zod'
import { callParams, visibility } from '#kit'
import { label, slug } from '../input.ts'
import { message } from '../playground/input.ts'
import { match } from './match.ts'

const text = z.string().min(1).max(100_000)

const messages = z.array(message).min(1).max(200)

const fields = {
  name: z.string().min(1).max(200),
  description: z.string().max(2000),
  visibility,
  match,
  expected_output: text.meta({ description: 'The pinned answer; without it the model is asked now.' }),
}

/** A question and its answer: asked now, given, or those of a past call. */
export const snapshotInput = z
  .strictObject({
    ...fields,
    trace_id: z.string().min(1).max(100).meta({ description: 'A past call, in place of a question.' }),
    template_slug: slug,
    template_version: z.int().min(1),
    template_label: label,
    variables: z.record(z.string().max(64), z.unknown()),
    model: z.string().min(1).max(256),
    provider: z.string().min(1).max(100),
    system: text,
    prompt: text,
    messages,
    input: z.union([text, messages]).meta({ description: 'Another name for `prompt` or `messages`.' }),
    params: callParams,
    project: z.string().min(1).max(100).meta({ description: 'Of the call, where one is made.' }),
  })
  .partial()
  .required({ name: true })
export type SnapshotInput = z.infer<typeof snapshotInput>

/** A change: absent fields stay as they are, null clears one. Another question is another snapshot. */
export const snapshotChange = z
  .strictObject({ ...fields, description: fields.description.nullable() })
  .partial()
