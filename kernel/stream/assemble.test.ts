import { expect, test } from 'vitest'
import { Assembler } from './assemble.ts'

test('the padding of a single chunk is no part of the whole answer', () => {
  const assembler = new Assembler()
  assembler.add({
    id: 'a',
    object: 'chat.completion.chunk',
    obfuscation: 'xyz',
    choices: [{ index: 0, delta: { content: 'Hi' } }],
  })
  assembler.add({ id: 'a', object: 'chat.completion.chunk', obfuscation: 'x', choices: [] })
  expect(assembler.completion()).toEqual({
    id: 'a',
    object: 'chat.completion',
    choices: [{ index: 0, finish_reason: null, message: { role: 'assistant', content: 'Hi' } }],
  })
})
