import { expect, test } from 'vitest'
import { expectSound, type Stage, settled } from './stage.ts'

/** The pages of templates, replays, workflows, experiments and benchmarks. */
export function buildingPages(stage: Stage): void {
  test('a template gets a second version, of which what it changed is shown', async () => {
    const { page, gateway } = stage
    await stage.visit('/templates/new')
    await page.fill('#field-slug', 'Not A Slug')
    await page.fill('#field-content', 'Greet {{name}}.')
    await page.click('button:text-is("Add")')
    await page.waitForSelector('.field:has(#field-slug) .flaw')
    await page.fill('#field-slug', 'greeting')
    await page.click('button:text-is("Add")')
    await page.waitForSelector('h1:text-is("greeting")')
    const template = '/api/studio/templates/greeting'
    await page.click('summary:text-is("Publish a version")')
    await page.fill('#version-content', 'Greet {{name}} warmly.')
    await page.fill('#version-change_note', 'Warmer')
    await page.click('button:text-is("Publish")')
    await settled(stage, template).toMatchObject({ current_version: 2, content: 'Greet {{name}} warmly.' })
    await page.click('td >> a:text-is("2")')
    await page.waitForSelector('ins:has-text("warmly")')
    expect(page.url()).toContain('version=2')
    await page.reload()
    await page.waitForSelector('del:has-text("Greet {{name}}.")')
    await expectSound(stage)
    await page.click('text=Delete')
    await page.click('button.danger')
    await page.waitForSelector('h1:text-is("Templates")')
    expect((await gateway.api('GET', template)).status).toBe(404)
    await expectSound(stage)
  })

  test('an admin opens and changes a template of a user', async () => {
    const { page, gateway } = stage
    const { userId, key } = await gateway.signUp('writing')
    await gateway.api('POST', '/api/studio/templates', { slug: 'of-a-user', content: 'Hello' }, key)
    await stage.visit('/templates')
    await page.click('tbody a:text-is("of-a-user")')
    await page.waitForSelector('pre:has-text("Hello")')
    expect(page.url()).toContain(`user_id=${userId}`)
    await page.click('summary:text-is("Change")')
    await page.fill('#field-name', 'Of a user')
    await page.click('button:text-is("Save")')
    await page.waitForSelector('h1:text-is("Of a user")')
    const { body } = await gateway.api('GET', '/api/studio/templates/of-a-user', undefined, key)
    expect(body.name).toBe('Of a user')
    await page.click('td >> a:text-is("1")')
    await page.waitForSelector('ins:has-text("Hello")')
    await expectSound(stage)
  })

  test('a call is replayed on another model, and both answers are compared', async () => {
    const { page, gateway, upstream } = stage
    const { key } = await gateway.signUp('replaying')
    upstream.reset()
    upstream.reply({ content: 'It is red.' })
    const trace = await stage.call(key, 'Which colour?')
    upstream.reply({ content: 'It is blue.' })
    await stage.visit(`/traces/${trace}`, key)
    await page.click('text=Ask another model')
    await page.waitForSelector('#field-trace_id')
    expect(await page.inputValue('#field-trace_id')).toBe(trace)
    await page.fill('#field-target_model', 'gpt-4o')
    await page.click('button:text-is("Replay")')
    await page.waitForSelector('h1:has-text("gpt-4o-mini and gpt-4o")')
    await page.waitForSelector('ins:has-text("blue")')
    expect(await page.textContent('del')).toContain('red')
    await expectSound(stage)
    const run = `/api/replay/runs/${page.url().split('/').at(-1)}`
    await page.click('text=Delete')
    await page.click('button.danger')
    await page.waitForSelector('h1:text-is("Replays")')
    expect((await gateway.api('GET', run)).status).toBe(404)
    await expectSound(stage)
  })

  test('a workflow is made and run, and a person decides its step', async () => {
    const { page, gateway } = stage
    const { key } = await gateway.signUp('working')
    await stage.visit('/workflows/new', key)
    await page.fill('#field-slug', 'ask-me')
    await page.fill('#field-name', 'Ask me')
    await page.fill('#field-steps', '[{"id": "me", "type": "nothing"}]')
    await page.click('button:text-is("Add")')
    await page.waitForSelector('.field:has(#field-steps) .flaw')
    await page.fill('#field-steps', '[{"id": "me", "type": "human", "config": {"message": "Go on?"}}]')
    await page.click('button:text-is("Add")')
    await page.waitForSelector('h1:text-is("Ask me")')
    await expectSound(stage)
    await page.click('summary:text-is("Run")')
    await page.fill('#run-input', '{"a": 1}')
    await page.click('button:text-is("Run")')
    await page.click('button:text-is("Approve")')
    const run = `/api/forge/runs/${page.url().split('/').at(-1)}`
    await settled(stage, run).toMatchObject({ status: 'completed' })
    await page.reload()
    await page.waitForSelector('dd:has-text("completed")')
    await expectSound(stage)
    await stage.visit('/workflows/runs', key)
    await page.waitForSelector('td:has-text("ask-me")')
    await expectSound(stage)
    await stage.visit('/workflows', key)
    await page.click('tbody a')
    await page.click('text=Delete')
    await page.click('button.danger')
    await page.waitForSelector('h1:text-is("Workflows")')
    expect((await gateway.api('GET', '/api/forge/workflows/ask-me', undefined, key)).status).toBe(404)
    await expectSound(stage)
  })

  test('an experiment is made and run, and shows which variant won', async () => {
    const { page, gateway, upstream } = stage
    const { key } = await gateway.signUp('trying')
    upstream.reset()
    await stage.visit('/experiments/new', key)
    await page.fill('#field-name', 'Which model')
    await page.fill(
      '#field-variants',
      '[{"id": "a", "model": "gpt-4o-mini"}, {"id": "b", "model": "gpt-4o"}]',
    )
    await page.fill('#field-dataset', '{"test_inputs": ["Hello"]}')
    await page.fill('#field-evaluators', '[{"type": "length", "min_chars": 1}]')
    await page.fill('#field-max_cost_usd', 'much')
    await page.click('button:text-is("Add")')
    await page.waitForSelector('.field:has(#field-max_cost_usd) .flaw')
    await page.fill('#field-max_cost_usd', '1')
    await page.click('button:text-is("Add")')
    await page.waitForSelector('h1:text-is("Which model")')
    const experiment = `/api/studio/experiments/${page.url().split('/').at(-1)}`
    await page.click('button:text-is("Run")')
    await settled(stage, experiment).toMatchObject({ status: 'completed' })
    await page.reload()
    await page.waitForSelector('text=Score')
    await expectSound(stage)
    await page.click('text=Delete')
    await page.click('button.danger')
    await page.waitForSelector('h1:text-is("Experiments")')
    expect((await gateway.api('GET', experiment)).status).toBe(404)
    await expectSound(stage)
  })

  test('a benchmark is made and run, and shows how the models did', async () => {
    const { page, gateway } = stage
    const { key } = await gateway.signUp('measuring')
    await stage.visit('/benchmarks/new', key)
    await page.fill('#field-name', 'Greetings')
    await page.fill('#field-models', '["gpt-4o-mini"]')
    await page.fill(
      '#field-prompts',
      '[{"name": "one", "prompt": "Hello", "assertions": [{"type": "length", "min_chars": 1}]}]',
    )
    await page.click('button:text-is("Add")')
    await page.waitForSelector('h1:text-is("Greetings")')
    const benchmark = `/api/studio/benchmarks/${page.url().split('/').at(-1)}`
    await page.click('button:text-is("Run")')
    await settled(stage, `${benchmark}/runs`).toMatchObject({ runs: [{ status: 'completed' }] })
    await page.click('tbody a')
    await page.waitForSelector('text=How the models did')
    await page.waitForSelector('[aria-label=Models] td:has-text("gpt-4o-mini")')
    await expectSound(stage)
    await page.click('text=Delete')
    await page.click('button.danger')
    await page.waitForSelector('h1:text-is("Benchmarks")')
    expect((await gateway.api('GET', benchmark)).status).toBe(404)
    await expectSound(stage)
  })
}
