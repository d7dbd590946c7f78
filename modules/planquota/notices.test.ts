import { afterEach, expect, test, vi } from 'vitest'
import type { Left, Quota, UpgradePrompt } from '#kernel'
import { Notices } from './notices.ts'

afterEach(() => vi.useRealTimers())

const quota: Quota = {
  scope: 'user',
  plan: 'free',
  claim: { name: 'user:1', unit: 'requests', limit: { kind: 'month', most: 10, timezone: 'UTC' }, amount: 1 },
}

/** What is suggested after a call that was counted a moment ago, when so many milliseconds of the month were left. */
function told(now: string, resetMs: number): UpgradePrompt[] {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(now) })
  const prompts: UpgradePrompt[] = []
  const notices = new Notices([80, 100], async (prompt) => void prompts.push(prompt))
  void notices.tell(quota, { used: 9, remaining: 1, resetMs } as Left, 'usr_1')
  return prompts
}

test('a notice belongs to the month of its count, also when the answer of another thread took a while', () => {
  const until = Date.parse('2026-12-01T00:00:00Z')
  const late = told('2026-11-22T12:00:00.040Z', until - Date.parse('2026-11-22T12:00:00Z'))
  expect(late).toMatchObject([{ period: '2026-11:80', until }])
  const [first] = told('2026-11-30T23:59:59Z', 1000)
  expect(first).toMatchObject({ period: '2026-11:80', until })
})
