import { RE2JS } from 're2js'
import { z } from 'zod'
import { type Detection, defineModule, type Span } from '#kernel'
import { findAll } from '#kit'
import { findersOf, longestCustom, openFrom, spansWords } from './finders.ts'
import { reach } from './rules.ts'

const action = z.enum(['block', 'redact', 'warn', 'off'])
type Action = z.infer<typeof action>

const custom = z.strictObject({
  label: z
    .string()
    .regex(/^\w{1,40}$/)
    .meta({ description: 'What it is called in traces and marks.' }),
  pattern: z.string().min(1).max(1000).refine(compiles, 'must be a regular expression in RE2 syntax').meta({
    description: 'RE2 expression; matches of up to 500 characters count.',
  }),
})

export default defineModule({
  settings: z.strictObject({
    request: action
      .default('block')
      .meta({ title: 'Requests', description: 'What becomes of a secret on its way in.' }),
    response: action
      .default('redact')
      .meta({ title: 'Answers', description: 'What becomes of one on its way out.' }),
    custom: z.array(custom).default([]).meta({ title: 'Custom', description: 'Further forms to look for.' }),
  }),

  setup({ settings, report }) {
    const finders = findersOf(settings.custom)
    const held = settings.custom.some(spansWords) ? longestCustom : 0
    const detection = (wanted: Action): Detection | undefined => {
      if (wanted === 'off') return undefined
      return {
        reach,
        refusal: 'The content was refused: it contains a credential. Remove it, and consider it disclosed.',
        scan: (text, _place, _call, from) => findAll(finders, text, from).map((found) => span(found, wanted)),
        open: (text, _call, from) => Math.max(from, Math.min(openFrom(text, from), text.length - held)),
        found: ({ label }, { direction }) => report(wanted, `${label} in a ${direction}`),
      }
    }
    const request = detection(settings.request)
    const reply = detection(settings.response)
    if (!request && !reply) return {}
    return { detect: { ...(request && { request }), ...(reply && { reply }) } }
  },
})

function span(found: { start: number; end: number; label: string }, wanted: Action): Span {
  if (wanted === 'block') return { ...found, action: 'block' }
  if (wanted === 'warn') return { ...found, action: 'note' }
  return { ...found, action: 'replace', replacement: `[REDACTED:${found.label}]` }
}

function compiles(pattern: string): boolean {
  try {
    RE2JS.compile(pattern)
    return true
  } catch {
    return false
  }
}
