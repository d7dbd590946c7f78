import fc from 'fast-check'
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { expect, test } from 'vitest'
import type { Comparison } from './comparison.ts'
import { comparisonPage } from './page.ts'
import type { ShareRow } from './row.ts'

type Node = DefaultTreeAdapterTypes.Node

const row: ShareRow = {
  id: 'shr_a',
  hash: 'h',
  kind: 'comparison',
  views: 1,
  created_at: '2026-11-23T00:00:00.000Z',
  expires_at: '2026-12-23T00:00:00.000Z',
}

function pageOf(text: string) {
  const side = {
    model: text,
    provider: text,
    response: text,
    tokens_in: 1,
    tokens_out: 2,
    cost_usd: 0.5,
    latency_ms: 1234,
    ttft_ms: null,
  }
  const none = {
    cost_usd: null,
    cost_pct: null,
    latency_ms: null,
    latency_pct: null,
    tokens: null,
    tokens_pct: null,
  }
  const content: Comparison = {
    prompt: text,
    left: side,
    right: { ...side, response: `${text} more` },
    winners: { cost: 'tie', speed: 'left', efficiency: null, quality: null, overall: 'left' },
    delta: none,
    diff: [
      { kind: 'same', text },
      { kind: 'removed', text },
      { kind: 'added', text: ' more' },
    ],
  }
  return comparisonPage({ row, title: text, content })
}

/** Every element of a page, as a browser reads it, with its attributes and its text. */
function elementsOf(html: string) {
  const found: { tag: string; attributes: Record<string, string>; text: string }[] = []
  const textOf = (node: Node): string =>
    'value' in node ? node.value : 'childNodes' in node ? node.childNodes.map(textOf).join('') : ''
  const walk = (node: Node): void => {
    if ('tagName' in node)
      found.push({
        tag: node.tagName,
        attributes: Object.fromEntries(node.attrs.map(({ name, value }) => [name, value])),
        text: textOf(node),
      })
    if ('childNodes' in node) for (const child of node.childNodes) walk(child)
  }
  walk(parse(html))
  return found
}

/** Elements and attributes, without what they say. */
const shapeOf = (html: string) =>
  elementsOf(html).map(({ tag, attributes }) => [tag, ...Object.keys(attributes)].join(' '))

const plain = pageOf('plain')

const hostile = [
  '<script>alert(1)</script>',
  '</style><script>alert(1)</script>',
  '</title></pre><svg onload=alert(1)><image href="x" onerror="alert(1)"></svg>',
  '"><img src=x onerror=alert(1)>',
  "' autofocus onfocus='alert(1)",
  '[a](javascript:alert(1)) javascript:alert(1)',
  '<!-- --!><iframe srcdoc="&lt;script&gt;alert(1)&lt;/script&gt;"></iframe>',
  '<meta http-equiv="refresh" content="0;url=https://example.com">',
  '&lt;script&gt; &#60;b&#62; `x`',
  '\n<plaintext>',
]

test.each(hostile)('%j is text on the page, and nothing else', (text) => {
  const { html } = pageOf(text)
  expect(shapeOf(html)).toEqual(shapeOf(plain.html))
  const answers = elementsOf(html).filter(({ tag }) => tag === 'pre')
  expect(answers[1]!.text).toBe(text)
})

test('whatever a comparison says, the page has the same elements', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('<', '>', '"', "'", '&', '/', '!', '-', 'script', 'style', ' ', 'a=b'))
      .map((all) => all.join('')),
  )
  fc.assert(
    fc.property(text, (text) => {
      const shape = shapeOf(pageOf(text.toWellFormed()).html).filter((one) => !/^(ins|del)/.test(one))
      expect(shape).toEqual(shapeOf(plain.html).filter((one) => !/^(ins|del)/.test(one)))
    }),
  )
})

test('it has no script, no link and no form, and one style that its policy names', () => {
  const { html, inline, scripts, noindex } = plain
  const elements = elementsOf(html)
  const tags = new Set(elements.map(({ tag }) => tag))
  for (const tag of ['script', 'a', 'form', 'iframe', 'img', 'link', 'svg', 'object'])
    expect(tags).not.toContain(tag)
  expect(elements.filter(({ tag }) => tag === 'style').map(({ text }) => text)).toEqual(inline)
  expect([scripts, noindex]).toEqual([undefined, true])
})

test('a title turns no direction around it, and texts keep theirs to themselves', () => {
  const elements = elementsOf(pageOf('\u202egnirts\u202c \u2067x').html)
  const [title] = elements.filter(({ tag }) => tag === 'title')
  expect(title!.text).toBe('gnirts x')
  const texts = elements.filter(({ tag }) => tag === 'pre' || tag === 'h1')
  expect(texts.every(({ attributes }) => attributes.dir === 'auto')).toBe(true)
})

test('it says what link previews show, and who won', () => {
  const elements = elementsOf(plain.html)
  const property = (name: string) =>
    elements.find(({ attributes }) => attributes.property === name)?.attributes.content
  expect(property('og:title')).toBe('plain')
  expect(property('og:description')).toContain('plain did better')
  expect(elements.filter(({ attributes }) => attributes.class === 'won')).toHaveLength(1)
})
