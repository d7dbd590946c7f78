import { z } from 'zod'
import { type Call, defineModule, type Message } from '#kernel'
import { estimateTokens, mapRequestTexts } from '#kit'
import { type Level, slimmed } from './slim.ts'

/** What the gateway's users and their tools say. What a model said is left as it was, which may be signed. */
const roles: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'tool', 'function'])
const ofSystem: ReadonlySet<string> = new Set(['system', 'developer'])
const ofTools: ReadonlySet<string> = new Set(['tool', 'function'])
/** Characters of a call that are slimmed. A text for which no room is left stays: so no call keeps others waiting for long. */
const most = 500_000

export default defineModule({
  settings: z.strictObject({
    level: z.literal([1, 2, 3]).default(1).meta({
      title: 'Level',
      description:
        '1 loses nothing: white space, repeated paragraphs and repeated instructions go. 2 takes also the layout from JSON and from Markdown tables. 3 takes also English phrases that say nothing, such as “please note that”.',
    }),
  }),

  setup({ id, settings: { level } }) {
    return {
      pure: true,
      request(call: Call) {
        const { request, operation, trace } = call
        if (operation !== 'chat') return undefined
        const instructions = new Set<string>()
        const before: string[] = []
        const after: string[] = []
        let room = most
        const slim = mapRequestTexts(request, (text, { role, kind }) => {
          if (kind !== 'content' || !roles.has(role) || text.length > room) return text
          room -= text.length
          const own = ofTools.has(role) ? Math.min(level, 2) : level
          const said = ofSystem.has(role) ? instructions : new Set<string>()
          const short = slimmed(text, own as Level, said)
          if (short !== text) {
            before.push(text)
            after.push(short)
          }
          return short
        })
        if (slim === request) return undefined
        const saved = estimateTokens(before) - estimateTokens(after)
        trace.note(id, 'slimmed', { level, about_tokens: saved })
        trace.header('x-prompt-slim', saved)
        return call.withRequest({ messages: slim.messages?.flatMap(withoutEmpty) })
      },
    }
  },
})

/** A message without the texts that others have said; none where nothing else is in it. */
function withoutEmpty(message: Message): Message[] {
  if (!ofSystem.has(message.role)) return [message]
  const { content } = message
  if (content === '') return []
  if (!Array.isArray(content) || content.every(({ text }) => text !== '')) return [message]
  const left = content.filter(({ text }) => text !== '')
  return left.length === 0 ? [] : [{ ...message, content: left }]
}
