import { z } from 'zod'
import { isPattern } from '#kit'

const globs = z.array(z.string().min(1).max(256)).min(1).max(100)

/** What calls an admin has to approve: those for which everything that the rule names is so. */
const rule = z
  .strictObject({
    name: z.string().min(1).max(100).meta({ description: 'For reviewers, and for the client.' }),
    models: globs.optional().meta({ description: 'The model that the client names, by globs.' }),
    tools: globs.optional().meta({ description: 'A tool that the model is offered, by globs.' }),
    tags: z.record(z.string().min(1).max(64), z.string().max(256)).optional().meta({
      description: 'Tags of the call, each with this value.',
    }),
    pattern: z
      .string()
      .min(1)
      .max(1000)
      .refine(
        isPattern,
        'is not a regular expression in the syntax of RE2 that repeats no more than thousands of times',
      )
      .optional()
      .meta({ description: 'An expression that a text of the request matches.' }),
    min_cost_usd: z.number().positive().max(1_000_000).optional().meta({
      description:
        'The estimated cost, where the call would go, from which on it is held. What has no price costs nothing.',
    }),
  })
  .refine(({ name: _, ...conditions }) => Object.values(conditions).some((one) => one !== undefined), {
    message: 'needs a condition: models, tools, tags, pattern or min_cost_usd',
  })

export type Rule = z.infer<typeof rule>

export const settings = z.strictObject({
  rules: z.array(rule).max(100).default([]).meta({
    title: 'Rules',
    description: 'The calls that are held. The first rule that a call matches is shown to the reviewer.',
  }),
  mode: z.enum(['wait', 'async']).default('wait').meta({
    title: 'Mode',
    description:
      'Whether the client waits for the decision, or is answered at once with an id under which it finds the answer later.',
  }),
  wait_s: z.number().min(0.01).max(3500).default(120).meta({
    title: 'Longest wait',
    description: 'Seconds that a waiting client is held.',
  }),
  expire_s: z.number().min(0.01).max(604_800).default(86_400).meta({
    title: 'Expiry',
    description: 'Seconds after which a call that waits without its client is decided by itself.',
  }),
  on_timeout: z.enum(['deny', 'allow']).default('deny').meta({
    title: 'Without a decision',
    description: 'What happens to a call that nobody decided in time.',
  }),
  max_pending: z.int().min(1).max(100_000).default(1000).meta({
    title: 'Most pending',
    description: 'Calls that may be held at a time, in each mode. Further ones are refused.',
  }),
})

export type Settings = z.infer<typeof settings>
