import type { Span } from '#kernel'
import type { Verdict } from './score.ts'

/** What happens to an attack. */
export type Action = 'block' | 'flag' | 'sanitize'

/** How a trace tells of an attack that the judging model sees. */
export const findingBy = (action: Action) =>
  ({
    type: 'injection',
    severity: 'high',
    action: ({ block: 'block', flag: 'warn', sanitize: 'redact' } as const)[action],
    label: 'judged',
  }) as const

/** How a detection tells of an attack. */
export function spanFor({ start, end, kind, score }: Verdict, action: Action): Span {
  const span = { start, end, label: kind!, severity: 'high', confidence: Math.min(1, score) } as const
  if (action === 'block') return { ...span, action: 'block' }
  if (action === 'flag') return { ...span, action: 'note' }
  return { ...span, action: 'replace', replacement: `[REMOVED:${kind}]` }
}
