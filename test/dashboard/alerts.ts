import { expect, test } from 'vitest'
import { Anomalies } from '../../contract/index.ts'
import { expectSound, type Stage, settled } from './stage.ts'

/** The pages of alerts and anomalies. */
export function alertPages(stage: Stage): void {
  test('a rule is previewed over the past with a chart, made, acknowledged, silenced, changed and deleted', async () => {
    const { page, gateway } = stage
    await stage.call(gateway.adminKey, 'Hello')
    await stage.visit('/alerts/new')
    await page.fill('#field-name', 'Any call')
    await page.selectOption('#field-metric', 'request_rate')
    await page.selectOption('#field-condition', 'gt')
    await page.fill('#field-threshold', 'many')
    await page.click('button:text-is("Add")')
    await page.waitForSelector('.field:has(#field-threshold) .flaw')
    await page.fill('#field-threshold', '0')
    await page.fill('#field-window_seconds', '0')
    await page.click('button:text-is("Add")')
    await page.waitForSelector('.field:has(#field-window_seconds) .flaw')
    await page.fill('#field-window_seconds', '300')
    await page.click('text=Preview')
    await page.waitForSelector('text=/would have fired .+, in [1-9]/')
    await page.waitForSelector('figure canvas')
    await expectSound(stage)
    await page.click('button:text-is("Add")')
    await page.waitForSelector('h1:text-is("Any call")')
    const rule = `/api/observe/alerts/${page.url().split('/').at(-1)}`
    await settled(stage, rule).toMatchObject({ window_seconds: 300, state: 'firing' })
    await page.reload()
    await page.click('text=Acknowledge')
    await settled(stage, '/api/observe/alerts/history').toMatchObject({
      history: [{ acknowledged_at: expect.any(String) }],
    })
    await page.click('text=Silence for an hour')
    await settled(stage, rule).toMatchObject({ silenced_until: expect.any(String) })
    await page.click('text=End the silence')
    await settled(stage, rule).toMatchObject({ silenced_until: null })
    await page.click('summary:text-is("Change")')
    await page.fill('#field-threshold', '1000')
    await page.click('button:text-is("Save")')
    await settled(stage, rule).toMatchObject({ threshold: 1000 })
    await expectSound(stage)
    await page.click('text=Fired >> .. >> a')
    await page.waitForSelector('td:has-text("Any call")')
    await expectSound(stage)
    await page.goBack()
    await page.click('text=Delete')
    await page.click('button.danger')
    await page.waitForSelector('h1:text-is("Alerts")')
    expect((await gateway.api('GET', rule)).status).toBe(404)
    await expectSound(stage)
  })

  test('an anomaly shows what was expected, and an admin acknowledges and deletes it', async () => {
    const { page, gateway } = stage
    const { userId, key } = await gateway.signUp('unusual')
    const trace = await stage.call(key, 'Hello')
    const id = await gateway.kernel.service(Anomalies)!.record({
      kind: 'call',
      severity: 'warning',
      scope: { provider: 'openai', model: 'gpt-4o', user: userId, project: 'docs' },
      dimensions: [
        { metric: 'cost_usd', by: 'user', expected: 0.01, actual: 0.2, score: 9, method: 'median/MAD' },
      ],
      traces: [trace],
    })
    const anomaly = `/api/observe/anomalies/${id}`
    await stage.visit('/anomalies', key)
    await page.click('tbody a')
    await page.waitForSelector(`text=${trace}`)
    await expectSound(stage)
    expect(await page.locator('button:text-is("Acknowledge"), button:text-is("Delete")').count()).toBe(0)
    await stage.visit(`/anomalies/${id}`)
    await page.click('text=Acknowledge')
    await settled(stage, anomaly).toMatchObject({ acknowledged_at: expect.any(String) })
    await expectSound(stage)
    await page.click('text=Delete')
    await page.click('button.danger')
    await page.waitForSelector('h1:text-is("Anomalies")')
    expect((await gateway.api('GET', anomaly)).status).toBe(404)
  })
}
