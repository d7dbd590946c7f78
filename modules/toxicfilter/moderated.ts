import { type Call, contentBlocked } from '#kernel'
import type { AbuseCategory, AbuseScores } from '#provider'

export type Act = 'block' | 'redact' | 'flag'

/** Asks for the scores of texts. */
export type Score = (texts: readonly string[], call: Call) => Promise<readonly AbuseScores[]>

/** The parts of a policy that scores are held to. */
export interface Policy {
  readonly id: string
  readonly categories: readonly AbuseCategory[]
  readonly thresholds: Readonly<Record<AbuseCategory, number>>
  readonly score: Score
}

/**
 * The texts as they may go on: themselves, or a mark in place of those whose score reaches a threshold. Throws a refusal where these
 * are to be blocked. Rejects where no scores are given, which is not a pass.
 */
export async function moderated(
  texts: readonly string[],
  call: Call,
  direction: 'request' | 'reply',
  act: Act,
  { id, categories, thresholds, score }: Policy,
): Promise<readonly string[]> {
  const asked = texts.filter((text) => text.trim() !== '')
  if (asked.length === 0) return texts
  const scores = await score(asked, call)
  return texts.map((text) => {
    const at = asked.indexOf(text)
    const label = at === -1 ? undefined : categories.find((one) => (scores[at]![one] ?? 0) >= thresholds[one])
    if (!label) return text
    call.trace.finding(id, {
      type: 'toxic',
      severity: 'high',
      action: ({ block: 'block', redact: 'redact', flag: 'warn' } as const)[act],
      direction,
      label,
      confidence: scores[at]![label]!,
    })
    if (act === 'block')
      throw contentBlocked('The content was refused: a moderation model finds it abusive.', {
        module: id,
        details: { found: label },
      })
    return act === 'redact' ? `[REDACTED:${label}]${text.slice(text.trimEnd().length)}` : text
  })
}
