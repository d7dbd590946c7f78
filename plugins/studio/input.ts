import { z } from 'zod'
import { contentFields } from '#kit'

export const slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)
  .meta({ description: 'The name for calls: lower-case letters, digits, - and _.' })

export const label = z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/)

const text = z
  .string()
  .min(1)
  .max(50_000)
  .refine((text) => text.isWellFormed(), 'has half a character')

const message = z.strictObject({
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: text,
  name: z.string().min(1).max(64).optional(),
})

export const content = z.union([text, z.array(message).min(1).max(50)]).meta({
  description: 'A text, or messages, in Mustache.',
})
export type Content = z.infer<typeof content>

const named = z.record(z.string().max(100), z.unknown())

/** What is no parameter, or has a field of its own. */
const ofTheirOwn = [...contentFields, 'template', 'tools', 'response_format']

/** What a version brings beside its content, for calls that leave it out. */
export const fields = {
  model: z
    .string()
    .min(1)
    .max(256)
    .refine((name) => !name.startsWith('template:'), 'a template cannot stand for a model of another')
    .optional()
    .meta({ description: 'The model of calls that name the template in place of a model.' }),
  params: named
    .refine(
      (params) => ofTheirOwn.every((field) => !Object.hasOwn(params, field)),
      `may hold anything but ${ofTheirOwn.join(', ')}`,
    )
    .refine((params) => Object.keys(params).length <= 50, 'may hold 50 parameters')
    .optional()
    .meta({ description: 'Parameters such as temperature, for calls that do not set them.' }),
  tools: z.array(named).max(128).optional().meta({ description: 'Tools, for calls that bring none.' }),
  response_format: named
    .optional()
    .meta({ description: 'The form of the answer, for calls that ask for none.' }),
}

export const tags = z.array(z.string().min(1).max(64)).max(20)
export const name = z.string().min(1).max(200)
export const description = z.string().max(2000)
export const changeNote = z.string().max(1000)
