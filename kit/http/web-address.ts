import { z } from 'zod'

function hasNoUser(text: string): boolean {
  const { username, password } = URL.parse(text) ?? { username: text }
  return username === '' && password === ''
}

/** An http or https address of a request, without a user and a password in it. */
export const webAddress = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(2000)
  .refine(hasNoUser, 'must not have a user or a password in it')
