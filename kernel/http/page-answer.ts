import { hash } from 'node:crypto'
import type Koa from 'koa'
import type { HtmlPage } from '../contract/answers.ts'

/** Answers with a page that nothing frames, sniffs or loads from elsewhere, and that runs scripts only where it says so. */
export function sendPage(ctx: Koa.Context, { html, scripts = false, inline = [], noindex }: HtmlPage): void {
  ctx.set({
    'content-security-policy': policyOf(scripts, inline),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': ctx.response.get('cache-control') || 'no-store',
    ...(noindex && { 'x-robots-tag': 'noindex, nofollow' }),
  })
  ctx.type = 'html'
  ctx.body = html
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
