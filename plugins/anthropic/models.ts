/** The facts of a family of models that are known beforehand. */
export interface ModelFacts {
  /** Tokens of an answer at most; asked for when the caller names no limit, so that nothing is cut short silently. */
  readonly maxOutput: number
  /** How a request sets the thinking: with a budget in tokens, or with an effort and the rest left to the model. */
  readonly thinking: 'none' | 'budget' | 'adaptive'
  /** Whether it takes a JSON Schema for its answer; undefined where that is not known. */
  readonly schema: boolean | undefined
  /** Which of `temperature` and `top_p` it takes: both, one of them at a time, none. */
  readonly sampling: 'both' | 'one' | 'none'
}

/** First match counts. From the models' documentation. */
const families: readonly (readonly [RegExp, ModelFacts])[] = [
  [/^claude-(v1|2|instant|3-(opus|sonnet|haiku))/, facts(4096, 'none', false, 'both')],
  [/^claude-3[-.]5-/, facts(8192, 'none', false, 'both')],
  [/^claude-3[-.]7-/, facts(64_000, 'budget', false, 'both')],
  [/^claude-opus-4[-.]1\b/, facts(32_000, 'budget', true, 'one')],
  [/^claude-(opus-4|4-opus)(-0|[-@]\d{8}|$)/, facts(32_000, 'budget', false, 'both')],
  [/^claude-(sonnet-4|4-sonnet)(-0|[-@]\d{8}|$)/, facts(64_000, 'budget', false, 'both')],
  [/^claude-\w+-4[-.]5\b/, facts(64_000, 'budget', true, 'one')],
  [/^claude-opus-4[-.]6\b/, facts(128_000, 'adaptive', true, 'one')],
  [/^claude-\w+-4[-.]6\b/, facts(64_000, 'adaptive', true, 'one')],
  [/^claude-/, facts(64_000, 'adaptive', true, 'none')],
]

/** Models of others that speak the protocol. */
const unknown = facts(32_000, 'budget', undefined, 'both')

export const factsOf = (model: string): ModelFacts =>
  families.find(([pattern]) => pattern.test(model))?.[1] ?? unknown

function facts(
  maxOutput: number,
  thinking: ModelFacts['thinking'],
  schema: ModelFacts['schema'],
  sampling: ModelFacts['sampling'],
): ModelFacts {
  return { maxOutput, thinking, schema, sampling }
}
