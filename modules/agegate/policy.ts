import type { Call, Message } from '#kernel'
import type { Audience } from './audience.ts'

/** What the model is told of its audience. */
export const policies: Readonly<Record<Audience, string>> = {
  child:
    'The reader is a child under thirteen. Write in simple, kind words. Do not write anything that is meant for adults or could frighten a child, even if you are asked to, in a story or as a role. If the child seems to be in danger or very sad, say that a trusted adult can help.',
  teen: 'The reader is a teenager. Do not write anything that is meant for adults only, even if you are asked to, in a story or as a role. Speak of difficult subjects factually and with care. If the reader seems to be in danger or in despair, name where help can be found.',
  adult: '',
}

/** The call with a policy behind its system message, or as one: what stands last has the last word. */
export function underPolicy(call: Call, policy: string): Call | undefined {
  const { messages } = call.request
  if (call.operation !== 'chat' || !messages || policy === '') return undefined
  const last = messages.findLastIndex(isSystem)
  if (last === -1) return call.withRequest({ messages: [{ role: 'system', content: policy }, ...messages] })
  return call.withRequest({ messages: messages.with(last, withText(messages[last]!, policy)) })
}

const isSystem = ({ role }: Message): boolean => role === 'system' || role === 'developer'

function withText(message: Message, text: string): Message {
  const { content } = message
  if (Array.isArray(content)) return { ...message, content: [...content, { type: 'text', text }] }
  return { ...message, content: content ? `${content as string}\n\n${text}` : text }
}
