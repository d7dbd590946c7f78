/** A vocabulary that is published: by OpenAI, or one of `plugins/models/tokens`. */
export type Vocabulary =
  | 'o200k_base'
  | 'o200k_harmony'
  | 'cl100k_base'
  | 'llama3'
  | 'qwen'
  | 'deepseek-v3'
  | 'tekken'
  | 'mistral-32k'

/** How a conversation becomes one text for the model: the template that was published with it. */
export interface ChatForm {
  /** Its file in `tokens/shipped`, without the ending. */
  readonly template: string
  /** The template's values beside the conversation. */
  readonly values?: Readonly<Record<string, unknown>>
  /** The system message of a conversation without one. */
  readonly system?: string
  /** The text at the beginning of each answer. */
  readonly opening?: string
  /** Whether it carries tools, their calls and their results. */
  readonly tools?: boolean
}

export interface TokenizerEntry {
  /** Matches the name of a model in lower case, without what stands before its last slash. */
  readonly models: RegExp
  readonly vocabulary: Vocabulary
  /** Absent where the form of conversations is not published, or is OpenAI's. */
  readonly chat?: ChatForm
}

/** Bedrock puts regions and makers before names: `us.meta.llama3-3-70b-instruct-v1:0`. */
const before = '^(?:[a-z]+\\.)*'
const named = (pattern: string): RegExp => new RegExp(before + pattern)

const qwen = { template: 'qwen3', tools: true } as const
const dates = 'Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n'

/**
 * Which models have which tokenizer; the first that matches counts. A name that could be that of a model with another
 * is left out. Sources: OpenAI's tiktoken; Meta's llama-models; the model cards of Qwen and DeepSeek; mistral-common.
 */
export const tokenizers: readonly TokenizerEntry[] = [
  { models: /^gpt-oss-/, vocabulary: 'o200k_harmony' },
  {
    models: /^(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|codex-mini|computer-use-preview|o[134])(?![a-z0-9])/,
    vocabulary: 'o200k_base',
  },
  { models: /^(gpt-4|gpt-3\.5|gpt-35)(?![a-z0-9.])/, vocabulary: 'cl100k_base' },
  {
    models: /^(text-embedding-3-(small|large)|text-embedding-ada-002|davinci-002|babbage-002)$/,
    vocabulary: 'cl100k_base',
  },
  {
    models: named('(?:meta-)?llama-?v?3[.p-][1-3](?![\\d.])(?!.*(?:guard|vision))'),
    vocabulary: 'llama3',
    chat: { template: 'llama3', values: { dates } },
  },
  {
    models: named('(?:meta-)?llama-?v?3(?:$|:|-(?:8b|70b|instruct))'),
    vocabulary: 'llama3',
    chat: { template: 'llama3', values: { dates: '' } },
  },
  {
    models: named('qwen-?3-.*thinking-2507'),
    vocabulary: 'qwen',
    chat: { ...qwen, opening: '<think>\n' },
  },
  // Qwen3-Coder tells its tools in another form.
  {
    models: named('qwen-?3-?coder'),
    vocabulary: 'qwen',
    chat: { template: 'qwen3' },
  },
  {
    models: named('qwen-?3(?![.p\\d]|-(?:max|vl|omni|asr|embedding|reranker))'),
    vocabulary: 'qwen',
    chat: qwen,
  },
  { models: named('qwen3?-?embedding'), vocabulary: 'qwen' },
  { models: named('qwq-32b'), vocabulary: 'qwen', chat: { template: 'qwen3', opening: '<think>\n' } },
  {
    models: named('qwen-?2[.p-]5(?!-(?:vl|omni|math|max|plus|turbo))'),
    vocabulary: 'qwen',
    chat: { ...qwen, system: 'You are Qwen, created by Alibaba Cloud. You are a helpful assistant.' },
  },
  {
    models: named('qwen-?2(?=[:-]\\d|$|:|-instruct)'),
    vocabulary: 'qwen',
    chat: { template: 'qwen3', system: 'You are a helpful assistant.' },
  },
  {
    models: named('deepseek(?:-?(?:v3[.p-][12]|v4|chat$|reasoner$)|\\.v3-v1)'),
    vocabulary: 'deepseek-v3',
    chat: { template: 'deepseek-v3', values: { mark: '</think>' } },
  },
  {
    models: named('deepseek-?v3(?![.p\\d])'),
    vocabulary: 'deepseek-v3',
    chat: { template: 'deepseek-v3', values: { mark: '' } },
  },
  {
    models: named('deepseek-?r1(?!-distill|-zero|:(?!671b|latest))'),
    vocabulary: 'deepseek-v3',
    chat: { template: 'deepseek-v3', values: { mark: '' }, opening: '<think>\n' },
  },
  {
    models: named('(?:open-)?(?:mistral-nemo|pixtral-12b-2409|ministral-8b-(?:instruct-)?2410)'),
    vocabulary: 'tekken',
    chat: { template: 'mistral-v3' },
  },
  {
    models: named(
      '(?:mistral-small-(?:3|[\\w.-]*25\\d\\d)|mistral-medium-25\\d\\d|mistral-large-(?:[\\w-]*2512)|ministral-\\w+-(?:[\\w-]*2512)|magistral-[\\w.-]*25\\d\\d|devstral-[\\w.-]*25\\d\\d)',
    ),
    vocabulary: 'tekken',
    chat: { template: 'mistral-v7' },
  },
  {
    models: named('(?:mistral|pixtral)-large-(?:instruct-)?2411'),
    vocabulary: 'mistral-32k',
    chat: { template: 'mistral-v7' },
  },
  {
    models: named(
      '(?:(?:open-)?mixtral-8x22b(?=$|:|-(?:2404|instruct))|mistral-large-(?:instruct-)?240[27]|mistral-(?:small-(?:2312|2402)|tiny-(?:2312|2407))|mistral-7b-instruct-v0\\.3|codestral-(?:22b-v0\\.1|mamba-2407|2405))',
    ),
    vocabulary: 'mistral-32k',
    chat: { template: 'mistral-v3' },
  },
  // The first form of conversations has no control tokens for turns, and hosts do not agree on its spaces.
  {
    models: named(
      '(?:(?:open-)?mixtral-8x7b(?=$|:|-(?:32768|instruct))|mistral-7b-instruct-v0[.:][12](?!\\d)|mistral-medium-2312)',
    ),
    vocabulary: 'mistral-32k',
  },
]
