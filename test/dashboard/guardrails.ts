import { expect, test } from 'vitest'
import { expectSound, type Stage, settled } from './stage.ts'

/** The pages of guardrails. */
export function guardrailPages(stage: Stage): void {
  test('a rule is made from a ready-made pattern, tried on past calls, changed and deleted', async () => {
    const { page, gateway } = stage
    await stage.call(gateway.adminKey, 'Write to ada@example.com')
    await stage.visit('/guardrails')
    await expectSound(stage)
    await page.click('text=New rule')
    await page.click('.chips >> text=Email')
    expect(page.url()).toContain('preset=email')
    await page.selectOption('#field-action', 'redact')
    await page.selectOption('#field-mode', 'shadow')
    await page.click('text=Test on past calls')
    await page.waitForSelector('[role=status] >> text=xxx@')
    await expectSound(stage)
    await page.click('button:text-is("Add")')
    await page.waitForSelector('h1:text-is("Email")')
    const id = page.url().split('/').at(-1)!
    const rule = `/api/guardrails/${id}`
    await settled(stage, rule).toMatchObject({ preset: 'email', action: 'redact', mode: 'shadow' })
    await page.click('text=Test on past calls')
    await page.waitForSelector('[role=status] >> text=xxx@')
    await page.click('text=Enforce')
    await settled(stage, rule).toMatchObject({ mode: 'enforce' })
    await page.click('summary:text-is("Change")')
    await page.fill('#field-name', 'Addresses')
    await page.click('summary:text-is("More settings")')
    await page.check('text=system >> input')
    await page.click('button:text-is("Save")')
    await settled(stage, rule).toMatchObject({ name: 'Addresses', targets: ['system'] })
    await expectSound(stage)
    await page.click('text=Switch off')
    await settled(stage, rule).toMatchObject({ enabled: false })
    await page.click('text=Delete')
    await page.click('button.danger')
    await page.waitForSelector('h1:text-is("Guardrails")')
    expect((await gateway.api('GET', rule)).status).toBe(404)
  })

  test('a refusal stands beside its field, which has the focus', async () => {
    const { page } = stage
    await stage.visit('/guardrails/new')
    await page.fill('#field-name', 'Wrong')
    await page.fill('#field-pattern', '(')
    await page.selectOption('#field-action', 'block')
    await page.click('button:text-is("Add")')
    await page.waitForSelector('.field:has(#field-pattern) .flaw')
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('field-pattern')
    expect(await page.getAttribute('#field-pattern', 'aria-invalid')).toBe('true')
    expect(await page.inputValue('#field-pattern')).toBe('(')
  })

  test('rules are tried on a text, and their matches lead to the call', async () => {
    const { page, gateway } = stage
    const { body: rule } = await gateway.api('POST', '/api/guardrails', {
      name: 'No needles',
      words: ['needle'],
      action: 'redact',
    })
    await stage.call(gateway.adminKey, 'a needle')
    await stage.visit('/guardrails/try')
    await page.fill('#field-text', 'a needle')
    await page.click('button:text-is("Try")')
    await page.waitForSelector('pre:has-text("[REDACTED")')
    await expectSound(stage)
    await page.click('nav >> text=Matches')
    await page.waitForSelector('td:has-text("No needles")')
    await page.fill('[name=rule_id]', rule.id)
    await page.click('text=Filter')
    await expect.poll(() => page.url()).toContain(rule.id)
    await expectSound(stage)
    await page.click('tbody tr >> nth=0 >> a[href*="/traces/"]')
    await page.waitForSelector('h1:text-is("Trace")')
    await gateway.api('DELETE', `/api/guardrails/${rule.id}`)
  })
}
