import { z } from 'zod'

/** An http or https address of a request, without a user and a password in it. */
export const webAddress = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(2000)
  .refine((text) => URL.canParse(text) && new URL(text).username === '', 'must not have a user in it')
