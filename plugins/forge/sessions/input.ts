import { z } from 'zod'
import { contentFields } from '#kit'
import { memory } from './rows.ts'

const name = z.string().min(1).max(200)
const model = z.string().min(1).max(256)
const provider = z.string().min(1).max(100)
const systemPrompt = z.string().min(1).max(50_000)
const params = z
  .record(z.string().max(100), z.unknown())
  .refine(
    (params) => [...contentFields, 'tools'].every((field) => !Object.hasOwn(params, field)),
    `may hold anything but ${contentFields.join(', ')}, tools`,
  )
  .refine((params) => JSON.stringify(params).length <= 20_000, 'may have 20,000 characters')
  .meta({ description: 'Parameters of the calls, such as temperature.' })
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
  })
  .partial()

/** What a message says. */
export const content = z.union([
  z.string().min(1),
  z
    .array(
      z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('text'), text: z.string() }),
        z.strictObject({
          type: z.literal('image_url'),
          image_url: z.strictObject({
            url: z.string().min(1),
            detail: z.enum(['auto', 'low', 'high']).optional(),
          }),
        }),
      ]),
    )
    .min(1)
    .max(100),
])
export type Content = z.infer<typeof content>

export const newMessage = z.strictObject({ content, stream: z.boolean().default(false) })
