import { RE2JS } from 're2js'
import { z } from 'zod'
import { type Detection, defineModule, type Span } from '#kernel'
import { type Finder, findAll } from '#kit'
import { customFinder } from './custom.ts'
import { type Entity, entityTypes, findersOf, reach } from './entities.ts'
import { longest, Vault } from './vault.ts'
import { wordsBack } from './words.ts'

const custom = z.strictObject({
  type: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,30}$/)
    .meta({ description: 'What it is; its placeholder is named so.' }),
  pattern: z.string().min(1).max(1000).refine(compiles, 'must be a regular expression in RE2 syntax').meta({
    description: 'RE2 expression; matches of up to 200 characters count.',
  }),
})

export default defineModule({
  settings: z.strictObject({
    entities: z
      .array(z.enum(entityTypes))
      .default([...entityTypes])
      .meta({
        title: 'Entities',
        description: 'Kinds of personal data to mask.',
      }),
    mode: z.enum(['pseudonym', 'redact']).default('pseudonym').meta({
      title: 'Mode',
      description: 'Put placeholders that are restored for the client, or marks that are not.',
    }),
    custom: z.array(custom).default([]).meta({ title: 'Custom', description: 'Further kinds, by pattern.' }),
    replies: z.boolean().default(false).meta({
      title: 'Replies',
      description: 'Whether personal data that the model itself brings up is redacted as well.',
    }),
  }),

  setup({ settings, slot }) {
    const vault = slot(() => new Vault())
    const finders: Finder<Entity>[] = [...findersOf(settings.entities), ...settings.custom.map(customFinder)]
    if (finders.length === 0) return {}

    const mark = (type: string): string => `[REDACTED:${type}]`
    const replace = ({ start, end, type }: Entity, replacement: string): Span => {
      return { start, end, label: type, action: 'replace', replacement }
    }

    const request: Detection = {
      reach,
      verdict: 'masked',
      scan: (text, _place, call, from) =>
        findAll(finders, text, from).map((found) => {
          const value = text.slice(found.start, found.end)
          const pseudonym = settings.mode === 'pseudonym'
          return replace(found, pseudonym ? vault(call).placeholderFor(found.type, value) : mark(found.type))
        }),
    }
    const reply: Detection = {
      reach,
      scan: (text, _place, _call, from) =>
        findAll(finders, text, from).map((found) => replace(found, mark(found.type))),
      open: (text, _call, from) => wordsBack(text, from, 10),
    }
    const reveal: Detection = {
      reach: longest,
      verdict: 'restored',
      applies: (call) => !vault(call).isEmpty,
      scan: (text, _place, call, from) =>
        findAll([(part: string, at: number) => vault(call).find(part, at)], text, from).map(
          ({ start, end, value }) => {
            return { start, end, label: 'placeholder', action: 'replace', replacement: value }
          },
        ),
      open: (text, _call, from) => wordsBack(text, from, 3),
    }
    return {
      detect: { request, ...(settings.replies && { reply }) },
      ...(settings.mode === 'pseudonym' && { reveal }),
    }
  },
})

function compiles(pattern: string): boolean {
  try {
    RE2JS.compile(pattern)
    return true
  } catch {
    return false
  }
}
