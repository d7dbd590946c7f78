import { z } from 'zod'
import { callParams, messageContent, visibility } from '#kit'
import { memory } from './rows.ts'

const name = z.string().min(1).max(200)
const model = z.string().min(1).max(256)
const provider = z.string().min(1).max(100)
const systemPrompt = z.string().min(1).max(50_000)
const params = callParams.meta({ description: 'Parameters of the calls, such as temperature.' })
const metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((metadata) => Object.keys(metadata).length <= 16, 'may have 16 entries')

export const newSession = z.strictObject({
  name: name.default('New session'),
  model,
  provider: provider.optional(),
  system_prompt: systemPrompt.optional(),
  params: params.optional(),
  memory: memory.default({ strategy: 'window', max_tokens: 8000 }),
  metadata: metadata.optional(),
  visibility: visibility.default('private'),
})

/** A change of a session: absent fields stay as they are, null clears one. */
export const sessionChange = z
  .strictObject({
    name,
    model,
    provider: provider.nullable(),
    system_prompt: systemPrompt.nullable(),
    params: params.nullable(),
    memory,
    metadata: metadata.nullable(),
    visibility,
  })
  .partial()

export const newMessage = z.strictObject({ content: messageContent, stream: z.boolean().default(false) })
