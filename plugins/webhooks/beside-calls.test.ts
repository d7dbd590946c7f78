import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'
import { WebhookTest } from './test-event.ts'

/** A measurement by hand: WEBHOOK_EVENTS=10000 WEBHOOK_RATE=50 npx vitest run plugins/webhooks/beside-calls */
const events = Number(process.env.WEBHOOK_EVENTS ?? 0)

const rounds = 10
const callsPerSecond = 50
const eventsPerSecond = Number(process.env.WEBHOOK_RATE ?? 200)

describe.runIf(events >= rounds)('calls beside events for a receiver that hangs and a fast one', () => {
  let receiver: Receiver
  let gateway: TestGateway

  beforeAll(async () => {
    receiver = await startReceiver()
    receiver.answer('/slow', { hang: true })
    gateway = await startGateway({ config: { egress: { allow: ['127.0.0.1'] } } })
    for (const name of ['slow', 'fast']) {
      const body = { name, url: `${receiver.url}/${name}`, events: ['webhook.test'] }
      expect((await gateway.api('POST', '/api/webhooks', body)).status).toBe(201)
    }
  })

  afterAll(async () => {
    await gateway.close()
    await receiver.close()
  })

  /** Runs something at an even pace, whatever each takes; resolves when all have ended. */
  async function paced<T>(count: number, perSecond: number, run: () => T): Promise<Awaited<T>[]> {
    const begun = performance.now()
    const all: T[] = []
    while (all.length < count) {
      const due = Math.min(count, Math.ceil(((performance.now() - begun) * perSecond) / 1000))
      while (all.length < due) all.push(run())
      await pause(1)
    }
    return Promise.all(all)
  }

  /** How long a call takes, in milliseconds. */
  async function call(): Promise<number> {
    const begun = performance.now()
    const messages = [{ role: 'user', content: 'Hello' }]
    expect((await ask(gateway, { body: { model: 'mock/echo', messages } })).status).toBe(200)
    return performance.now() - begun
  }

  const emit = (): void =>
    gateway.kernel.events.emit(WebhookTest, { message: 'One of many', webhook_id: null })

  /** Each round measures calls without events and then with them, so that both see the same machine. */
  test('take as long as without them', async () => {
    const perRound = Math.floor(events / rounds)
    const seconds = perRound / eventsPerSecond
    const calls = Math.ceil(callsPerSecond * seconds)
    await paced(calls, callsPerSecond, call)
    const took: Record<'without' | 'with', number[]> = { without: [], with: [] }
    for (let round = 1; round <= rounds; round += 1) {
      took.without.push(...(await paced(calls, callsPerSecond, call)))
      const emitted = paced(perRound, eventsPerSecond, emit)
      took.with.push(...(await paced(calls, callsPerSecond, call)))
      await emitted
      // A receiver may get a message twice.
      await expect
        .poll(() => receiver.on('/fast').length, { timeout: 120_000 })
        .toBeGreaterThanOrEqual(round * perRound)
    }
    for (const [what, times] of Object.entries(took)) {
      times.sort((a, b) => a - b)
      const [p50, p99] = [0.5, 0.99].map((share) => times[Math.floor(times.length * share)]!.toFixed(1))
      console.log(`${times.length} calls ${what} events: p50 ${p50} ms, p99 ${p99} ms`)
    }
  }, 600_000)
})
