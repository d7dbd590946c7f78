import { z } from 'zod'
import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import type { Answer } from '../wire.ts'
import { plain, streamed } from './answer.ts'
import { fingerprint } from './headers.ts'
import { countTokens, tokenize } from './tokens.ts'

const BODY = z.object({
  model: z.string().default('gpt-3.5-turbo-instruct'),
  prompt: z.union([z.string(), z.array(z.unknown())]).default(''),
  n: z.number().nullish(),
  max_tokens: z.number().nullish(),
  echo: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
})

/** POST /v1/completions: one choice for each prompt and each `n`. */
export function respondToCompletion(request: RecordedRequest, script: Script): Answer {
  const body = BODY.parse(request.body)
  const prompts = promptsOf(body.prompt)
  const texts = prompts.flatMap((prompt) =>
    Array.from({ length: body.n ?? 1 }, () => textOf(script, prompt, body.echo === true)),
  )
  const limit = body.max_tokens ?? Number.POSITIVE_INFINITY
  const choices = texts.map((tokens) => ({
    tokens: tokens.slice(0, limit),
    end: endOf(script, tokens, limit),
  }))
  const prompt = prompts.reduce((sum, prompt) => sum + countTokens(prompt), 0)
  const completion = choices.reduce((sum, { tokens }) => sum + tokens.length, 0)
  const counted = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
  const usage = script.usage === undefined ? counted : script.usage
  const head = {
    id: `cmpl-${fingerprint(request)}`,
    object: 'text_completion',
    created: Math.floor(request.receivedAt / 1000),
    model: body.model,
  }
  if (!body.stream) {
    return plain(request, script, () => ({
      ...head,
      choices: choices.map(({ tokens, end }, index) => choice(index, tokens.join(''), end)),
      ...(usage && { usage }),
    }))
  }
  const wantsUsage = body.stream_options?.include_usage === true && usage !== null
  return streamed(request, script, () => [
    ...choices
      .flatMap(({ tokens, end }, index) => [
        ...tokens.map((token) => choice(index, token, null)),
        choice(index, '', end),
      ])
      .map((choice) => ({ ...head, choices: [choice], ...(wantsUsage && { usage: null }) })),
    ...(wantsUsage ? [{ ...head, choices: [], usage }] : []),
  ])
}

function choice(index: number, text: string, finishReason: string | null) {
  return { text, index, logprobs: null, finish_reason: finishReason }
}

function promptsOf(prompt: string | unknown[]): string[] {
  if (typeof prompt === 'string') return [prompt]
  if (typeof prompt[0] === 'number') return [prompt.join(' ')]
  return prompt.map((item) => (Array.isArray(item) ? item.join(' ') : String(item)))
}

function textOf(script: Script, prompt: string, echo: boolean): readonly string[] {
  const answer = script.content ?? `You said: ${prompt}`
  const tokens = typeof answer === 'string' ? tokenize(answer) : answer
  return echo ? [...tokenize(prompt), ...tokens] : tokens
}

function endOf(script: Script, tokens: readonly string[], limit: number): string {
  return script.finishReason ?? (tokens.length > limit ? 'length' : 'stop')
}
