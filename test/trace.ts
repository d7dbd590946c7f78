import { expect, vi } from 'vitest'
import type { GatewayUnderTest } from './harness.ts'

/** The trace of an answer. What no provider has counted is counted before a call settles, which takes a moment. */
export function traceOf({ api }: Pick<GatewayUnderTest, 'api'>, { headers }: { readonly headers: Headers }) {
  return vi.waitFor(
    async () => {
      const { status, body } = await api('GET', `/api/observe/traces/${headers.get('x-trace-id')}`)
      expect(status).toBe(200)
      return body
    },
    { timeout: 10_000 },
  )
}
