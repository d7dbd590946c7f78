import { z } from 'zod'
import { webAddress } from '#kit'
import { strategies } from '../attacks/strategies.ts'
import { attackTypes } from '../attacks/types/index.ts'

const typeIds = attackTypes.map(({ id }) => id)
const strategyIds = strategies.map(({ id }) => id)
const languageIds = [...new Set(attackTypes.flatMap(({ seeds }) => seeds.map(({ language }) => language)))]

const some = (names: readonly string[], what: string) =>
  z
    .array(z.enum(names as [string, ...string[]]))
    .min(1)
    .default([...names])
    .transform((chosen) => names.filter((name) => chosen.includes(name)))
    .meta({ description: `${what}; all of them without it.` })

export const budget = z.strictObject({
  max_requests: z.int().min(1).max(10_000).default(200).meta({
    description: 'Attacks of all hunts of the campaign together.',
  }),
  max_cost_usd: z.number().min(0.000_001).max(10_000).nullable().default(null).meta({
    description:
      'What attacks and their judge may cost together. Nothing is sent that could cost more than is left, and no model without a price.',
  }),
})

export const campaignInput = z.strictObject({
  name: z.string().trim().min(1).max(200),
  purpose: z.string().max(2000).default('').meta({ description: 'For people.' }),
  target_url: webAddress.optional().meta({
    description: 'An address that speaks OpenAI’s chat completions, in place of the gateway itself.',
  }),
  target: z
    .strictObject({
      kind: z.enum(['gateway', 'url']).optional().meta({ description: 'Follows from `target_url`.' }),
      model: z.string().min(1).max(256).optional().meta({
        description: 'The model that is asked; the one of the settings without it.',
      }),
      project: z.string().min(1).max(100).optional().meta({ description: 'The project of the calls.' }),
      system_prompt: z.string().min(1).max(100_000).optional().meta({
        description: 'Instructions to attack in place of those of the attacks.',
      }),
    })
    .default({}),
  attack_types: some(typeIds, 'Kinds of attacks'),
  strategies: z
    .array(z.enum(strategyIds as [string, ...string[]]))
    .default([...strategyIds])
    .transform((chosen) => strategyIds.filter((name) => chosen.includes(name)))
    .meta({ description: 'Ways to put them; all without it, and none with an empty list.' }),
  languages: some(languageIds, 'Languages of attacks'),
  budget: budget.prefault({}),
  seed: z.string().min(1).max(100).optional().meta({
    description: 'The same seed makes the same attacks; a new one without it.',
  }),
})

export const huntInput = z.strictObject({
  api_key: z.string().min(1).max(10_000).optional().meta({
    description:
      'The key for the address, or of the provider that the model names, or else gets it. Your own key to the gateway is the same as none. It is kept in memory until the hunt ends or pauses, and nowhere else.',
  }),
  generations: z.int().min(1).max(10).default(3),
  population: z.int().min(1).max(200).default(12).meta({ description: 'Attacks of a generation.' }),
  model: z.string().min(1).max(256).optional().meta({
    description: 'The attacker: a model that puts some attacks in other words.',
  }),
  judge_model: z.string().min(1).max(256).optional().meta({
    description: 'A model that is asked about answers that no sign tells anything of.',
  }),
  wait_ms: z.int().min(0).max(60_000).default(10_000).meta({
    description: 'How long the answer may wait for the end of the hunt.',
  }),
})
