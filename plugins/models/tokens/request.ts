import type { ContentPart, Message, ModelRequest, TokenCount } from '#kernel'
import { estimatorOf } from './estimate.ts'
import { imageTokens } from './images.ts'
import { textOf } from './text.ts'
import type { Tokenizer } from './tokenizer.ts'
import { toolTokens } from './tools.ts'

/** Texts longer than this are estimated: counting them would keep every other call waiting. */
const most = 500_000

interface Tally {
  tokens: number
  images: number
  guessed: boolean
}

/**
 * Counts a request in the canonical form: texts with the model's tokenizer, put together by the template of its maker or
 * by OpenAI's rule, tools and images by the rules that are published for them. Parts without a published rule,
 * such as audio and files, are left out, which makes the whole an estimate.
 */
export function countRequest(request: ModelRequest, tokenizer: Tokenizer): TokenCount {
  const counter = sizeOf(request) > most ? estimatorOf(request.model) : tokenizer
  const tally: Tally = { tokens: 0, images: 0, guessed: !counter.published }
  const told = counter.conversation?.(request)
  if (told) tally.tokens += told.tokens - told.tools
  else if (request.messages) countMessages(request, counter, tally)
  if (told) for (const { content } of request.messages ?? []) countOthers(content, request.model, tally)
  for (const input of [request.prompt, request.input].flat(2)) {
    if (typeof input === 'string') tally.tokens += counter.count(input)
    else if (input !== undefined) tally.tokens += 1
  }
  const format = request.response_format?.json_schema
  const schema = format ? counter.count(JSON.stringify(format)) : 0
  // Only for OpenAI's models is it known how they see a schema.
  tally.guessed ||= schema > 0 && !isOpenAi(counter.name)
  const tools = (told?.tools ?? toolTokens(request.tools ?? [], counter)) + schema
  const isRuled = tools + tally.images > 0
  return {
    tokens: tally.tokens + tools + tally.images,
    tools,
    images: tally.images,
    by: counter.name,
    quality: tally.guessed ? 'estimate' : isRuled ? 'rules' : 'tokenizer',
  }
}

/** Estimates a request at once, and any: tools and schemas that lie too deep to be looked through are left out. */
export function estimateRequest(request: ModelRequest): TokenCount {
  const estimator = estimatorOf(request.model)
  try {
    return countRequest(request, estimator)
  } catch {
    const { tools, response_format, ...texts } = request
    return countRequest(texts, estimator)
  }
}

/** A conversation by OpenAI's rule, which is a guess for the models of others. */
function countMessages({ messages = [], model }: ModelRequest, counter: Tokenizer, tally: Tally): void {
  tally.guessed ||= !isOpenAi(counter.name)
  tally.tokens += 3
  for (const message of messages) countMessage(message, model, counter, tally)
}

const isOpenAi = (vocabulary: string): boolean => /^(o200k|cl100k)_/.test(vocabulary)

/** Three tokens stand around a message, and one beside a name. */
function countMessage(message: Message, model: string, counter: Tokenizer, tally: Tally): void {
  const { role, name, content, tool_calls } = message
  tally.tokens += 3 + counter.count(role)
  if (name !== undefined) tally.tokens += 1 + counter.count(name)
  if (typeof content === 'string') tally.tokens += counter.count(content)
  else for (const part of content ?? []) countPart(part, model, counter, tally)
  for (const call of tool_calls ?? []) {
    const { function: called, ...custom } = call
    const texts = called ? [called.name, called.arguments] : [JSON.stringify(custom)]
    for (const text of texts) tally.tokens += counter.count(text)
    tally.tokens += 3
  }
}

function countPart(part: ContentPart, model: string, counter: Tokenizer, tally: Tally): void {
  const said = textOf(part)
  if (said === undefined) countOther(part, model, tally)
  else tally.tokens += counter.count(said)
}

/** Counts the parts of a message that are not text, where its texts are counted already. */
function countOthers(content: Message['content'], model: string, tally: Tally): void {
  if (typeof content === 'string') return
  for (const part of content ?? []) if (textOf(part) === undefined) countOther(part, model, tally)
}

function countOther(part: ContentPart, model: string, tally: Tally): void {
  const { image_url }: Readonly<Record<string, unknown>> = { ...part }
  if (part.type !== 'image_url') {
    tally.guessed = true
    return
  }
  const { tokens, known } = imageTokens(model, image_url)
  tally.images += tokens
  tally.guessed ||= !known
}

/** Characters of its texts, roughly and cheaply; images are not among them. */
export function sizeOf({ messages = [], prompt, input, tools }: ModelRequest): number {
  const parts = messages.flatMap(({ content }) =>
    typeof content === 'string' ? [content] : (content ?? []).map(({ text }) => text),
  )
  return [
    ...parts,
    ...[prompt, input].flat(2),
    ...(tools ?? []).map(({ function: f }) => f?.description),
  ].reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0)
}
