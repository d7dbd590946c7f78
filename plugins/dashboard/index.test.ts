import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { faultsOf, startBrowser } from '../../test/browser.ts'
import { alertPages } from '../../test/dashboard/alerts.ts'
import { buildingPages } from '../../test/dashboard/building.ts'
import { guardrailPages } from '../../test/dashboard/guardrails.ts'
import { routingPages } from '../../test/dashboard/routing.ts'
import { runningPages } from '../../test/dashboard/running.ts'
import { expectSound, type Stage } from '../../test/dashboard/stage.ts'
import { trustPages } from '../../test/dashboard/trust.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** Markup that would run a script if it were taken for that. */
const hostile = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>`

let browser: Browser
let upstream: Upstream
let gateway: TestGateway
let context: BrowserContext
let page: Page
let faults: string[]

const wide = { width: 1280, height: 900 }

async function open(options?: BrowserContextOptions): Promise<void> {
  context = await browser.newContext(options)
  context.setDefaultTimeout(20_000)
  page = await context.newPage()
  faults = faultsOf(page)
}

const at = (path: string): string => `${gateway.url}/dashboard${path}`

/** Gives the browser a session, and shows it a page. */
async function visit(path: string, key = gateway.adminKey): Promise<void> {
  const response = await fetch(`${gateway.url}/api/auth/session`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{}',
  })
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(response.headers.get('set-cookie')!)!
  await context.addCookies([{ name: name!, value: value!, url: gateway.url }])
  await page.goto(at(path))
  await shown()
}

/** Resolves when the page shows what it has asked for. */
async function shown(): Promise<void> {
  await page.waitForSelector('h1')
  await expect.poll(() => page.locator('.waiting').count()).toBe(0)
}

async function call(key: string, content: string): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
  })
  await response.text()
  const trace = response.headers.get('x-trace-id')!
  await expect.poll(async () => (await gateway.api('GET', `/api/observe/traces/${trace}`)).status).toBe(200)
  return trace
}

const stage: Stage = {
  get gateway() {
    return gateway
  },
  get upstream() {
    return upstream
  },
  get page() {
    return page
  },
  get faults() {
    return faults
  },
  visit,
  shown,
  call,
}

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    upstream,
    config: {
      egress: { allow: ['127.0.0.1'] },
      modules: { alertpulse: { config: { check_interval_s: 1 } } },
    },
  })
  browser = await startBrowser()
  await open({ locale: 'en-US', viewport: wide })
})

beforeEach(async () => {
  await page.setViewportSize(wide)
  faults.length = 0
})

// One page for all tests, as another has a process that compiles the pages' code anew. What signed it in is taken from it, and there
// is nothing else: the first test shows that pages keep nothing.
afterEach(async () => {
  await page.goto('about:blank')
  await context.clearCookies()
})

afterAll(async () => {
  await browser.close()
  await gateway.close()
  await upstream.close()
})

test('a key signs in, its session ends with signing out, and the browser keeps no key', async () => {
  await page.goto(at('/traces'))
  await page.fill('#key', 'sy_live_wrong')
  await page.click('button[type=submit]')
  expect(await page.textContent('[role=alert]')).toMatch(/key/i)
  await page.fill('#key', gateway.adminKey)
  await page.keyboard.press('Enter')
  await page.waitForSelector('h1:has-text("Traces")')
  const kept = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')
  expect(kept).toBe('[{},{},""]')
  expect(page.url()).not.toContain('sy_')
  await page.click('text=Sign out')
  await page.waitForSelector('#key')
  await page.reload()
  await page.waitForSelector('#key')
})

test('a session that ended elsewhere asks for a key at the next request', async () => {
  await visit('')
  const { body } = await gateway.api('GET', '/api/auth/sessions')
  for (const { id } of body.sessions) await gateway.api('DELETE', `/api/auth/sessions/${id}`)
  await page.click('nav >> text=Modules')
  await page.waitForSelector('#key')
})

describe('every page', () => {
  const paths = [
    '',
    '/traces',
    '/playground',
    '/costs',
    '/modules',
    '/modules/outputcap',
    '/providers',
    '/users',
    '/keys',
    '/status',
    '/guardrails/matches',
    '/alerts/history',
    '/anomalies',
    '/guardrails/new',
    '/plugins',
    '/autopilot',
    '/redteam/new',
  ]

  test.each(paths)(
    '/dashboard%s asks this origin only, breaks no policy, and fits narrow screens',
    async (path) => {
      await call(gateway.adminKey, 'Hello')
      await visit(path)
      await expectSound(stage)
      await page.setViewportSize({ width: 360, height: 740 })
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    },
  )

  test('an unknown one says so', async () => {
    await visit('/nothing')
    expect(await page.textContent('h1')).toBe('Not found')
  })
})

test('the figures and the chart of the overview are those of the API', async () => {
  await call(gateway.adminKey, 'Hello')
  await visit('')
  const { body } = await gateway.api('GET', '/api/observe/overview')
  const figure = page.locator('.figures li', { hasText: 'Requests today' }).locator('strong')
  await expect.poll(() => figure.textContent()).toBe(String(body.today.total_requests))
  const cells = page
    .locator('figure', { hasText: 'Requests and errors' })
    .locator('.unseen tbody td:nth-child(2)')
  const sum = async () =>
    (await cells.allTextContents()).map(Number).reduce((total, requests) => total + requests, 0)
  await expect.poll(sum).toBe(body.total_requests)
  expect(await page.locator('figure canvas').count()).toBe(4)
  const averages = page.locator('figure', { hasText: 'Latency' }).locator('.unseen tbody td:nth-child(3)')
  const requests = await cells.allTextContents()
  const isTold = (await averages.allTextContents()).map((text) => text !== '–')
  expect(isTold).toEqual(requests.map((text) => text !== '0'))
})

test('charts are drawn also where the browser calls no language its own', async () => {
  const usual = { context, page, faults }
  await open()
  try {
    await visit('')
    expect(await page.evaluate(() => navigator.language)).toMatch(/^en/)
    await expect.poll(() => page.locator('figure canvas').count()).toBe(4)
    expect(faults).toEqual([])
  } finally {
    await context.close()
    ;({ context, page, faults } = usual)
  }
})

test('a call is found by a filter, which the address keeps, and shows what became of it', async () => {
  await call(gateway.adminKey, 'a needle in a haystack')
  await call(gateway.adminKey, 'hay')
  await visit('/traces')
  await page.fill('[name=q]', 'needle')
  await page.click('button:has-text("Filter")')
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
  expect(page.url()).toContain('q=needle')
  await page.reload()
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
  await page.click('tbody a')
  await page.waitForSelector('text=a needle in a haystack')
  expect(await page.locator('.steps li').count()).toBeGreaterThan(3)
  await page.goBack()
  await expect.poll(() => page.inputValue('[name=q]')).toBe('needle')
  expect(faults).toEqual([])
})

test('foreign markup is text, in conversations, names, projects and models', async () => {
  await gateway.api('POST', '/api/auth/users', { email: 'mallory@example.com', name: hostile })
  upstream.reset()
  upstream.reply({ content: hostile })
  await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.adminKey}`,
      'content-type': 'application/json',
      'x-project': hostile,
    },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: hostile }] }),
  }).then((response) => response.text())
  await visit('/users')
  await page.waitForSelector('td:has-text("<img src=x")')
  await page.goto(at('/traces'))
  await page.waitForSelector('td:has-text("<img src=x")')
  await page.click('tbody a')
  await expect.poll(() => page.locator('.message .text:has-text("<script>")').count()).toBe(2)
  await page.click('summary:has-text("The whole trace")')
  await expect.poll(() => page.textContent('details[open] pre')).toContain('window.pwned')
  await page.goto(at('/costs'))
  await page.waitForSelector('.bars')
  expect(await page.evaluate('window.pwned')).toBeUndefined()
  expect(faults).toEqual([])
})

