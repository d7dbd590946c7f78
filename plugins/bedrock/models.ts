/** The facts of a family of models that are known beforehand. */
export interface ModelFacts {
  readonly maker: 'anthropic' | 'nova' | 'other'
  /** How a request sets the thinking; undefined where it cannot. */
  readonly thinking: 'budget' | 'adaptive' | 'nova' | 'effort' | undefined
  /** Whether it takes a JSON Schema for its answer. */
  readonly schema: boolean
  /** Which of `temperature` and `top_p` it takes: both, one of them at a time, none. */
  readonly sampling: 'both' | 'one' | 'none'
  /** Whether parts of a prompt can be kept in a cache, and for how long at the caller's choice. */
  readonly caches: 'no' | 'yes' | 'hour'
}

type Family = readonly [RegExp, ModelFacts]

/** First match counts. From the user guide's pages on models, structured outputs, reasoning and prompt caching. */
const families: readonly Family[] = [
  [/^anthropic\.claude-(v2|instant|3-(opus|sonnet|haiku))/, claude(undefined, false, 'both', 'no')],
  [/^anthropic\.claude-3-5-/, claude(undefined, false, 'both', 'yes')],
  [/^anthropic\.claude-3-7-/, claude('budget', false, 'both', 'yes')],
  [/^anthropic\.claude-opus-4-1\b/, claude('budget', false, 'one', 'yes')],
  [/^anthropic\.claude-(opus|sonnet)-4-\d{8}/, claude('budget', false, 'both', 'yes')],
  [/^anthropic\.claude-\w+-4-5\b/, claude('budget', true, 'one', 'hour')],
  [/^anthropic\.claude-\w+-4-6\b/, claude('adaptive', true, 'one', 'hour')],
  [/^anthropic\./, claude('adaptive', true, 'none', 'hour')],
  [/^amazon\.nova-2/, { maker: 'nova', thinking: 'nova', schema: false, sampling: 'both', caches: 'yes' }],
  [/^amazon\.nova/, { maker: 'nova', thinking: undefined, schema: false, sampling: 'both', caches: 'yes' }],
  [/^openai\.gpt-oss/, other('effort', true)],
  [/^(qwen\.qwen3|deepseek\.v3|google\.gemma-3|minimax\.|moonshot\.|nvidia\.)/, other(undefined, true)],
  [/^mistral\.(magistral|ministral|mistral-large-3|voxtral)/, other(undefined, true)],
]

const unknown = other(undefined, false)

export const factsOf = (model: string): ModelFacts => {
  const name = baseOf(model)
  return families.find(([pattern]) => pattern.test(name))?.[1] ?? unknown
}

/** The model itself, without account, region and kind of profile: `us.anthropic.x` and ARNs of it are `anthropic.x`. */
export const baseOf = (model: string): string =>
  model
    .slice(model.lastIndexOf('/') + 1)
    .replace(/^(?:us|eu|apac|global|us-gov|au|ca|jp|sa|me|af|il|mx|in|uk)\./, '')

function claude(
  thinking: ModelFacts['thinking'],
  schema: boolean,
  sampling: ModelFacts['sampling'],
  caches: ModelFacts['caches'],
): ModelFacts {
  return { maker: 'anthropic', thinking, schema, sampling, caches }
}

function other(thinking: ModelFacts['thinking'], schema: boolean): ModelFacts {
  return { maker: 'other', thinking, schema, sampling: 'both', caches: 'no' }
}
