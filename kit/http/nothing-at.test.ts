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

const plugins = new Map(
  Object.entries({
    runs: { manifest: { kind: 'module' }, setting: { enabled: true }, instance: {} },
    rests: { manifest: { kind: 'module' }, setting: { enabled: false } },
    area: { manifest: { kind: 'area' }, setting: { enabled: false } },
    broken: { setting: { enabled: true } },
  }),
)
const messageAt = (method: string, path: string): string =>
  nothingAt({ method, path }, known, (id) => plugins.get(id)).message

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
  expect(messageAt('POST', path)).toBe(
    `There is nothing at POST ${path}; there is ${meant}: check the base URL of your client.`,
  )
})

test.each(['/', '/v1', '/v1/moderations', '/v1/messages/batches', '/sages', '/api/things'])(
  '%s is like none of them',
  (path) => {
    expect(messageAt('POST', path)).toBe(`There is nothing at POST ${path}.`)
  },
)

test('only what is posted is compared with the paths that are posted to', () => {
  expect(messageAt('GET', '/messages')).toBe('There is nothing at GET /messages.')
})

test.each([
  [
    '/api/modules/rests',
    'The module rests is switched off. PUT /api/proxy/modules/rests with {"enabled": true} switches it on.',
  ],
  [
    '/api/modules/rests/a/b',
    'The module rests is switched off. PUT /api/proxy/modules/rests with {"enabled": true} switches it on.',
  ],
  [
    '/api/area',
    'The plugin area is switched off. PUT /api/plugins/area with {"enabled": true} switches it on.',
  ],
  ['/api/broken/x', 'The plugin broken does not run. GET /api/plugins/broken says why.'],
])('%s is of a plugin that does not run', (path, reason) => {
  expect(messageAt('GET', path)).toBe(`There is nothing at GET ${path}. ${reason}`)
})

test.each([
  '/api/modules/runs/x',
  '/api/modules/unknown',
  '/api/modules',
  '/v1/rests',
  '/rests',
  '/api/x/rests',
])('%s is of no plugin that does not run', (path) => {
  expect(messageAt('GET', path)).toBe(`There is nothing at GET ${path}.`)
})
