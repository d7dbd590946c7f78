import { z } from 'zod'
import { contentFields } from './request-defaults.ts'

const others = [...contentFields, 'tools']

/** Parameters of calls that a client of an area sends: all that a request may hold beside what it says. */
export const callParams = z
  .record(z.string().max(100), z.unknown())
  .refine(
    (params) => others.every((field) => !Object.hasOwn(params, field)),
    `may hold anything but ${others.join(', ')}`,
  )
  .refine((params) => JSON.stringify(params).length <= 20_000, 'may have 20,000 characters')
