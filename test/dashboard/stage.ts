import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestGateway } from '../harness.ts'
import type { Upstream } from '../upstream/index.ts'

/** What tests of the dashboard's pages share: one gateway, one provider and one page of a browser, which each test finds signed out. */
export interface Stage {
  readonly gateway: TestGateway
  readonly upstream: Upstream
  readonly page: Page
  /** What went wrong in the page so far. */
  readonly faults: readonly string[]
  /** Signs the browser in, and shows it a page. */
  visit(path: string, key?: string): Promise<void>
  /** Resolves when the page shows what it has asked for. */
  shown(): Promise<void>
  /** Makes a call; resolves with the id of its trace, which is stored. */
  call(key: string, content: string): Promise<string>
}

/** The page that is shown broke nothing, and can be used without seeing it. */
export async function expectSound({ page, faults, shown }: Stage): Promise<void> {
  await shown()
  // The browser logs what was refused, too, which a test does on purpose.
  expect(faults.filter((fault) => !/status of 4(00|09)/.test(fault))).toEqual([])
  expect(await page.evaluate(flaws)).toEqual([])
}

/** What the API has, once that is as wanted. */
export const settled = ({ gateway }: Stage, path: string) =>
  expect.poll(async () => (await gateway.api('GET', path)).body)

/**
 * Finds controls without a name, headings out of order, ids that occur twice, and tables without headings. It runs in the browser,
 * as text, because that knows nothing of the types here.
 */
const flaws = `(() => {
  const found = []
  const all = (selector) => [...document.querySelectorAll(selector)]
  const named = (element) =>
    [element.getAttribute('aria-label'), element.textContent, ...[...(element.labels ?? [])].map((label) => label.textContent)]
      .some((text) => text?.trim())
  for (const one of all('input, select, textarea, fieldset, button, a, summary, [role=region], [role=group], nav')) {
    const labels = one.matches('fieldset') ? one.querySelector('legend')?.textContent.trim() : one.matches('input, select, textarea')
      ? one.getAttribute('aria-label') || one.labels.length > 0
      : one.matches('nav, [role]') ? one.getAttribute('aria-label') : named(one)
    if (!labels) found.push('without a name: ' + one.outerHTML.slice(0, 120))
  }
  const levels = all('h1, h2, h3, h4').map((heading) => Number(heading.tagName[1]))
  if (levels.filter((level) => level === 1).length !== 1 || levels[0] !== 1) found.push('headings: ' + levels)
  levels.forEach((level, n) => { if (n > 0 && level > levels[n - 1] + 1) found.push('a heading is left out: ' + levels) })
  const ids = all('[id]').map(({ id }) => id)
  for (const id of ids) if (ids.filter((other) => other === id).length > 1) found.push('twice: ' + id)
  for (const table of all('table')) if (!table.querySelector('th')) found.push('a table without headings')
  return found
})()`
