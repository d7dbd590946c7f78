import { expect, test } from 'vitest'
import { nothingAt } from './nothing-at.ts'

const known = {
  paths: [
    '/v1/chat/completions',
    '/v1/completions',
    '/v1/messages',
    '/v1beta/models/{model}:generateContent',
  ],
}

test.each([
  ['/v1/v1/messages', '/v1/messages'],
  ['/openai/v1/chat/completions', '/v1/chat/completions'],
  ['/v1/messages/', '/v1/messages'],
  ['//v1/messages', '/v1/messages'],
  ['/v1beta/v1beta/models/g:generateContent', '/v1beta/models/g:generateContent'],
  ['/chat/completions', '/v1/chat/completions'],
  ['/completions', '/v1/completions'],
  ['/models/g:generateContent', '/v1beta/models/g:generateContent'],
])('%s is meant to be %s', (path, meant) => {
  expect(nothingAt({ method: 'POST', path }, known).message).toBe(
    `There is nothing at POST ${path}; there is ${meant}: check the base URL of your client.`,
  )
})

test.each(['/', '/v1', '/v1/moderations', '/v1/messages/batches', '/sages', '/api/things'])(
  '%s is like none of them',
  (path) => {
    expect(nothingAt({ method: 'POST', path }, known).message).toBe(`There is nothing at POST ${path}.`)
  },
)

test('only what is posted is compared with the paths that are posted to', () => {
  expect(nothingAt({ method: 'GET', path: '/messages' }, known).message).toBe(
    'There is nothing at GET /messages.',
  )
})
