import { type HtmlPage, withoutHidden } from '#kit'
import type { Winner } from '../compare/winners.ts'
import type { DiffPart } from '../compare/word-diff.ts'
import type { Comparison, SharedSide } from './comparison.ts'
import { Html, html } from './html.ts'
import type { Opened } from './shares.ts'
import { style } from './style.ts'

/**
 * The page of a shared comparison: inert, without scripts, and readable without them. The line break that begins a `pre` is dropped by
 * browsers, so that one of the text itself stays.
 */
export function comparisonPage({ row, title, content }: Opened<Comparison>): HtmlPage {
  const { left, right, prompt, diff, winners } = content
  const name = lineOf(title ?? `${left.model} and ${right.model}`)
  const about = `${overall(winners.overall, content)} Two answers of models, side by side.`
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${about}">
<meta property="og:type" content="article">
<meta property="og:title" content="${name}">
<meta property="og:description" content="${about}">
<meta name="twitter:card" content="summary">
<title>${name}</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
<h1 dir="auto">${name}</h1>
<p>${about}</p>
${
  prompt === null
    ? ''
    : html`<section><h2>Prompt</h2><pre dir="auto">
${prompt}</pre></section>`
}
<div class="sides">
${sideOf(left, 'left', content)}
${sideOf(right, 'right', content)}
</div>
<section>
<h2>Changes</h2>
<pre dir="auto">
${diff.map(partOf)}</pre>
</section>
</main>
<footer>Somebody shared this page on ${row.created_at.slice(0, 10)}. Its texts and figures are theirs; the link ends on ${row.expires_at.slice(0, 10)}.</footer>
</body>
</html>
`
  return { html: page.text, inline: [style], noindex: true }
}

function sideOf(side: SharedSide, place: 'left' | 'right', { winners }: Comparison): Html {
  const { model, provider, response, tokens_in, tokens_out, cost_usd, latency_ms, ttft_ms } = side
  const rows = [
    ['Provider', provider],
    ['Tokens', tokens_in === null || tokens_out === null ? null : `${tokens_in} in, ${tokens_out} out`],
    ['Cost', cost_usd === null ? null : `${cost_usd.toFixed(6)} USD`, winners.cost],
    ['Time', seconds(latency_ms), winners.speed],
    ['First content', seconds(ttft_ms)],
  ] as const
  return html`<section>
<h2 dir="auto">${lineOf(model)}</h2>
<dl>${rows.flatMap(([name, value, winner]) =>
    value === null
      ? []
      : [html`<dt>${name}</dt><dd${winner === place ? html` class="won"` : ''}>${lineOf(value)}</dd>`],
  )}</dl>
<pre dir="auto">
${response}</pre>
</section>`
}

function partOf({ kind, text }: DiffPart): Html {
  if (kind === 'same') return html`${text}`
  return kind === 'added' ? html`<ins>${text}</ins>` : html`<del>${text}</del>`
}

/** A text on one line, without characters that nobody sees, such as those that turn the direction of what follows. */
const lineOf = (text: string): string => withoutHidden(text.replace(/\p{Cc}+/gu, ' '))

const seconds = (ms: number | null): string | null => (ms === null ? null : `${(ms / 1000).toFixed(2)} s`)

function overall(winner: Winner, { left, right }: Comparison): string {
  if (winner === null) return ''
  return winner === 'tie' ? 'A tie.' : `${lineOf((winner === 'left' ? left : right).model)} did better.`
}
