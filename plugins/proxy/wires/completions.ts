import { completionBody as body } from '#kit'
import { textAnswer, textEvents } from './answers.ts'
import { openaiWire } from './openai.ts'

export const completionsWire = openaiWire({
  id: 'completions',
  path: '/v1/completions',
  operation: 'completion',
  summary: 'Legacy completion, plain or streamed',
  body,
  answer: textAnswer,
  events: textEvents,
})
