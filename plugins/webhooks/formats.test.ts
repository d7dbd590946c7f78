import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bodyOf, type Format, type Message, withRoutingKey } from './formats.ts'

/** What the receivers document of the bodies that they accept. */
const text = (maxLength: number, minLength = 1) => ({ type: 'string', minLength, maxLength })
const plain = (maxLength: number) => ({
  type: 'object',
  required: ['type', 'text'],
  properties: { type: { const: 'plain_text' }, text: text(maxLength), emoji: { type: 'boolean' } },
  additionalProperties: false,
})
const schemas: Readonly<Record<Exclude<Format, 'json'>, object>> = {
  slack: {
    type: 'object',
    required: ['text', 'blocks'],
    properties: {
      text: text(40_000),
      blocks: {
        type: 'array',
        maxItems: 50,
        items: {
          oneOf: [
            {
              properties: { type: { const: 'header' }, text: plain(150) },
              required: ['type', 'text'],
              additionalProperties: false,
            },
            {
              properties: { type: { const: 'section' }, text: plain(3000) },
              required: ['type', 'text'],
              additionalProperties: false,
            },
            {
              properties: {
                type: { const: 'context' },
                elements: { type: 'array', maxItems: 10, items: plain(3000) },
              },
              required: ['type', 'elements'],
              additionalProperties: false,
            },
          ],
        },
      },
    },
    additionalProperties: false,
  },
  discord: {
    type: 'object',
    required: ['embeds', 'allowed_mentions'],
    properties: {
      embeds: {
        type: 'array',
        maxItems: 10,
        items: {
          type: 'object',
          required: ['title', 'timestamp'],
          properties: {
            title: text(256),
            description: text(4096, 0),
            timestamp: { type: 'string' },
            color: { type: 'integer', minimum: 0, maximum: 0xff_ff_ff },
          },
          additionalProperties: false,
        },
      },
      allowed_mentions: { const: { parse: [] } },
    },
    additionalProperties: false,
  },
  pagerduty: {
    type: 'object',
    required: ['routing_key', 'event_action', 'payload'],
    properties: {
      routing_key: { const: 'key' },
      event_action: { enum: ['trigger', 'acknowledge', 'resolve'] },
      dedup_key: text(255),
      payload: {
        type: 'object',
        required: ['summary', 'source', 'severity'],
        properties: {
          summary: text(1024),
          source: text(255),
          severity: { enum: ['critical', 'error', 'warning', 'info'] },
          timestamp: { type: 'string' },
          component: text(255),
          class: text(255),
          custom_details: { type: 'object' },
        },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  },
}

const messages = fc.record({
  event: fc.constantFrom('webhook.test', 'circuit.opened', 'alert.fired', 'upgrade.quota_near'),
  timestamp: fc.constant('2026-11-22T12:00:00.000Z'),
  data: fc.oneof(
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.record({
      message: fc.string({ maxLength: 6000, minLength: 3000 }),
      severity: fc.constantFrom('info', 'high'),
    }),
    fc.record({
      alert_id: fc.string({ maxLength: 400 }),
      group: fc.jsonValue(),
      state: fc.constantFrom('ok', 'firing'),
    }),
    fc.jsonValue(),
  ),
})

describe.each(Object.entries(schemas))('the format %s', (format, schema) => {
  const accepts = new Ajv({ strict: false }).compile(schema)

  test('is what the receiver accepts, whatever an event says', () => {
    fc.assert(
      fc.property(messages, (message) => {
        const stored = bodyOf(message, format as Format)
        const body = JSON.parse(format === 'pagerduty' ? withRoutingKey(stored, 'key') : stored)
        expect([accepts(body), accepts.errors]).toEqual([true, null])
      }),
    )
  })
})

const message = (event: string, data: unknown): Message => ({
  event,
  timestamp: '2026-11-22T12:00:00.000Z',
  data,
})

test('words of an event cannot call people or look like markup', () => {
  const said = message('alert.fired', { message: '<!channel> & @everyone' })
  const slack = JSON.parse(bodyOf(said, 'slack'))
  expect(slack.text).toBe('alert.fired: &lt;!channel&gt; &amp; @everyone')
  expect(slack.blocks[1].text.type).toBe('plain_text')
  expect(JSON.parse(bodyOf(said, 'discord')).allowed_mentions).toEqual({ parse: [] })
})

test('an alert that is over resolves the incident that it made', () => {
  const of = (state: string) =>
    JSON.parse(bodyOf(message('alert.fired', { alert_id: 'al_1', state }), 'pagerduty'))
  expect([of('firing').event_action, of('ok').event_action]).toEqual(['trigger', 'resolve'])
  expect(of('firing').dedup_key).toBe(of('ok').dedup_key)
})

test('a group that cannot be made a text by itself is told as JSON', () => {
  const { dedup_key } = JSON.parse(
    bodyOf(message('alert.fired', { alert_id: 'al_1', group: { toString: null } }), 'pagerduty'),
  )
  expect(dedup_key).toBe('al_1:{"toString":null}')
})
