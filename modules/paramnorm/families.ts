/** The special rules of a family of models. */
export interface Family {
  /** Globs over the model's name without its provider. */
  readonly models: readonly string[]
  /** Parameter by the name it has there; dropped when both were sent. */
  readonly rename?: Readonly<Record<string, string>>
  /** Parameters that are not taken. */
  readonly drop?: readonly string[]
  /** Parameters that are taken with this value only. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /** Roles by the name they have there. */
  readonly roles?: Readonly<Record<string, string>>
  /** Most stop sequences. */
  readonly maxStops?: number
}

/** All families that a model belongs to apply, in this order. From the providers' API references. */
export const families: readonly Family[] = [
  {
    models: ['o1*', 'o3*', 'o4*', 'gpt-5*', 'codex-*'],
    rename: { max_tokens: 'max_completion_tokens' },
    drop: ['logprobs', 'top_logprobs', 'logit_bias'],
    fixed: { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 },
  },
  { models: ['o3*', 'o4*', 'gpt-5*'], drop: ['stop'] },
  { models: ['o1*', 'o3*', 'o4*'], roles: { system: 'developer' } },
  { models: ['gpt-*', 'chatgpt-*'], maxStops: 4 },
  {
    models: [
      'gpt-3.5-*',
      'gpt-4',
      'gpt-4-*',
      'claude-*',
      'gemini-*',
      'mistral-*',
      'codestral-*',
      'deepseek-*',
      'llama*',
      'qwen*',
      'command-*',
      'sonar*',
      'kimi-*',
      'glm-*',
    ],
    rename: { max_completion_tokens: 'max_tokens' },
    roles: { developer: 'system' },
  },
  { models: ['gemini-*', 'command-*'], maxStops: 5 },
  { models: ['claude-*', 'mistral-*', 'deepseek-*', 'sonar*', 'command-*'], drop: ['logit_bias'] },
  {
    models: ['deepseek-reasoner*'],
    drop: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'logprobs', 'top_logprobs'],
  },
]