test('foreign markup is text in names of rules, in differences and in entries, too', async () => {
  const { body: rule } = await gateway.api('POST', '/api/guardrails', {
    name: hostile,
    words: [hostile],
    action: 'log',
    mode: 'shadow',
  })
  await visit('/guardrails')
  await page.click('td >> a:has-text("<img src=x")')
  await page.waitForSelector('h1:has-text("<img src=x")')
  const { body } = await gateway.api('GET', '/api/config/history?limit=1')
  await visit(`/configuration/${body.generations[0].generation}`)
  await page.waitForSelector('ins:has-text("<img src=x")')
  await gateway.api('DELETE', `/api/guardrails/${rule.id}`)
  expect(await page.evaluate('window.pwned')).toBeUndefined()
  await expectSound(stage)
})

test('a long list goes on page by page, and Back leads to the page before', async () => {
  await visit('/plugins')
  const first = () => page.textContent('tbody tr >> nth=0')
  const one = await first()
  expect(await page.locator('tbody tr').count()).toBe(50)
  await page.click('text=Next page')
  await expect.poll(first).not.toBe(one)
  expect(page.url()).toContain('cursor=')
  const two = await first()
  await page.reload()
  await expect.poll(first).toBe(two)
  await page.goBack()
  await expect.poll(first).toBe(one)
})

test('what is not there, or belongs to an area that is off, is said in the words of the API', async () => {
  await visit('/guardrails/gr_unknown')
  await page.waitForSelector('.problem')
  expect(await page.textContent('h1')).toBe('Guardrails')
  await page.click('.trail >> text=Guardrails')
  await page.waitForSelector('text=New rule')
  await gateway.kernel.registry.change('redteam', { enabled: false })
  try {
    await visit('/redteam')
    await page.waitForSelector('.problem >> text=Try again')
  } finally {
    await gateway.kernel.registry.change('redteam', { enabled: true })
  }
  await page.click('text=Try again')
  await expect.poll(() => page.locator('.problem').count()).toBe(0)
})

