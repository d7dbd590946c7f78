import fc from 'fast-check'
import { expect, test } from 'vitest'
import { questionOf, startForge } from '../../../test/forge.ts'
import { runs } from '../../../test/suite/runs.ts'

const forge = startForge()
const { api } = forge
const at = '/api/forge/batch'

const interruption = fc.constantFrom('pause', 'settings', 'none')

test('whatever fails and interrupts, each item has one result in its place, and its costs are those of its batch', async () => {
  const { gateway, upstream } = forge.parts
  for (const name of ['retrypilot', 'fallbackrouter']) await gateway.module(name, { enabled: false })
  const law = fc.asyncProperty(
    fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
    fc.integer({ min: 1, max: 5 }),
    interruption,
    async (fails, concurrency, how) => {
      upstream.reset()
      upstream.reply((asked) => String(questionOf(asked)).endsWith('fails'), {
        status: 400,
        error: { message: 'no' },
        times: Number.POSITIVE_INFINITY,
      })
      upstream.reply({ content: 'ok', delayMs: 2, times: Number.POSITIVE_INFINITY })
      const input = fails.map((isFailing, n) => ({
        custom_id: `item ${n}`,
        body: { messages: [{ role: 'user', content: `${n}${isFailing ? ' fails' : ''}` }] },
      }))
      const body = { model: 'gpt-4o-mini', input, concurrency, wait_ms: how === 'none' ? 60_000 : 0 }
      const { id } = (await api('POST', at, body)).body
      if (how === 'settings')
        await gateway.kernel.registry.change('forge', { config: { max_items: 1000 + fails.length } })
      // It may have ended by then.
      if (how === 'pause' && (await api('POST', `${at}/${id}/pause`)).status === 200)
        await api('POST', `${at}/${id}/resume`)
      const show = async () => (await api('GET', `${at}/${id}`)).body
      await expect.poll(async () => (await show()).status, { timeout: 30_000 }).toBe('completed')
      const batch = await show()
      const { items } = (await api('GET', `${at}/${id}/items`)).body
      expect(items.map((item: { custom_id: string }) => item.custom_id)).toEqual(
        input.map(({ custom_id }) => custom_id),
      )
      expect(items.map((item: { status: string }) => item.status)).toEqual(
        fails.map((isFailing) => (isFailing ? 'failed' : 'succeeded')),
      )
      const failed = fails.filter(Boolean).length
      expect(batch.counts).toEqual({
        total: fails.length,
        succeeded: fails.length - failed,
        failed,
        pending: 0,
      })
      const sum = items.reduce((sum: number, item: { cost_usd: number }) => sum + item.cost_usd, 0)
      if (how === 'none') expect(batch.cost_usd).toBeCloseTo(sum, 9)
      else expect(batch.cost_usd).toBeGreaterThanOrEqual(sum - 1e-9)
    },
  )
  await fc.assert(law, runs(25))
  for (const name of ['retrypilot', 'fallbackrouter']) await gateway.module(name, { enabled: true })
}, 120_000)
