import type { Choice, ChoiceDelta } from '#kernel'
import { finishOf } from './finish.ts'
import { type AnswerPart, listOf } from './parts.ts'

interface Logprobs {
  readonly content?: readonly (Chance & { readonly top_logprobs?: readonly Chance[] })[] | null
}

interface Chance {
  readonly token?: string
  readonly logprob?: number
}

/** The signs of why an answer ended, besides its reason. */
interface Holds {
  /** The problem of a call that is invalid. */
  readonly problem?: string | undefined
  /** The words of a refusal, which OpenAI tells by these alone. */
  readonly isRefusal?: boolean
}

/** A candidate. It always has a part, because clients read the text of the first one. */
export function candidateOf(
  { index, finish_reason: said, native_finish_reason: native, ...choice }: Choice | ChoiceDelta,
  parts: readonly AnswerPart[],
  { problem, isRefusal = false }: Holds = {},
): object {
  const reason = said === 'stop' && isRefusal ? 'content_filter' : said
  const logprobs = (choice.logprobs as Logprobs | null | undefined)?.content
  const malformed = problem !== undefined && reason !== 'length' && reason !== 'content_filter'
  return {
    content: { parts: parts.length > 0 ? parts : [{ text: '' }], role: 'model' },
    ...(reason && { finishReason: malformed ? 'MALFORMED_FUNCTION_CALL' : finishOf(reason, native) }),
    ...(problem !== undefined && { finishMessage: problem }),
    index,
    ...(choice.grounding_metadata !== undefined && { groundingMetadata: choice.grounding_metadata }),
    ...(logprobs && logprobs.length > 0 && { logprobsResult: logprobsOf(logprobs) }),
  }
}

const logprobsOf = (chosen: NonNullable<NonNullable<Logprobs['content']>>) => ({
  chosenCandidates: chosen.map(chanceOf),
  topCandidates: chosen.map(({ top_logprobs: top = [] }) => ({ candidates: top.map(chanceOf) })),
})

const chanceOf = ({ token = '', logprob = 0 }: Chance) => ({ token, logProbability: logprob })

/** What a call came to that cannot be shown as one: it would look as if it were whole. */
export const callProblem = (name: string, json: string): string =>
  `The arguments of a call of ${name} are not an object: ${json}`

interface Annotation {
  readonly type?: string
  readonly url_citation?: {
    readonly url?: string
    readonly title?: string
    readonly start_index?: number
    readonly end_index?: number
  }
}

/** Pages that an answer cites. */
export function citationsOf(annotations: unknown): object {
  const sources = listOf<Annotation>(annotations).flatMap(({ url_citation: page }) =>
    page?.url
      ? [{ uri: page.url, title: page.title, startIndex: page.start_index, endIndex: page.end_index }]
      : [],
  )
  return sources.length > 0 ? { citationMetadata: { citationSources: sources } } : {}
}
