import { token } from '../kernel/token.ts'
import type { Operation } from '../kit/canonical/forms.ts'

/** The possible capabilities of a model. */
export const capabilities = [
  'vision',
  'audio_input',
  'audio_output',
  'video',
  'files',
  'tools',
  'parallel_tools',
  'reasoning',
  'json_schema',
  'prompt_cache',
  'web_search',
] as const

export type Capability = (typeof capabilities)[number]

/** The known facts of a model. A fact that is undefined, or not among the capabilities, is unknown: never a guess. */
export interface ModelDescription {
  readonly operation: Operation | undefined
  /** Most tokens of a prompt. */
  readonly contextWindow: number | undefined
  /** Most tokens of an answer. */
  readonly maxOutputTokens: number | undefined
  readonly capabilities: Readonly<Partial<Record<Capability, boolean>>>
  /** The day from which the provider no longer serves it, `2026-11-30`. */
  readonly retiresOn: string | undefined
  /** Where this is from; service.yaml first where it says something. */
  readonly origin: string
}

/** Models, their limits and what they can do. */
export interface ModelCatalogue {
  /** Changes whenever the models may be others. */
  readonly edition: number
  /** Why what the operator has loaded is not in use. */
  readonly problem: string | undefined
  /** The sources of the data in use; the one that outweighs the others comes first. */
  readonly origins: readonly { readonly origin: string; readonly models: number }[]
  /** Whether a model is listed for a provider, by its own name or by the one under which the price data knows it. */
  lists(provider: string, priceId: string, model: string): boolean
  /** The known facts of a model of a provider; undefined when there are none. */
  describe(provider: string, model: string): ModelDescription | undefined
  /** Whether a model can do something; undefined when that is not known. */
  supports(provider: string, model: string, capability: Capability): boolean | undefined
  /** Reads the files again, in all threads. */
  rescan(): Promise<void>
}

export const ModelCatalogue = token<ModelCatalogue>('model-catalogue')
