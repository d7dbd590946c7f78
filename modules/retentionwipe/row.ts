import { z } from 'zod'

/** Things by the plugin that keeps them. */
export const sums = z.record(z.string(), z.int())

export const statuses = ['running', 'completed', 'failed'] as const

/** What a report says, and what its signature is over. It holds nothing that says who the person is. */
export const facts = z.object({
  id: z.string(),
  requested_at: z.string(),
  finished_at: z.string(),
  subject: z.object({
    kind: z.literal('user'),
    salt: z.string(),
    sha256: z.string().meta({ description: 'SHA-256 of the salt, a colon and the id of the user, in hex.' }),
  }),
  found: sums.meta({ description: 'What each plugin kept when the erasure began.' }),
  left: sums.meta({ description: 'What had come since, when the erasure ended; empty for nothing.' }),
  unclaimed: z
    .array(z.string())
    .meta({ description: 'Stored data of plugins that are gone, which could not be asked.' }),
})
export type Facts = z.infer<typeof facts>

export const signed = z.object({
  document: z.string().meta({ description: 'The report as JSON: the very text that is signed.' }),
  key_id: z.string(),
  signature: z.string().meta({ description: 'Ed25519 over the UTF-8 bytes of the document, in base64url.' }),
})

/** An erasure as it is kept. The id of the user is there until it is completed. */
export const erasureRow = z.object({
  id: z.string(),
  status: z.enum(statuses),
  requested_at: z.string(),
  /** The id of the admin key. */
  requested_by: z.string(),
  finished_at: z.string().optional(),
  user_id: z.string().optional(),
  failed: z.array(z.string()),
  report: facts.optional(),
  signed: signed.optional(),
  /** Of the entry in the ledger that has the signed report. */
  ledger_seq: z.int().optional(),
})
export type ErasureRow = z.infer<typeof erasureRow>
