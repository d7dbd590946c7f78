import { expect, onTestFinished, test } from 'vitest'
import { complies, startAttacked } from '../attacked.ts'
import { expectSound, type Stage, settled } from './stage.ts'

/** The pages of the red team, autopilot and optimise, and the live view. */
export function routingPages(stage: Stage): void {
  test('a campaign is made, hunts, shows its results and is deleted', async () => {
    const { page, gateway } = stage
    const { key } = await gateway.signUp('attacking')
    await stage.visit('/redteam/new', key)
    await page.fill('#field-name', 'First')
    await page.check('label:has-text("tool_abuse") >> input')
    await page.check('label:has-text("base64") >> input')
    await page.fill('#field-budget', '{"max_requests": 0}')
    await page.click('button:text-is("Add")')
    await page.waitForSelector('.field:has(#field-budget) .flaw')
    await page.fill('#field-budget', '{"max_requests": 3}')
    await page.click('button:text-is("Add")')
    await page.waitForSelector('h1:text-is("First")')
    const campaign = `/api/redteam/campaigns/${page.url().split('/').at(-1)}`
    await settled(stage, campaign).toMatchObject({ attack_types: ['tool_abuse'], strategies: ['base64'] })
    await page.click('summary:text-is("Hunt")')
    await page.fill('#hunt-model', 'gpt-4o-mini')
    await page.fill('#hunt-generations', '1')
    await page.fill('#hunt-population', '2')
    await page.click('button:text-is("Attack")')
    await settled(stage, campaign).toMatchObject({ status: 'completed' })
    await page.reload()
    await page.waitForSelector('dd:has-text("completed")')
    await expectSound(stage)
    await stage.visit('/redteam/vulnerabilities', key)
    await expectSound(stage)
    await stage.visit('/redteam', key)
    await page.waitForSelector('figure canvas')
    await expectSound(stage)
    await page.click('tbody a')
    await page.click('text=Delete')
    await page.click('button.danger')
    await page.waitForSelector('h1:text-is("Red team")')
    expect((await gateway.api('GET', campaign)).status).toBe(404)
  })

  test('a vulnerability is verified, accepted and opened again, and its rule added', async () => {
    const { page, gateway } = stage
    const attacked = await startAttacked()
    onTestFinished(() => attacked.close())
    attacked.behave(complies)
    const provider = { type: 'openai', base_url: attacked.url, api_key: 'sk-test', models: ['weak-*'] }
    await gateway.api('POST', '/api/proxy/providers', { name: 'attacked', ...provider })
    const { body: campaign } = await gateway.api('POST', '/api/redteam/campaigns', {
      name: 'Weak',
      target: { model: 'attacked/weak-1' },
      attack_types: ['prompt_injection'],
      strategies: [],
      languages: ['en'],
    })
    const hunt = { generations: 1, population: 2, wait_ms: 60_000 }
    await gateway.api('POST', `/api/redteam/campaigns/${campaign.id}/hunt`, hunt)
    const found = `/api/redteam/vulnerabilities?campaign_id=${campaign.id}`
    await settled(stage, found).toMatchObject({ vulnerabilities: [{ status: 'open' }] })
    await stage.visit(`/redteam/vulnerabilities?campaign_id=${campaign.id}`)
    await page.click('button:text-is("Verify")')
    await settled(stage, found).toMatchObject({ vulnerabilities: [{ verified_at: expect.any(String) }] })
    await page.click('button:text-is("Accept")')
    await settled(stage, found).toMatchObject({ vulnerabilities: [{ status: 'accepted' }] })
    await page.click('button:text-is("Open again")')
    await settled(stage, found).toMatchObject({ vulnerabilities: [{ status: 'open' }] })
    await page.click('button:text-is("Add its rule")')
    await settled(stage, '/api/guardrails').toMatchObject({ total: 1 })
    await expectSound(stage)
    const { rules } = (await gateway.api('GET', '/api/guardrails')).body
    await gateway.api('DELETE', `/api/guardrails/${rules[0].id}`)
    await stage.visit(`/redteam/${campaign.id}`)
    await page.waitForSelector('text=What got through')
    await expectSound(stage)
    await gateway.api('DELETE', '/api/proxy/providers/attacked')
  })

  test('autopilot shows what it saves, is changed, and says which field is wrong', async () => {
    const { page, gateway } = stage
    await stage.call(gateway.adminKey, 'Hello')
    await gateway.api('PUT', '/api/autopilot', {
      reference_model: 'gpt-4o-mini',
      judge: { model: 'gpt-4.1' },
      content: { projects: ['default'] },
    })
    await stage.visit('/autopilot')
    await page.click('summary:text-is("Change")')
    await page.selectOption('#field-mode', 'balanced')
    await page.fill('#field-quality_threshold', '7')
    await page.click('button:text-is("Save")')
    await page.waitForSelector('.field:has(#field-quality_threshold) .flaw')
    await page.fill('#field-quality_threshold', '0.9')
    await page.click('button:text-is("Save")')
    await settled(stage, '/api/autopilot').toMatchObject({
      config: { mode: 'balanced', quality_threshold: 0.9 },
    })
    await expectSound(stage)
    await page.click('summary:text-is("Calibrate")')
    await page.fill('#calibrate-sample_size', 'some')
    await page.click('button:text-is("Calibrate")')
    await page.waitForSelector('.field:has(#calibrate-sample_size) .flaw')
    await page.fill('#calibrate-sample_size', '5')
    await page.fill('#calibrate-candidates', 'gpt-4o')
    await page.selectOption('#calibrate-dry_run', 'true')
    await page.click('button:text-is("Calibrate")')
    await page.waitForSelector('.field:has(#calibrate-max_cost_usd) .flaw')
    await page.fill('#calibrate-max_cost_usd', '1')
    await page.click('button:text-is("Calibrate")')
    await page.waitForSelector('[role=status] >> text=planned')
    await page.selectOption('#calibrate-dry_run', 'false')
    await page.fill('#calibrate-candidates', 'gpt-4o')
    await page.fill('#calibrate-max_cost_usd', '1')
    await page.click('button:text-is("Calibrate")')
    await page.waitForSelector('[role=status] >> text=/completed|failed/')
    await expectSound(stage)
    await page.click('nav >> text=Decisions')
    await page.waitForSelector('h1:text-is("Decisions of autopilot")')
    await expectSound(stage)
  })

  test('optimise looks at the calls and says what it found', async () => {
    const { page } = stage
    await stage.visit('/optimize')
    await page.click('button:text-is("Look")')
    await page.waitForSelector('[role=status] >> text=What was found')
    await expectSound(stage)
    expect((await stage.gateway.api('GET', '/api/optimize')).body.last_run).not.toBeNull()
  })

  test('a user sees the own calls as they happen, until the view is held', async () => {
    const { page, gateway } = stage
    const { key } = await gateway.signUp('watching')
    const opened = page.waitForResponse('**/api/observe/live')
    await stage.visit('/live', key)
    await opened
    await stage.call(gateway.adminKey, 'of the admin')
    const trace = await stage.call(key, 'of the user')
    await page.waitForSelector(`a[href$="${trace}"]`)
    await page.waitForSelector('td:has-text("ok")')
    expect(await page.locator('tbody tr').count()).toBe(1)
    await expectSound(stage)
    await page.click('button:text-is("Hold")')
    expect(await page.getAttribute('button:text-is("Hold")', 'aria-pressed')).toBe('true')
  })
}
