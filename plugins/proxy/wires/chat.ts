import { chatBody as body } from '#kit'
import { chatAnswer, chatEvents } from './answers.ts'
import { openaiWire } from './openai.ts'

export const chatWire = openaiWire({
  id: 'chat',
  path: '/v1/chat/completions',
  operation: 'chat',
  summary: 'Chat completion, plain or streamed',
  body,
  answer: chatAnswer,
  events: chatEvents,
})
