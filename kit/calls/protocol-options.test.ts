import { expect, test } from 'vitest'
import { callWith } from '../../test/chain.ts'
import { allProtocolOptions, protocolOptions } from './protocol-options.ts'

test('what is asked of a protocol is the same for all copies of a call, and nothing when nothing is', () => {
  const call = callWith()
  expect(allProtocolOptions(call)).toBeUndefined()
  const wishes = protocolOptions(call, 'openai')
  expect(allProtocolOptions(call)).toBeUndefined()
  wishes.store = false
  const copy = call.withRequest({ model: 'n' })
  expect(protocolOptions(copy, 'openai')).toEqual({ store: false })
  expect(protocolOptions(copy, 'anthropic')).toEqual({})
  expect(allProtocolOptions(copy)).toEqual({ openai: { store: false } })
})
