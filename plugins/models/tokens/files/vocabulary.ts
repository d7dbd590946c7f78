import { Tokenizer } from '@huggingface/tokenizers'
import { z } from 'zod'
import type { VocabularyCount } from '../vocabulary.ts'
import { reasonOf, TokenizerFileError } from './file.ts'
import { present, readJson } from './read.ts'

/** The largest that are published have 35 MB. */
const mostBytes = 64 * 2 ** 20

const part = z.record(z.string(), z.unknown()).nullable().default(null)
const expected = (what: string) => ({ error: `not ${what}` })

/** Looked at as a whole: a schema for each of half a million entries would take seconds. */
const ids = z.custom<Record<string, number>>(
  (value) => isMap(value) && Object.values(value).every(Number.isSafeInteger),
  expected('a map of tokens to their ids'),
)
const scores = z.custom<[string, number][]>(
  (value) =>
    isList(value, (item) => isList(item) && typeof item[0] === 'string' && typeof item[1] === 'number'),
  expected('a list of tokens with their scores'),
)
const merges = z.custom<string[] | [string, string][]>(
  (value) => isList(value, isText) || isList(value, (item) => isList(item, isText) && item.length === 2),
  expected('a list of merges'),
)

const format = z.object({
  model: z.discriminatedUnion(
    'type',
    [
      z.looseObject({ type: z.literal('BPE'), vocab: ids, merges }),
      z.looseObject({
        type: z.literal('Unigram'),
        vocab: scores,
        byte_fallback: z.literal(false, expected('supported with a Unigram model')).default(false),
      }),
      z.looseObject({ type: z.literal('WordPiece'), vocab: ids }),
    ],
    expected('BPE, Unigram or WordPiece'),
  ),
  added_tokens: z
    .array(z.looseObject({ id: z.int(), content: z.string(), special: z.boolean().default(false) }))
    .default([]),
  normalizer: part,
  pre_tokenizer: part,
  post_processor: part,
  decoder: part,
})

const isText = (value: unknown): boolean => typeof value === 'string'
const isMap = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isList = (value: unknown, fits?: (item: unknown) => boolean): value is unknown[] =>
  Array.isArray(value) && (fits === undefined || value.every(fits))

/** The abilities of a vocabulary from a file, and its size. */
export interface FileVocabulary extends Required<VocabularyCount> {
  readonly tokens: number
}

/** Opens a `tokenizer.json`. Throws a TokenizerFileError that says what is wrong with it. */
export async function openFileVocabulary(file: string): Promise<FileVocabulary> {
  const { data, error } = format.safeParse(present(await readJson(file, mostBytes), file))
  if (!data) throw new TokenizerFileError(file, `it is not a tokenizer.json: ${told(error.issues[0])}`)
  const { whole, plain } = built(file, data)
  const encoded = (tokenizer: Tokenizer, text: string): number =>
    text === '' ? 0 : tokenizer.encode(text, { add_special_tokens: false }).ids.length
  return {
    tokens: whole.model?.tokens_to_ids.size ?? 0,
    count: (text) => encoded(plain, text),
    countPrompt: (prompt) => encoded(whole, prompt),
  }
}

/** Where a file is not as expected, in one short line. */
const told = (issue: z.core.$ZodIssue | undefined): string =>
  `${issue?.path.join('.') || 'all of it'} is ${issue?.message.replace(/^Invalid input: /, '') ?? 'wrong'}`

/** The tokenizer of prompts, and that of texts, to which control tokens are text; both have one model. */
function built(file: string, data: z.output<typeof format>): { whole: Tokenizer; plain: Tokenizer } {
  try {
    const whole = new Tokenizer(data, {})
    const texts = data.added_tokens.filter(({ special }) => !special)
    const none = { type: 'BPE', vocab: {}, merges: [] }
    const plain = new Tokenizer({ ...data, added_tokens: texts, model: none }, {})
    plain.model = whole.model
    return { whole, plain }
  } catch (error) {
    throw new TokenizerFileError(file, `it cannot be used: ${reasonOf(error)}`)
  }
}
