import { hash } from 'node:crypto'
import type { OpenResponse, SentForm } from '../../kernel/contract/answers.ts'

/** A page of HTML. It is inert without `scripts`: nothing of it runs, frames or loads from elsewhere. */
export interface HtmlPage {
  readonly html: string
  /** Whether it may run scripts of this origin and ask this origin. */
  readonly scripts?: boolean
  /** Texts of `<style>` and, with `scripts`, of `<script>` elements that may act; any other inline text does nothing. */
  readonly inline?: readonly string[]
  /** Asks search engines to leave it out. */
  readonly noindex?: boolean
}

/** For `returns` of a route that answers with a page: one that nothing frames, sniffs or loads from elsewhere. */
export const pageAnswer: SentForm<string | HtmlPage> = {
  mediaType: 'text/html',
  send: (response, value) => sendPage(response, typeof value === 'string' ? { html: value } : value),
}

function sendPage(response: OpenResponse, { html, scripts = false, inline = [], noindex }: HtmlPage): void {
  response.set({
    'content-security-policy': policyOf(scripts, inline),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    ...(!response.res.hasHeader('cache-control') && { 'cache-control': 'no-store' }),
    ...(noindex && { 'x-robots-tag': 'noindex, nofollow' }),
  })
  response.type = 'html'
  response.body = html
}

function policyOf(scripts: boolean, inline: readonly string[]): string {
  const own = ["'self'", ...inline.map((text) => `'sha256-${hash('sha256', text, 'base64')}'`)].join(' ')
  return [
    "default-src 'none'",
    `style-src ${own}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(scripts ? [`script-src ${own}`, "connect-src 'self'", "form-action 'self'"] : ["form-action 'none'"]),
  ].join('; ')
}
