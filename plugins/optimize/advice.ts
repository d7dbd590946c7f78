import type { Action } from './shapes.ts'

/** What follows from an insight of a kind. */
export interface Advice extends Pick<Action, 'category' | 'title'> {
  readonly description: string
  /** The module that does it, and settings that keep it from changing texts. */
  readonly module?: {
    readonly name: string
    readonly enabled: boolean
    readonly config?: Readonly<Record<string, unknown>>
  }
  /** Whether that is safe without a person: it can be taken back, and changes no text. */
  readonly isSafe: boolean
}

type AdviceOn = (evidence: Readonly<Record<string, unknown>>) => Advice

/** By the type of the insight. */
export const adviceOn: Readonly<Record<string, AdviceOn>> = {
  cacheable: () => ({
    category: 'cost',
    title: 'Answer repeated requests from the cache',
    description:
      'Switch cachelayer on: a user who asks the same again within the hour gets the same answer, without a provider.',
    module: { name: 'cachelayer', enabled: true },
    isSafe: true,
  }),
  prompt_duplication: () => ({
    category: 'cost',
    title: "Use the provider's prompt cache",
    description:
      'Switch prefixcache on: it marks beginnings that prompts have in common, and, without its sorting, leaves all texts as they are.',
    module: { name: 'prefixcache', enabled: true, config: { sort: false } },
    isSafe: true,
  }),
  oversized_model: ({ model, cheaper_model }) => ({
    category: 'cost',
    title: `Send short calls of ${model} to ${cheaper_model}`,
    description:
      'Compare the answers of both first, by an experiment over past calls (`POST /api/studio/experiments/run`), or let autopilot do it.',
    isSafe: false,
  }),
  cost_waste: () => ({
    category: 'cost',
    title: 'Find out why answers that were paid for are not used',
    description:
      'Look at the traces: calls that time out, are left by their clients, or are blocked after the model has answered.',
    isSafe: false,
  }),
  error_rate: ({ model }) => ({
    category: 'reliability',
    title: `Try failed calls of ${model} again`,
    description: 'Switch retrypilot on: it tries again what may pass. Each attempt may cost.',
    module: { name: 'retrypilot', enabled: true },
    isSafe: false,
  }),
  model_concentration: ({ model }) => ({
    category: 'reliability',
    title: `Name a model for the time when ${model} fails`,
    description: 'Set a chain of fallbackrouter that leads to another provider.',
    isSafe: false,
  }),
  pii_detected: () => ({
    category: 'safety',
    title: 'Keep personal data from providers',
    description: 'Switch maskmode on: it takes personal data out of prompts, so it changes what models read.',
    module: { name: 'maskmode', enabled: true },
    isSafe: false,
  }),
  unused_module: ({ module }) => ({
    category: 'latency',
    title: `Look at the module ${module}, which never runs`,
    description: 'Change its condition or switch it off. It may wait for what seldom comes.',
    module: { name: String(module), enabled: false },
    isSafe: false,
  }),
}
