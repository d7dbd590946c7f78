import { expect, test } from 'vitest'
import { isModelRefusal } from './model-refusal.ts'

test.each([
  "I'm sorry, but I can't help with that.",
  'I’m sorry, I cannot assist with this request.',
  'Sorry, I am unable to do that.',
  'I cannot provide instructions for this.',
  "I can't help with that request.",
  'Unfortunately, I am not able to share this.',
  'As an AI language model, I cannot have opinions.',
  'Es tut mir leid, aber dabei kann ich Ihnen nicht helfen.',
  'Leider kann ich diese Frage nicht beantworten.',
  'Je suis désolé, mais je ne peux pas vous aider.',
  'Lo siento, pero no puedo ayudarte con eso.',
  'Desculpe, mas não posso ajudar com isso.',
  'Mi dispiace, ma non posso aiutarti.',
  '很抱歉，我无法帮助您完成此请求。',
  '申し訳ありませんが、そのご依頼にはお応えできません。',
  '죄송하지만 도와드릴 수 없습니다.',
  'Извините, я не могу помочь с этим.',
])('%s', (text) => {
  expect(isModelRefusal(undefined, text)).toBe(true)
})

test.each([
  "I'm sorry to hear that. Here is what you can do:",
  'Sure! I can help with that.',
  'The letter begins: "I am sorry, I cannot come."',
  'You cannot divide by zero.',
  'I cannot stress enough how useful this is.',
  'Leider regnet es morgen.',
  '',
])('is an answer: %s', (text) => {
  expect(isModelRefusal(undefined, text)).toBe(false)
  expect(isModelRefusal(null, text)).toBe(false)
})

test('a model that says so in its own field declines whatever its text is', () => {
  expect(isModelRefusal('No.', '')).toBe(true)
  expect(isModelRefusal('', 'Yes.')).toBe(false)
})
