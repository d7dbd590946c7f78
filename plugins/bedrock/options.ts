import { z } from 'zod'
import { optionsReader } from '#provider'
import { roleForm } from './identity.ts'

/** The options of service.yaml for Bedrock beyond address and keys. */
export const optionsSchema = z.strictObject({
  region: z.string().optional(),
  /** Where a container asks for the keys of its role: an address, or a path at the one that all tasks have. */
  container_url: z.url().optional(),
  container_path: z.string().startsWith('/').optional(),
  /** What it shows there. */
  container_token: z.string().optional(),
  container_token_file: z.string().optional(),
  /** Where an instance asks. */
  metadata_url: z.url().default('http://169.254.169.254'),
  /** The role that the operator's keys are exchanged for, however they were come by. */
  assume_role: z
    .strictObject({
      arn: z.string().regex(roleForm, 'expected the ARN of a role'),
      external_id: z.string().min(2).optional(),
      session_name: z
        .string()
        .regex(/^[\w+=,.@-]{2,64}$/)
        .default('switchyard'),
      duration_s: z.int().min(900).max(43_200).default(3600),
    })
    .optional(),
  /** Where roles are asked for, if not at AWS's own address in the region. */
  sts_url: z.url().optional(),
  /** Inference profiles and provisioned models by model: what is asked for in the place of what. */
  profiles: z.record(z.string(), z.string()).default({}),
  /** The guardrail of calls that name none themselves. */
  guardrail: z
    .strictObject({
      id: z.string(),
      version: z.union([z.string(), z.number()]).transform(String),
      trace: z.enum(['enabled', 'disabled', 'enabled_full']).optional(),
    })
    .optional(),
})

export type Options = z.infer<typeof optionsSchema>

export const optionsOf = optionsReader(optionsSchema)
