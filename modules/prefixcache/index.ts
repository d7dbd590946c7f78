import { hash } from 'node:crypto'
import { z } from 'zod'
import { defineModule, Pricing } from '#kernel'
import { circleOf, orderedJson, protocolOptions } from '#kit'
import { type Arranged, arranged } from './arrange.ts'
import { conversationMarks, marksOf } from './marks.ts'
import { savingsOf } from './savings.ts'
import { Seen } from './seen.ts'

const geminiContent = z.strictObject({
  cached_content: z
    .string()
    .regex(/^(projects\/[\w-]+\/locations\/[\w-]+\/)?cachedContents\/[\w-]+$/)
    .meta({ title: 'Cached content', description: 'Its name at Google, such as cachedContents/abc.' }),
  models: z.array(z.string().min(1).max(256)).min(1).max(20).meta({
    title: 'Models',
    description: 'The models that it was made for, as globs.',
  }),
  system: z.string().min(1).max(1_000_000).meta({
    title: 'Instructions',
    description: 'The instructions that it holds. Calls with exactly these are sent its name in their place.',
  }),
})

export default defineModule({
  settings: z.strictObject({
    sort: z.boolean().default(true).meta({
      title: 'Sort',
      description:
        'Whether tools are sorted by name, and instructions that change from call to call are put behind those that do not.',
    }),
    ttl: z.enum(['5m', '1h']).default('5m').meta({
      title: 'Time to live',
      description: 'How long Anthropic keeps what is marked. Writing for an hour costs more.',
    }),
    conversation: z.enum(conversationMarks).default('continued').meta({
      title: 'Conversations',
      description:
        'When the end of a conversation is marked for Anthropic: once the model has said something, always, or never.',
    }),
    prompt_cache_key: z.boolean().default(true).meta({
      title: 'Key for OpenAI',
      description: 'Whether calls with the same instructions and tools are sent the same prompt_cache_key.',
    }),
    gemini: z.array(geminiContent).max(100).default([]).meta({
      title: 'Cached contents of Gemini',
      description: 'Contents that were put into its cache by other means.',
    }),
  }),

  setup({ id, settings, memory, find }) {
    const { sort, ttl, conversation, prompt_cache_key, gemini } = settings
    const seen = memory('seen', () => new Seen())

    return {
      request(call) {
        const { operation, request, trace } = call
        // A client that marks its prompt has arranged it, too.
        if (operation !== 'chat' || trace.json(request).includes('"cache_control"')) return undefined
        const circle = circleOf(call, 'everyone')
        const arrangement = arranged(request, { circle, seen, sorts: sort })
        const marks = marksOf(arrangement, request, { ttl, conversation })
        if (marks.at.length > 0) protocolOptions(call, 'anthropic').cache ??= marks
        const key = prompt_cache_key ? keyOf(arrangement, circle) : undefined
        if (key !== undefined) protocolOptions(call, 'openai').prompt_cache_key = key
        if (gemini.length > 0) protocolOptions(call, 'gemini').cached_contents = gemini
        const { changes } = arrangement
        if (Object.keys(changes).length === 0) return undefined
        trace.note(id, 'sorted', { fields: Object.keys(changes) })
        return call.withRequest(changes)
      },
      settled(_, { trace }) {
        const savings = trace.served && savingsOf(trace.served, find(Pricing), trace.startedAt)
        if (savings) trace.facts[id] = savings
      },
    }
  },
})

/** Calls with one key reach the same machine at OpenAI, which has their beginning in its cache. A hash, so that it tells nothing. */
function keyOf({ stable, tools }: Arranged, circle: string): string | undefined {
  if (stable.length + tools.length === 0) return undefined
  return `sy-${hash('sha256', `${circle}${orderedJson([stable, tools])}`).slice(0, 32)}`
}
