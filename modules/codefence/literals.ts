import type { SyntaxNode } from '@lezer/common'

/**
 * The text that a node stands for, with `$arg` for each part that is not known: a literal, a template, or texts that are joined.
 * Undefined where nothing of it is known.
 */
export function literalOf(node: SyntaxNode, code: string): string | undefined {
  const written = code.slice(node.from, node.to)
  if (node.name === 'BinaryExpression') return joined(node, code)
  if (node.name === 'ContinuedString')
    return partsOf(node)
      .map((part) => literalOf(part, code) ?? '')
      .join('')
  if (!/^(?:Format|Template)?String$/.test(node.name)) return undefined
  let text = ''
  let at = node.from
  for (const hole of partsOf(node)) {
    if (!/^(?:FormatReplacement|Interpolation)$/.test(hole.name)) continue
    text += `${code.slice(at, hole.from)}$arg`
    at = hole.to
  }
  const [, quote = ''] = /^[a-z]{0,2}("""|'''|["'`])/i.exec(written) ?? []
  const whole = (text + code.slice(at, node.to)).replace(/^[a-z]{0,2}(?=["'`])/i, '')
  return unescaped(whole.slice(quote.length, whole.endsWith(quote) ? -quote.length : undefined))
}

/** Longer sums of texts are known by their first parts. */
const mostParts = 100

function joined(node: SyntaxNode, code: string): string | undefined {
  const parts: string[] = []
  let at: SyntaxNode | null = node
  for (; at?.name === 'BinaryExpression' && parts.length < mostParts; at = at.firstChild) {
    const right: SyntaxNode | null = at.lastChild
    if (at.getChild('ArithOp') === null || right === null) return undefined
    parts.push(right.name === 'BinaryExpression' ? '$arg' : (literalOf(right, code) ?? '$arg'))
  }
  if (at) parts.push(literalOf(at, code) ?? '$arg')
  return parts.every((part) => part === '$arg') ? undefined : parts.reverse().join('')
}

function partsOf(node: SyntaxNode): SyntaxNode[] {
  const parts: SyntaxNode[] = []
  for (let child = node.firstChild; child; child = child.nextSibling) parts.push(child)
  return parts
}

const unescaped = (text: string): string =>
  text.replace(/\\(?:x([\da-f]{2})|u([\da-f]{4})|([\s\S]))/gi, (_, hex, wide, other) =>
    hex || wide ? String.fromCharCode(Number.parseInt(hex ?? wide, 16)) : (escapes[other] ?? other),
  )
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\n': '' }
