import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsAtEveryCut, startGateway, startUpstream, streamsAsWhole } from 'switchyard/testing'
import { ticketDetection } from './tickets.ts'

const texts = [
  'OPS-1234 waits for SEC-9',
  'xOPS-1 OPS-1234567 ops-1',
  'the last is AB-12',
  'ABCDEFGHIJ-123456',
  'A-1 -2',
]

test('a stream has what the whole text has, however it is cut', () => {
  holdsAtEveryCut(ticketDetection('[ticket]'), texts)
})

test('clients see the same, streamed or not', async () => {
  await using upstream = await startUpstream()
  const gateway = await startGateway({ upstream, plugins: [import.meta.dirname] })
  try {
    await gateway.module('ticketveil', { enabled: true })
    assert.equal(await streamsAsWhole(gateway, upstream, texts[0]!), '[ticket] waits for [ticket]')
  } finally {
    await gateway.close()
  }
})
