import { z } from 'zod'
import type { Span } from '../../kernel/detect/detect.ts'
import type { Finder, Finding } from './find-all.ts'
import { isPattern } from './pattern.ts'

/** A setting that is an operator's regular expression. */
export const patternSchema = z
  .string()
  .refine(
    isPattern,
    'must be a regular expression in RE2 syntax that repeats no more than thousands of times',
  )

/** A finder that also says what its findings are. */
export function tagged<T extends object>(find: Finder, tags: T): Finder<Finding & T> {
  return (text, from) => {
    const found = find(text, from)
    return found && { ...found, ...tags }
  }
}

/** The action on a finding, by the operator's setting; a redaction leaves a mark that names the finding. */
export function spanFor({ start, end }: Finding, label: string, wanted: 'block' | 'redact' | 'warn'): Span {
  if (wanted === 'block') return { start, end, label, action: 'block' }
  if (wanted === 'warn') return { start, end, label, action: 'note' }
  return { start, end, label, action: 'replace', replacement: `[REDACTED:${label}]` }
}
