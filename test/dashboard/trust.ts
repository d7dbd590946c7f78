import { expect, test } from 'vitest'
import { expectSound, type Stage, settled } from './stage.ts'

/** The pages of policies, the ledger and evidence. */
export function trustPages(stage: Stage): void {
  test('a policy is made, tested on past calls, switched off and deleted', async () => {
    const { page, gateway } = stage
    const trace = await stage.call(gateway.adminKey, 'about unicorns')
    await stage.visit('/policies')
    await page.click('text=New policy')
    await page.fill('#field-name', 'No unicorns')
    await page.selectOption('#field-action', 'warn')
    await page.fill('#field-rules', '[{"field": "user", "pattern": "("}]')
    await page.click('button:text-is("Add")')
    await page.waitForSelector('.field:has(#field-rules) .flaw')
    await page.fill('#field-rules', '[{"field": "user", "pattern": "unicorn"}]')
    await page.click('text=Test on past calls')
    await page.waitForSelector(`[role=status] >> text=${trace}`)
    await expectSound(stage)
    await page.click('button:text-is("Add")')
    await page.waitForSelector('h1:text-is("No unicorns")')
    const policy = `/api/trust/policies/${page.url().split('/').at(-1)}`
    await page.click('text=Test on past calls')
    await page.waitForSelector(`[role=status] >> text=${trace}`)
    await expectSound(stage)
    await page.click('text=Switch off')
    await settled(stage, policy).toMatchObject({ enabled: false })
    await page.click('text=Delete')
    await page.click('button.danger')
    await page.waitForSelector('h1:text-is("Policies")')
    expect((await gateway.api('GET', policy)).status).toBe(404)
    await expectSound(stage)
  })

  test('the ledger is verified, read entry by entry, and gets a checkpoint', async () => {
    const { page, gateway } = stage
    await stage.visit('/ledger')
    await page.click('text=Verify')
    await page.waitForSelector('[role=status] >> text=valid')
    await expectSound(stage)
    await page.click('tbody a >> nth=0')
    await page.waitForSelector('h1:text-matches("Entry \\\\d+")')
    await expectSound(stage)
    await stage.visit('/ledger/checkpoints')
    const count = async () => (await gateway.api('GET', '/api/trust/ledger/checkpoints')).body.total
    const before = await count()
    await page.click('text=Make a checkpoint')
    await expect.poll(count).toBe(before + 1)
    await expectSound(stage)
  })

  test('a pack of evidence is collected, downloaded and deleted', async () => {
    const { page, gateway } = stage
    await stage.visit('/evidence/new')
    await page.fill('#field-name', 'The audit')
    await page.click('button:text-is("Collect")')
    await page.waitForSelector('h1:text-is("The audit")')
    const pack = `/api/trust/evidence/${page.url().split('/').at(-1)}`
    await page.waitForSelector('text=Download')
    const [file] = await Promise.all([page.waitForEvent('download'), page.click('text=Download')])
    expect(await file.failure()).toBeNull()
    await expectSound(stage)
    await stage.visit('/evidence')
    await page.click('tbody a')
    await page.click('text=Delete')
    await page.click('button.danger')
    await page.waitForSelector('h1:text-is("Evidence")')
    expect((await gateway.api('GET', pack)).status).toBe(404)
    await expectSound(stage)
  })
}
