import { expect, test } from 'vitest'
import { endpointSchema, tracesUrl } from './endpoint.ts'

test.each([
  ['http://127.0.0.1:4318', 'http://127.0.0.1:4318/v1/traces'],
  ['http://127.0.0.1:4318/', 'http://127.0.0.1:4318/v1/traces'],
  ['https://example.com/api/otel', 'https://example.com/api/otel/v1/traces'],
  ['https://example.com/api/otel/', 'https://example.com/api/otel/v1/traces'],
  ['https://example.com/v1/traces', 'https://example.com/v1/traces'],
  ['https://example.com/otlp?tenant=1', 'https://example.com/otlp/v1/traces?tenant=1'],
])('traces for %s go to %s', (endpoint, url) => {
  expect(endpointSchema.safeParse(endpoint).success).toBe(true)
  expect(tracesUrl(endpoint, {})).toBe(url)
  expect(tracesUrl(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toBe(url)
})

test('the settings outweigh the environment, and neither means no collector', () => {
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://other:4318' }
  expect(tracesUrl('http://own:4318', environment)).toBe('http://own:4318/v1/traces')
  expect(tracesUrl(undefined, {})).toBeUndefined()
  expect(tracesUrl(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeUndefined()
})

test.each(['localhost:4317', 'grpc://host', 'http://user:secret@host', 'http://secret@host:1/x', 'what'])(
  '%s is no address of a collector',
  (endpoint) => {
    expect(endpointSchema.safeParse(endpoint).success).toBe(false)
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }
    expect(() => tracesUrl(undefined, environment)).toThrow('OTEL_EXPORTER_OTLP_ENDPOINT must be')
  },
)