test('a module is switched on, set and watched only, and a wrong setting says which', async () => {
  await visit('/modules')
  await page.fill('[type=search]', 'outputcap')
  await page.click('[role=switch]')
  await page.waitForSelector('[role=switch][aria-checked=true]')
  await page.click('text=Output cap')
  await page.fill('#setting-default_max_tokens', '0')
  await page.click('button:has-text("Save")')
  await expect.poll(() => page.textContent('.problem')).toContain('default_max_tokens')
  await page.fill('#setting-default_max_tokens', '7')
  await page.fill('#setting-rules', 'no JSON')
  await page.click('button:has-text("Save")')
  await page.waitForSelector('.flaw')
  await page.fill('#setting-rules', '[{"models":["gpt-*"],"max_tokens":5}]')
  await page.click('button:has-text("Save")')
  const state = async () => (await gateway.api('GET', '/api/proxy/modules/outputcap')).body
  await expect
    .poll(async () => (await state()).config)
    .toEqual({
      default_max_tokens: 7,
      rules: [{ models: ['gpt-*'], max_tokens: 5 }],
    })
  await page.click('text=Only watch (shadow)')
  await expect.poll(async () => (await state()).mode).toBe('shadow')
  await page.click('button:has-text("Switch off")')
  await expect.poll(async () => (await state()).enabled).toBe(false)
  await page.fill('#setting-default_max_tokens', '')
  await page.click('button:has-text("Save")')
  await expect.poll(async () => (await state()).config.default_max_tokens).toBeUndefined()
})

test('a user sees what is its own: pages, calls and keys, of which a new one is shown once', async () => {
  const { key } = await gateway.signUp('own')
  await call(gateway.adminKey, 'of the admin')
  await call(key, 'of the user')
  await visit('', key)
  expect(await page.locator('nav a').allTextContents()).toEqual([
    'Overview',
    'Traces',
    'Costs',
    'Anomalies',
    'Live',
    'Red team',
    'Playground',
    'Templates',
    'Experiments',
    'Benchmarks',
    'Replays',
    'Workflows',
    'My keys',
    'Status',
  ])
  await page.goto(at('/traces'))
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
  await page.goto(at('/users'))
  expect(await page.textContent('h1')).toBe('Not found')
  await page.click('nav >> text=My keys')
  await page.fill('form input', 'laptop')
  await page.click('text=Make a key')
  const made = await page.inputValue('.secret input')
  expect((await gateway.api('GET', '/api/auth/me', undefined, made)).status).toBe(200)
  await page.click('text=I have it')
  expect(await page.content()).not.toContain(made)
  const row = page.locator('tbody tr', { hasText: 'laptop' })
  await row.locator('button:has-text("Revoke")').click()
  await row.locator('button.danger').click()
  await expect.poll(async () => (await gateway.api('GET', '/api/auth/me', undefined, made)).status).toBe(401)
  expect(faults).toEqual([])
})

test('a prompt is answered as it comes, leads to its trace, and is shared by a link that works', async () => {
  upstream.reset()
  upstream.reply({ content: ['Two', ' and', ' two', ' are four.'] })
  await visit('/playground')
  await page.getByLabel('Model').fill('gpt-4o-mini')
  await page.getByLabel('Prompt').fill('Two and two?')
  await page.getByLabel('Maximum tokens').fill('50')
  await page.click('text=Send')
  await expect.poll(() => page.textContent('.answer')).toBe('Two and two are four.')
  expect(upstream.requests.at(-1)!.body).toMatchObject({ max_tokens: 50, stream: true })
  await page.click('text=Share by link')
  const link = (await page.textContent('[role=status] code'))!
  expect(await (await fetch(link)).json()).toMatchObject({ model: 'gpt-4o-mini' })
  await page.click('text=Its trace')
  await page.waitForSelector('.message:has-text("Two and two are four.")')
  expect(faults).toEqual([])
})

describe('guardrails', () => guardrailPages(stage))
describe('alerts', () => alertPages(stage))
describe('trust', () => trustPages(stage))
describe('running', () => runningPages(stage))
describe('building', () => buildingPages(stage))
describe('routing', () => routingPages(stage))

test('everything can be reached with the keyboard', async () => {
  await page.goto(at(''))
  await page.waitForSelector('#key')
  await page.keyboard.press('Tab')
  await page.keyboard.type(gateway.adminKey)
  await page.keyboard.press('Enter')
  await page.waitForSelector('header.bar')
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
  for (let tabs = 0; tabs < 6; tabs += 1) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate('document.activeElement.textContent')) === 'Traces') break
  }
  await page.keyboard.press('Enter')
  await page.waitForSelector('h1:has-text("Traces")')
})

test('without the plugin there are no pages, and all else is there', async () => {
  await gateway.kernel.registry.change('dashboard', { enabled: false })
  try {
    expect((await fetch(at(''))).status).toBe(404)
    expect((await gateway.api('GET', '/api/status')).status).toBe(200)
  } finally {
    await gateway.kernel.registry.change('dashboard', { enabled: true })
  }
})
