import { expect, test } from 'vitest'
import { callWith } from '../../test/chain.ts'
import type { Message } from '../canonical/forms.ts'
import { conversationOf } from './conversation.ts'

const system: Message = { role: 'system', content: 'Be brief.' }
const hello: Message = { role: 'user', content: 'Hello' }
const idOf = (messages: Message[], more: Parameters<typeof callWith>[1] = {}) =>
  conversationOf(callWith({ messages }, more))?.id
const { principal } = callWith()

test('a conversation is the same while its history grows, and others begin otherwise', () => {
  const grown = idOf([system, hello, { role: 'assistant', content: 'Hi' }, { role: 'user', content: 'And?' }])
  expect(idOf([system, hello])).toBe(grown)
  const others = [
    idOf([hello]),
    idOf([system, { role: 'user', content: 'Hello!' }]),
    idOf([system, hello], { principal: { ...principal, userId: 'usr_2' } }),
    idOf([system, hello], { principal: { ...principal, tenant: 'acme' } }),
    idOf([system, hello], { context: { project: 'docs' } }),
    conversationOf(callWith({ messages: [system, hello], user: 'end-user-1' }))?.id,
  ]
  expect(new Set([grown, ...others]).size).toBe(7)
})

test('the header names a conversation, whatever is in it, for each caller', () => {
  const context = { sessionId: 's1' }
  expect(conversationOf(callWith({ messages: [hello] }, { context }))).toMatchObject({ from: 'header' })
  expect(idOf([hello], { context })).toBe(idOf([system], { context }))
  expect(idOf([hello], { context })).not.toBe(idOf([hello], { context: { sessionId: 's2' } }))
  const other = { ...principal, userId: 'usr_2' }
  expect(idOf([hello], { context })).not.toBe(idOf([hello], { context, principal: other }))
})

test('a call without a message of a user has no conversation', () => {
  expect(idOf([system])).toBeUndefined()
  expect(conversationOf(callWith({ input: 'text' }))).toBeUndefined()
})
