import Mustache from 'mustache'
import { RE2JS } from 're2js'
import { z } from 'zod'
import type { Call } from '#kernel'
import { patternSchema, requestTexts } from '#kit'

const ms = z.int().min(0).max(600_000).default(0)

const toolCall = z.strictObject({
  name: z.string().min(1).meta({ description: 'The function to call.' }),
  arguments: z.record(z.string(), z.unknown()).default({}).meta({ description: 'Its arguments.' }),
})

export const fixtureSchema = z.strictObject({
  match: patternSchema.default('').meta({
    title: 'Match',
    description: 'RE2 expression that the last message must match. An empty one matches every call.',
  }),
  answer: z.string().default('').meta({
    title: 'Answer',
    description: 'Mustache template over text (the last message), model, and groups (of the match).',
  }),
  tool_calls: z
    .array(toolCall)
    .default([])
    .meta({ title: 'Tool calls', description: 'Tool calls of the answer.' }),
  error: z
    .strictObject({
      status: z.int().min(400).max(599).meta({ description: 'HTTP status of the error.' }),
      message: z.string().default('mock failure').meta({ description: 'Message of the error.' }),
    })
    .optional()
    .meta({ title: 'Error', description: 'Fail like a provider instead of answering.' }),
  delay_ms: ms.meta({ title: 'Delay', description: 'Milliseconds before the answer.' }),
  chunk_delay_ms: ms.meta({
    title: 'Chunk delay',
    description: 'Milliseconds between two chunks of a stream.',
  }),
})

export type FixtureSettings = z.infer<typeof fixtureSchema>

/** A fixture, ready to be tried on calls. */
export interface Fixture extends FixtureSettings {
  /** The answer's text when the fixture is for this call, undefined when it is not. */
  readonly textFor: (call: Call) => string | undefined
}

/** Compiled once: linear-time matching, because the operator's patterns run over clients' texts. */
export function fixtureOf(settings: FixtureSettings): Fixture {
  const expression = RE2JS.compile(settings.match)
  return {
    ...settings,
    textFor(call) {
      const text = lastText(call)
      const matcher = expression.matcher(text)
      if (!matcher.find()) return undefined
      const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, n) => matcher.group(n) ?? '')
      return Mustache.render(settings.answer, { text, model: call.request.model, groups }, undefined, {
        escape: String,
      })
    },
  }
}

/** Answers with the last text of the request. */
export const echo = fixtureOf(fixtureSchema.parse({ answer: 'You said: {{text}}' }))

function lastText(call: Call): string {
  return requestTexts(call.request).at(-1)?.text ?? ''
}
