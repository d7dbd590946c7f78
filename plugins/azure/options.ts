import { z } from 'zod'
import { optionsReader } from '#provider'

/** The options of service.yaml for the source of tokens; all others are for the protocol. */
export const optionsSchema = z.object({
  authority: z.url().default('https://login.microsoftonline.com'),
  /** Where a machine's own tokens come from, and what is shown there where that is no virtual machine. */
  identity_url: z.url().default('http://169.254.169.254/metadata/identity/oauth2/token'),
  identity_header: z.string().min(1).optional(),
  scope: z.string().min(1).default('https://cognitiveservices.azure.com/.default'),
})

export const optionsOf = optionsReader(optionsSchema)
