import { createHash } from 'node:crypto'

/** The signature of a call: it depends on the call, so that one that was altered or swapped shows. */
export function signatureOf(name: string, args: unknown): string {
  return createHash('sha512')
    .update(`${name} ${JSON.stringify(args ?? {})}`)
    .digest('base64')
}

/** Models from the third version on sign their calls, and want the signatures back. */
export const signs = (model: string): boolean => /gemini-[3-9]/.test(model)
