import { MODEL } from './request.ts'

/** A call in the words of one wire: how it is asked, and by what its answer is known. */
export interface CallForm {
  readonly path: string
  /** The body that asks this, streamed or not. */
  ask(question: string, stream: boolean): object
  /** What a plain answer has in it. */
  readonly sign: string
  /** What stands before the number in an event with content. */
  readonly mark: string
  /** How the line begins that ends a stream. */
  readonly end: string
}

const system = 'You are a concise assistant who answers in plain words.'
const limits = { temperature: 0.7 }

export const chatCall = (model = MODEL): CallForm => ({
  path: '/v1/chat/completions',
  ask: (question, stream) => ({
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: question },
    ],
    ...limits,
    max_tokens: 256,
    ...(stream && { stream: true }),
  }),
  sign: 'chat.completion',
  mark: '"content":"w',
  end: 'data: [DONE]',
})

export const messagesCall = (model = MODEL): CallForm => ({
  path: '/v1/messages',
  ask: (question, stream) => ({
    model,
    system,
    messages: [{ role: 'user', content: question }],
    ...limits,
    max_tokens: 256,
    ...(stream && { stream: true }),
  }),
  sign: '"type":"message"',
  mark: '"text":"w',
  end: 'event: message_stop',
})

export const responsesCall = (model = MODEL): CallForm => ({
  path: '/v1/responses',
  ask: (question, stream) => ({
    model,
    instructions: system,
    input: question,
    ...limits,
    max_output_tokens: 256,
    store: false,
    ...(stream && { stream: true }),
  }),
  sign: '"object":"response"',
  mark: '"delta":"w',
  end: 'event: response.completed',
})
